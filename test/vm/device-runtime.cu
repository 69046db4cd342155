// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu %t twice 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// RUN: env RECONVERGE_DEVICE=cpu %t trap 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TRAP

// What device code gets from CUDA's runtime: a heap, block copies, printf,
// clocks; and inline PTX as programs write it.

#include "Inputs/check.h"
#include <cstring>
#include <new>

__global__ void heap(int **Blocks, int *Out) {
  const int T = threadIdx.x, N = T % 7 + 1;
  int *Mine = static_cast<int *>(malloc(N * sizeof(int)));
  for (int I = 0; I < N; ++I)
    Mine[I] = T + I;
  Blocks[T] = Mine;
  __syncthreads();
  Out[T] = Blocks[(T + 1) % blockDim.x][0];
  __syncthreads();
  free(Mine);
}

struct Node {
  int Value;
  Node *Next;
};

__global__ void lists(int *Out) {
  Node *Head = nullptr;
  for (int I = 0; I < int(threadIdx.x) % 5 + 1; ++I)
    Head = new Node{I, Head};
  int Digits = 0;
  while (Head) {
    Digits = 10 * Digits + Head->Value;
    Node *Next = Head->Next;
    delete Head;
    Head = Next;
  }
  double *Last = new double[threadIdx.x + 1];
  Last[threadIdx.x] = Digits;
  Out[threadIdx.x] = int(Last[threadIdx.x]);
  delete[] Last;
}

__global__ void exhaust(void **Blocks, int *Out) {
  int N = 0;
  while (N < 100 && (Blocks[N] = malloc(1 << 20)))
    ++N;
  *Out = N;
  for (int I = 0; I < N; ++I)
    free(Blocks[I]);
}

// TWICE: free() of what malloc() did not give, or of what is freed
// TWICE: cudaErrorIllegalAddress
__global__ void freeTwice(int **Blocks) {
  Blocks[0] = static_cast<int *>(malloc(16));
  free(Blocks[0]);
  free(Blocks[0]);
}

// TRAP: kernel trap(): the kernel executed a trap
// TRAP-NEXT: device-runtime.cu:[[#@LINE+2]], in block (0,0,0), thread (0,0,0)
// TRAP: cudaErrorLaunchFailure
__global__ void trap() { __trap(); }

__global__ void copies(char *To, const char *From, int N, int *Out) {
  const int T = threadIdx.x;
  memcpy(To + T * N, From + T, N);
  memset(To + 4096 + T * N, T, N);
  char Own[64];
  memset(Own, 1, sizeof Own);
  memcpy(Own + T % 8, From, 32);
  __builtin_memmove(Own + 3, Own, 40);
  int Sum = 0;
  for (int I = 0; I < 64; ++I)
    Sum += Own[I] * (I + 1);
  Out[T] = Sum;
}

// CHECK: -3|   42|42   |00042|+7|-8|4000000000|ff|0XFF|10
// CHECK-NEXT: -5000000000|10000000000|123456789ab|-7|-2|-1|4
// CHECK-NEXT: 1.500000|0.667|    3.14|1.234568e+04|0.0001|1E+20|0x1p+0
// CHECK-NEXT: word|     right|left  |cu|x|%
// CHECK-NEXT:     42|3.14|   ab
// CHECK-NEXT: 0x1234|9
// CHECK-NEXT: two
// CHECK-NEXT: 1 arguments
// CHECK-NEXT: {{^(a{70}){10}[|]$}}
__global__ void speak() {
  if (threadIdx.x != 2)
    return;
  printf("%d|%5d|%-5d|%05d|%+d|%i|%u|%x|%#X|%o\n", -3, 42, 42, 42, 7, -8,
         4000000000u, 255u, 255u, 8u);
  printf("%lld|%llu|%llx|%ld|%hd|%hhd|%zu\n", -5000000000ll, 10000000000ull,
         0x123456789abull, -7l, short(-2), (signed char)(-1), sizeof(int));
  printf("%f|%.3f|%8.2f|%e|%g|%G|%a\n", 1.5, 2.0 / 3, 3.14159, 12345.678,
         0.0001, 1e20, 1.0);
  printf("%s|%10s|%-6s|%.2s|%c|%%\n", "word", "right", "left", "cut", 'x');
  printf("%*d|%.*f|%*s\n", 6, 42, 2, 3.14159, 5, "ab");
  printf("%p|%d\n", reinterpret_cast<void *>(0x1234), 9);
  printf("%d arguments\n", printf("%s\n", threadIdx.x == 2 ? "two" : "other"));
  char Long[701];
  memset(Long, 'a', 700);
  Long[700] = 0;
  printf("%s|\n", Long);
}

