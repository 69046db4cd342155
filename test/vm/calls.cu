// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks,seed=5 %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=warp=64 %t | FileCheck %s
// CHECK: 0 wrong of 801

// Functions that cannot be inlined: recursive ones, those behind pointers and
// virtual ones, with all that may happen in them.

#include "Inputs/check.h"
#include <new>

constexpr int N = 100;

// Two functions that call each other.
__device__ __noinline__ bool isOdd(unsigned X);
__device__ __noinline__ bool isEven(unsigned X) {
  return X == 0 ? true : isOdd(X - 1);
}
__device__ __noinline__ bool isOdd(unsigned X) {
  return X == 0 ? false : isEven(X - 1);
}

// Arguments that are results of the same function.
__device__ __noinline__ int ackermann(int M, int K) {
  if (M == 0)
    return K + 1;
  return ackermann(M - 1, K == 0 ? 1 : ackermann(M, K - 1));
}

__global__ void recursive(int *Out) {
  const int T = threadIdx.x;
  Out[T] = ackermann(T % 3, T % 5) * 2 + isEven(T);
}

// Each thread sorts a row of its own, in its local memory.
__device__ __noinline__ void quickSort(int *From, int *To) {
  if (To - From < 2)
    return;
  int *Left = From, *Right = To - 1;
  const int Pivot = From[(To - From) / 2];
  while (Left <= Right) {
    while (*Left < Pivot)
      ++Left;
    while (*Right > Pivot)
      --Right;
    if (Left <= Right) {
      const int Old = *Left;
      *Left++ = *Right;
      *Right-- = Old;
    }
  }
  quickSort(From, Right + 1);
  quickSort(Left, To);
}

__global__ void sortRows(int *Out) {
  const int T = threadIdx.x;
  int Row[24];
  for (int I = 0; I < 24; ++I)
    Row[I] = (T * 7 + I * 13) % 31;
  quickSort(Row, Row + 24);
  bool Sorted = true;
  int Sum = 0;
  for (int I = 0; I < 24; ++I) {
    Sorted &= I == 0 || Row[I - 1] <= Row[I];
    Sum += Row[I];
  }
  Out[T] = Sorted ? Sum : -1;
}

// Tables of functions in constant and in global memory; structures by value.
struct Pair {
  int A;
  long B;
};
using Function = Pair (*)(Pair, int);
__device__ __noinline__ Pair swapped(Pair P, int) { return {int(P.B), P.A}; }
__device__ __noinline__ Pair plus(Pair P, int X) { return {P.A + X, P.B - X}; }
__device__ __noinline__ Pair twice(Pair P, int X) {
  P = plus(P, X); // a call by name of a function that has an address
  P.A *= 2;
  return P;
}
__constant__ Function Fixed[3] = {swapped, plus, twice};
__device__ Function Chosen[N];
__device__ Function Single = twice;

__global__ void choose() { Chosen[threadIdx.x] = Fixed[threadIdx.x % 3]; }
__global__ void throughTables(int *Out) {
  const int T = threadIdx.x;
  Pair P = Chosen[T]({T, 5}, 3);
  if (T % 4) // divergent, and another target for each lane
    P = Fixed[(T / 4) % 3](P, T);
  Out[T] = P.A * 1000 + int(P.B);
}
__global__ void throughParameter(int *Out, Function F) {
  Out[threadIdx.x] = F({1, 2}, threadIdx.x).A;
}

// Objects with virtual functions, made by one kernel and used by the next.
struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int name() const { return 1; }
};
struct Square : Shape {
  int A;
  __device__ explicit Square(int A) : A(A) {}
  __device__ int area() const override { return A * A; }
};
struct Box : Shape {
  int A, B;
  __device__ Box(int A, int B) : A(A), B(B) {}
  __device__ int area() const override { return A * B; }
  __device__ int name() const override { return 2; }
};
struct Half : Box {
  using Box::Box;
  __device__ int area() const override { return Box::area() / 2; }
};
__global__ void makeShapes(Shape **Shapes, char *Memory) {
  const int T = threadIdx.x;
  void *At = Memory + 32 * T;
  if (T % 3 == 0)
    Shapes[T] = new (At) Square(T);
  else if (T % 3 == 1)
    Shapes[T] = new (At) Box(T, 3);
  else
    Shapes[T] = new (At) Half(T, 4);
}
__global__ void useShapes(Shape **Shapes, int *Out) {
  __shared__ char Memory[sizeof(Square)];
  if (threadIdx.x == 0)
    new (Memory) Square(9);
  __syncthreads();
  const Shape *Here = reinterpret_cast<Shape *>(Memory);
  Out[threadIdx.x] = Shapes[threadIdx.x * 7 % N]->area() * 100 + Here->area() +
                     Shapes[threadIdx.x]->name();
}

