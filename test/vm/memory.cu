// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks,warp=64 %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=ipdom,threads=1 %t | FileCheck %s

// Memory of every kind as CUDA programs use it.

#include "Inputs/check.h"
#include <cuda_fp16.h>
#include <new>

struct Node {
  int Value;
  Node *Next;
};

struct Parameters {
  float Scale[4];
  int *Where;
  char Tag;
};

__constant__ int Table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
__device__ int Counter = 100;
__device__ int *Behind = &Counter;

// Pointers that are numbers, and the table of a virtual base, which has some.
struct Marked {
  int Tag;
  void *Mark;
};
__device__ Marked Marks[2] = {{1, (void *)-1}, {2, (void *)0x1234}};

struct Base {
  int Number;
};
struct Derived : virtual Base {
  __device__ Derived(int N) { Number = N; }
};

__global__ void marks(long long *Out, Derived **Made) {
  Out[threadIdx.x] = (long long)Marks[threadIdx.x].Mark;
  Made[threadIdx.x] = new Derived(threadIdx.x + 7);
}
__global__ void numbers(Derived *const *Made, int *Out) {
  Out[threadIdx.x] = Made[threadIdx.x]->Number;
}

// Variables that both sides read and write.
__managed__ int Both[4] = {1, 2, 3, 4};
static __device__ __managed__ double Sum = 0.5;
int *const Third = &Both[2];

__global__ void share() {
  Both[threadIdx.x] *= 10;
  if (threadIdx.x == 0)
    Sum += 1;
}

// Lists of different lengths, made of host-visible pointers.
__global__ void walk(Node *const *Heads, int *Sums) {
  int Sum = 0;
  for (const Node *N = Heads[threadIdx.x]; N; N = N->Next)
    Sum += N->Value;
  Sums[threadIdx.x] = Sum;
}

__global__ void byValue(Parameters P) {
  P.Scale[threadIdx.x % 4] += float(threadIdx.x);
  P.Where[threadIdx.x] = int(P.Scale[threadIdx.x % 4] + P.Scale[0] + P.Tag);
}

// One place by two types, as CUDA code has it.
__global__ void pun(int *Word, float *Same, int *Out) {
  *Word = 1;
  *Same = 2;
  *Out = *Word;
}

// A local array with an index that is known only at run time.
__global__ void histogram(const unsigned char *Text, int *Out) {
  int Bins[8] = {};
  for (int I = 0; I < 32; ++I)
    ++Bins[Text[threadIdx.x * 32 + I] % 8];
  for (int B = 0; B < 8; ++B)
    Out[threadIdx.x * 8 + B] = Bins[B];
}

// Static, dynamic, constant and device memory together; two dimensions.
__global__ void transpose(int *Out) {
  __shared__ int Tile[16][17];
  extern __shared__ double More[];
  const int X = threadIdx.x, Y = threadIdx.y, T = Y * 16 + X;
  Tile[Y][X] = T;
  More[T] = Table[T % 8];
  __syncthreads();
  Out[T] = Tile[X][Y] * 100 + int(More[255 - T]);
  if (T == 0)
    *Behind += 11;
}

__global__ void halves(const float *In, float *Out) {
  __half2 H = __floats2half2_rn(In[threadIdx.x], 2.0f);
  H = __hfma2(H, H, H);
  Out[threadIdx.x] = __low2float(H) + __high2float(H);
}

__global__ void atomics(int *I, float *F, double *D, unsigned long long *L) {
  const int T = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(I, T);
  atomicMax(I + 1, T * 7 % 1000);
  atomicInc(reinterpret_cast<unsigned *>(I + 2), 9);
  atomicXor(I + 3, T);
  atomicAdd(F + T % 4, 0.5f);
  atomicAdd(D, 0.25);
  atomicMin(L, ~0ull - T);
}

// CHECK-DAG: thread 5 of block 1 says 2.50 and word
__global__ void speak() {
  if (threadIdx.x == 5)
    printf("thread %d of block %d says %.2f and %s\n", int(threadIdx.x),
           int(blockIdx.x), 2.5, "word");
}