__global__ void clocks(int *Out) {
  const long long First = clock64();
  unsigned long long Time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Time));
  __nanosleep(100);
  __prof_trigger(1);
  __threadfence_system();
  Out[0] = clock64() >= First;
  Out[1] = Time > 1000000000;
}

enum Ptx {
  Lop3,
  Bfe,
  Bfi,
  Prmt,
  Shf,
  Wide,
  Nc,
  Streamed,
  Selected,
  Reduced,
  Highest,
  Before,
  Popc,
  Clz,
  Lane,
  Low,
  Carry,
  Differences,
  Dot,
  Power,
  Rounded,
  Kinds
};

__global__ void ptx(const unsigned *In, unsigned *All) {
  const unsigned T = threadIdx.x, A = In[T], B = In[T + 1], C = In[T + 2];
  unsigned *Out = All + T * Kinds;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;"
      : "=r"(Out[Lop3])
      : "r"(A), "r"(B), "r"(C));
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(Out[Bfe]) : "r"(A), "r"(T), "r"(5));
  asm("bfi.b32 %0, %1, %2, %3, %4;"
      : "=r"(Out[Bfi])
      : "r"(A), "r"(B), "r"(4), "r"(9));
  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(Out[Prmt])
      : "r"(A), "r"(B), "r"(0x5410));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;"
      : "=r"(Out[Shf])
      : "r"(A), "r"(B), "r"(C));
  unsigned long long W;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(W) : "r"(A), "r"(B), "l"(W = C));
  Out[Wide] = unsigned(W >> 32);
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(Out[Nc]) : "l"(In + T));
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(Out + Streamed), "r"(A + 1)
               : "memory");
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, 1, 2, p; }"
               : "=r"(Out[Selected])
               : "r"(A), "r"(B));
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(Out + Reduced), "r"(A)
               : "memory");
  asm volatile("atom.global.max.u32 %0, [%1], %2;"
               : "=r"(Out[Before])
               : "l"(Out + Highest), "r"(A)
               : "memory");
  asm volatile("membar.gl;" ::: "memory");
  asm("popc.b32 %0, %1;" : "=r"(Out[Popc]) : "r"(A));
  asm("clz.b32 %0, %1;" : "=r"(Out[Clz]) : "r"(A));
  asm("mov.u32 %0, %%laneid;" : "=r"(Out[Lane]));
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;"
      : "=r"(Out[Low]), "=r"(Out[Carry])
      : "r"(A), "r"(B));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(Out[Differences])
      : "r"(A), "r"(B), "r"(C));
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(Out[Dot]) : "r"(A), "r"(B), "r"(C));
  float F;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(F) : "f"(2.0f));
  Out[Power] = unsigned(F);
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(Out[Rounded]) : "f"(2.5f));
}