// A barrier in a function through which all threads go, each through its own.
__device__ __noinline__ int left(int *Shared, int Depth) {
  Shared[threadIdx.x] = Depth;
  __syncthreads();
  return Shared[(threadIdx.x + 1) % N];
}
__device__ __noinline__ int deep(int *Shared, int Depth) {
  if (Depth)
    return deep(Shared, Depth - 1) + 1;
  return left(Shared, int(threadIdx.x) * 3);
}
__global__ void barriers(int *Out) {
  __shared__ int Shared[N];
  Out[threadIdx.x] = deep(Shared, 4);
}

// A lock that lanes of a warp take in turn, inside of a function; collectives
// among the lanes that call together.
__device__ int Lock, Count;
__device__ __noinline__ int locked(int Depth) {
  if (Depth)
    return locked(Depth - 1) + 1;
  while (atomicCAS(&Lock, 0, 1) != 0)
    ;
  const int Mine = *(volatile int *)&Count;
  *(volatile int *)&Count = Mine + 1;
  __threadfence();
  atomicExch(&Lock, 0);
  const unsigned Here = __activemask();
  return __popc(__ballot_sync(Here, true)) == __popc(Here) ? 0 : 1000;
}
__global__ void locks(int *Out) { Out[threadIdx.x] = locked(3); }

// Lanes that end inside of a function do not come back.
__device__ __noinline__ int ends(int X, int *Out) {
  if (X % 8 == 7)
    asm volatile("exit;");
  Out[threadIdx.x] = X;
  return X > 50 ? ends(X - 50, Out) + 50 : X;
}
__global__ void exits(int *Out) {
  Out[threadIdx.x] = -1;
  const int X = ends(threadIdx.x, Out);
  __syncthreads();
  Out[threadIdx.x] = X * 2;
}

static void compare(const char *What, const int *Out, const int *Expected) {
  CALL(cudaDeviceSynchronize());
  for (int T = 0; T < N; ++T)
    expect(What, T, Out[T], Expected[T]);
}

int main() {
  static int Expected[N];
  int *Out;
  CALL(cudaMallocManaged(&Out, N * sizeof(int)));

  recursive<<<1, N>>>(Out);
  for (int T = 0; T < N; ++T) {
    const int K = T % 5;
    Expected[T] = (T % 3 == 0 ? K + 1 : T % 3 == 1 ? K + 2 : 2 * K + 3) * 2 +
                  (T % 2 == 0);
  }
  compare("recursive", Out, Expected);

  sortRows<<<1, N>>>(Out);
  for (int T = 0; T < N; ++T) {
    Expected[T] = 0;
    for (int I = 0; I < 24; ++I)
      Expected[T] += (T * 7 + I * 13) % 31;
  }
  compare("sortRows", Out, Expected);

  choose<<<1, N>>>();
  throughTables<<<1, N>>>(Out);
  auto Apply = [](int Which, Pair P, int X) {
    return Which == 0   ? Pair{int(P.B), P.A}
           : Which == 1 ? Pair{P.A + X, P.B - X}
                        : Pair{(P.A + X) * 2, P.B - X};
  };
  for (int T = 0; T < N; ++T) {
    Pair P = Apply(T % 3, {T, 5}, 3);
    if (T % 4)
      P = Apply(T / 4 % 3, P, T);
    Expected[T] = P.A * 1000 + int(P.B);
  }
  compare("throughTables", Out, Expected);

  Function F = nullptr;
  cudaMemcpyFromSymbol(&F, Single, sizeof(F));
  throughParameter<<<1, N>>>(Out, F);
  for (int T = 0; T < N; ++T)
    Expected[T] = (1 + T) * 2;
  compare("throughParameter", Out, Expected);

  Shape **Shapes;
  char *Memory;
  cudaMalloc(&Shapes, N * sizeof(Shape *));
  cudaMalloc(&Memory, N * 32);
  makeShapes<<<1, N>>>(Shapes, Memory);
  useShapes<<<1, N>>>(Shapes, Out);
  for (int T = 0; T < N; ++T) {
    const int I = T * 7 % N;
    Expected[T] = (I % 3 == 0 ? I * I : I % 3 == 1 ? I * 3 : I * 4 / 2) * 100 +
                  81 + (T % 3 == 0 ? 1 : 2);
  }
  compare("useShapes", Out, Expected);

  barriers<<<1, N>>>(Out);
  for (int T = 0; T < N; ++T)
    Expected[T] = (T + 1) % N * 3 + 4;
  compare("barriers", Out, Expected);

  locks<<<1, N>>>(Out);
  int Total = 0;
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&Total, Count, sizeof(Total));
  for (int T = 0; T < N; ++T)
    Expected[T] = 3;
  compare("locks", Out, Expected);
  expect("lock count", 0, Total, N);

  exits<<<1, N>>>(Out);
  for (int T = 0; T < N; ++T)
    Expected[T] = T % 8 == 7                  ? -1
                  : T > 50 && (T - 50) % 8 == 7 ? T
                                                : T * 2;
  compare("exits", Out, Expected);
  return summary();
}