// CHECK: 0 wrong of 685
int main() {
  void *Space;
  CALL(cudaMallocManaged(&Space, 1 << 16));
  int *Ints = static_cast<int *>(Space);

  Node *Nodes, **Heads;
  CALL(cudaMallocManaged(&Nodes, 64 * sizeof(Node)));
  CALL(cudaMallocManaged(&Heads, 32 * sizeof(Node *)));
  for (int I = 0; I < 64; ++I)
    Nodes[I] = {I, I >= 5 ? &Nodes[I - 5] : nullptr};
  for (int I = 0; I < 32; ++I)
    Heads[I] = I % 3 ? &Nodes[I * 2] : nullptr;
  walk<<<1, 32>>>(Heads, Ints);
  CALL(cudaDeviceSynchronize());
  for (int I = 0; I < 32; ++I) {
    int Sum = 0;
    for (int N = I % 3 ? I * 2 : -1; N >= 0; N -= 5)
      Sum += N;
    expect("walk", I, Ints[I], Sum);
  }

  byValue<<<1, 64>>>({{1, 2, 3, 4}, Ints, 7});
  CALL(cudaDeviceSynchronize());
  for (int I = 0; I < 64; ++I) {
    const int Own = I % 4 + 1 + I;
    expect("by value", I, Ints[I], Own + (I % 4 ? 1 : Own) + 7);
  }

  long long *Wide = static_cast<long long *>(Space);
  Derived **Made = reinterpret_cast<Derived **>(Wide + 2);
  marks<<<1, 2>>>(Wide, Made);
  numbers<<<1, 2>>>(Made, Ints + 8);
  CALL(cudaDeviceSynchronize());
  expect("mark", 0, Wide[0], -1);
  expect("mark", 1, Wide[1], 0x1234);
  expect("virtual base", 0, Ints[8], 7);
  expect("virtual base", 1, Ints[9], 8);
  Marked FromHost[2];
  CALL(cudaMemcpyFromSymbol(FromHost, Marks, sizeof FromHost));
  expect("mark", 2, (long long)FromHost[0].Mark, -1);

  Both[1] = 7;
  share<<<1, 4>>>();
  CALL(cudaDeviceSynchronize());
  for (int I = 0; I < 4; ++I)
    expect("both", I, Both[I], I == 1 ? 70 : 10 * (I + 1));
  expect("sum", 0, Sum, 1.5);
  expect("third", 0, *Third, 30);
  cudaPointerAttributes Attributes;
  CALL(cudaPointerGetAttributes(&Attributes, &Sum));
  expect("managed", 0, int(Attributes.type), int(cudaMemoryTypeManaged));
  const double Set = 8;
  CALL(cudaMemcpyToSymbol(Sum, &Set, sizeof Set));
  expect("sum", 1, Sum, 8);

  pun<<<1, 1>>>(Ints, reinterpret_cast<float *>(Ints), Ints + 1);
  CALL(cudaDeviceSynchronize());
  expect("pun", 0, Ints[1], 0x40000000);

  unsigned char *Text = reinterpret_cast<unsigned char *>(Ints + 1024);
  for (int I = 0; I < 1024; ++I)
    Text[I] = (unsigned char)(I * I / 3);
  histogram<<<1, 32>>>(Text, Ints);
  CALL(cudaDeviceSynchronize());
  for (int I = 0; I < 32; ++I)
    for (int B = 0; B < 8; ++B) {
      int Count = 0;
      for (int J = 0; J < 32; ++J)
        Count += Text[I * 32 + J] % 8 == B;
      expect("histogram", I * 8 + B, Ints[I * 8 + B], Count);
    }

  transpose<<<dim3(1), dim3(16, 16), 256 * sizeof(double)>>>(Ints);
  CALL(cudaDeviceSynchronize());
  const int Numbers[] = {1, 2, 3, 5, 8, 13, 21, 34};
  for (int T = 0; T < 256; ++T)
    expect("transpose", T, Ints[T],
           (T % 16 * 16 + T / 16) * 100 + Numbers[(255 - T) % 8]);
  int Value;
  CALL(cudaMemcpyFromSymbol(&Value, Counter, sizeof Value));
  expect("counter", 0, Value, 111);

  float *Floats = reinterpret_cast<float *>(Ints);
  for (int I = 0; I < 32; ++I)
    Floats[I] = float(I) / 4;
  halves<<<1, 32>>>(Floats, Floats + 32);
  CALL(cudaDeviceSynchronize());
  for (int I = 0; I < 32; ++I) // exact in half precision
    expect("halves", I, Floats[32 + I],
           float(I) / 4 * (float(I) / 4) + float(I) / 4 + 6);

  // Partial warps, and one thread.
  for (int Threads : {1, 33, 222}) {
    CALL(cudaMemset(Ints, 0, 256));
    auto *Least = reinterpret_cast<unsigned long long *>(Ints + 20);
    *Least = ~0ull;
    atomics<<<3, Threads>>>(Ints, Floats + 8, reinterpret_cast<double *>(Ints + 16),
                            Least);
    CALL(cudaDeviceSynchronize());
    const int N = 3 * Threads;
    int Max = 0, Xor = 0;
    for (int T = 0; T < N; ++T) {
      Max = T * 7 % 1000 > Max ? T * 7 % 1000 : Max;
      Xor ^= T;
    }
    expect("add", Threads, Ints[0], N * (N - 1) / 2);
    expect("max", Threads, Ints[1], Max);
    expect("inc", Threads, Ints[2], N % 10);
    expect("xor", Threads, Ints[3], Xor);
    for (int I = 0; I < 4; ++I)
      expect("float add", I, Floats[8 + I], 0.5 * ((N - I + 3) / 4));
    expect("double add", Threads, *reinterpret_cast<double *>(Ints + 16), N * 0.25);
    expect("min", Threads, ~*Least, N - 1);
  }

  speak<<<2, 32>>>();
  CALL(cudaDeviceSynchronize());
  return summary();
}