static void checkPtx() {
  unsigned *In = managed<unsigned>(34), *All = managed<unsigned>(32 * Kinds);
  for (int I = 0; I < 34; ++I)
    In[I] = next() * 257;
  ptx<<<1, 32>>>(In, All);
  finish();
  for (unsigned T = 0; T < 32; ++T) {
    const unsigned A = In[T], B = In[T + 1], C = In[T + 2];
    unsigned Want[Kinds] = {};
    Want[Lop3] = (A & B) | (A & C) | (B & C);
    Want[Bfe] = (A >> T) & 31; // above, zeros come in
    Want[Bfi] = (B & ~(511u << 4)) | ((A & 511) << 4);
    Want[Prmt] = (A & 0xffff) | (B << 16);
    Want[Shf] = C % 32 ? (B << (C % 32)) | (A >> (32 - C % 32)) : B;
    Want[Wide] = unsigned(((unsigned long long)A * B + C) >> 32);
    Want[Nc] = Want[Reduced] = Want[Highest] = A;
    Want[Streamed] = A + 1;
    Want[Selected] = A < B ? 1 : 2;
    Want[Popc] = __builtin_popcount(A);
    Want[Clz] = A ? __builtin_clz(A) : 32;
    Want[Lane] = T;
    Want[Low] = A + B;
    Want[Carry] = A + B < A;
    Want[Differences] = Want[Dot] = C;
    for (int Shift = 0; Shift < 32; Shift += 8) {
      const int X = A >> Shift & 255, Y = B >> Shift & 255;
      Want[Differences] += X < Y ? Y - X : X - Y;
      Want[Dot] += X * Y;
    }
    Want[Power] = 4;
    Want[Rounded] = 2;
    for (int K = 0; K < Kinds; ++K)
      expect("ptx", T * 100 + K, All[T * Kinds + K], Want[K]);
  }
}

// CHECK: 0 wrong of
int main(int Count, char **Arguments) {
  int *Out = managed<int>(128);
  int **Blocks = managed<int *>(128);
  if (Count > 1) {
    if (Arguments[1][1] == 'w')
      freeTwice<<<1, 1>>>(Blocks);
    else
      trap<<<1, 1>>>();
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  size_t Limit;
  CALL(cudaDeviceGetLimit(&Limit, cudaLimitMallocHeapSize));
  expect("heap", 0, Limit, 8 << 20);
  CALL(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 5 << 20));
  heap<<<1, 96>>>(Blocks, Out);
  finish();
  for (int T = 0; T < 96; ++T)
    expect("heap", T, Out[T], (T + 1) % 96);
  expect("limit in use", 0,
         cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20),
         cudaErrorInvalidValue);
  cudaGetLastError();
  lists<<<1, 96>>>(Out);
  finish();
  const int Digits[] = {0, 10, 210, 3210, 43210};
  for (int T = 0; T < 96; ++T)
    expect("list", T, Out[T], Digits[T % 5]);
  exhaust<<<1, 1>>>(reinterpret_cast<void **>(Blocks), Out);
  finish();
  expect("blocks of 1 MB", 0, Out[0], 5);

  char *Bytes = managed<char>(8192), *From = managed<char>(256);
  for (int I = 0; I < 256; ++I)
    From[I] = char(I * 7);
  copies<<<1, 32>>>(Bytes, From, 100, Out);
  finish();
  for (int T = 0; T < 32; ++T) {
    for (int I = 0; I < 100; ++I) {
      expect("copied", T, Bytes[100 * T + I], From[T + I]);
      expect("set", T, Bytes[4096 + 100 * T + I], T);
    }
    char Own[64];
    std::memset(Own, 1, 64);
    std::memcpy(Own + T % 8, From, 32);
    std::memmove(Own + 3, Own, 40);
    int Sum = 0;
    for (int I = 0; I < 64; ++I)
      Sum += Own[I] * (I + 1);
    expect("moved", T, Out[T], Sum);
  }
  speak<<<1, 32>>>();
  clocks<<<1, 32>>>(Out);
  finish();
  expect("clock", 0, Out[0], 1);
  expect("time", 0, Out[1], 1);
  checkPtx();
  return summary();
}
