// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are one loop over the grid: each iteration is an item, in launches
// of fewer threads than items, as many, and more; of none, and in grids of two
// dimensions, which take the kernel as it was. The program prints the same.
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: 27 launches
// RUN: %reconverge cc --collect=threshold=10 %s -o four 2>err
// RUN: FileCheck %s --check-prefix=WARNING <err
// WARNING-NOT: of{{Arguments|Many|Fields}}
// WARNING-DAG: sumUp({{.*}}) is launched as it is: {{.*}} [RC502]
// WARNING-DAG: ofMemory({{.*}}) is launched as it is: {{.*}} [RC502]
// WARNING-NOT: of{{Arguments|Many|Fields}}
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./four >out 2>log
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=LOG <log
// LOG-DAG: reconverge: ofArguments(int const*, unsigned int*, int): 1 launches of 4096 to 8191 threads, 1 with the remedy
// LOG-DAG: reconverge: ofArguments(int const*, unsigned int*, int): 1 launches of 16384 to 32767 threads, 1 with the remedy
// LOG-DAG: reconverge: ofArguments(int const*, unsigned int*, int): 3 launches that the remedy is not for
// LOG-DAG: reconverge: ofMany(int const*, unsigned int*, unsigned long): {{.*}} with the remedy
// LOG-DAG: reconverge: ofFields(int const*, Size, unsigned int*): {{.*}} with the remedy
// RUN: %reconverge cc '--collect=threshold=10;items=2;short=0' %s -o two
// RUN: env RECONVERGE_DEVICE=cpu ./two >out
// RUN: diff expected out

// So it is where the iterations are sorted over the grid.
// RUN: %reconverge cc --regroup=least=1 %s -o sorted 2>err
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./sorted >out 2>log
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=LOG <log

// The bound is what the recipe computes, from arguments alone.
// RUN: %reconverge cc --collect=threshold=10 --emit-ptx %s -o - | FileCheck %s --check-prefix=PTX
// PTX-DAG: .entry _Z11ofArgumentsPKiPji$remedied(
// PTX-DAG: .entry _Z6ofManyPKiPjm$remedied(
// PTX-DAG: .entry _Z8ofFieldsPKi4SizePj$remedied(

// One whose threads sum up is none, nor one whose bound is in memory.
// PTX-NOT: .entry _Z5sumUpPKiPji$remedied(
// PTX-NOT: .entry _Z8ofMemoryPKiPjS0_$remedied(

// In trials, iterations are what must not depend on one another.
// RUN: %reconverge optimize -DTIED %s --device cpu --decisions d.json --log=trials -q >/dev/null 2>table
// RUN: FileCheck %s --check-prefix=TABLE <table
// TABLE: kept: {{collect|regroup}} {{.*}} for ofFields
// What a thread leaves for its own next iteration is no race of the kernel's.
// RUN: FileCheck %s --check-prefix=TIED <trials
// TIED: "event":"refused","kernel":"_Z7ofSlotsPKiPjii",{{.*}}"remedy":"permute",{{.*}}its iterations depend on one another through memory
// TIED: "event":"refused","kernel":"_Z7ofSlotsPKiPjii",{{.*}}"remedy":"collect",{{.*}}its iterations depend on one another through memory
#include <cstdio>
#include <cuda_runtime.h>

struct Size {
  char Kind;
  int Width, Height;
};

__device__ unsigned long_way(unsigned S, int V) {
  for (int K = 0; K < 40 + (V & 31); ++K)
    S = S * 3 + K;
  return S;
}

__global__ void ofArguments(const int *In, unsigned *Out, int N) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N; I += gridDim.x * blockDim.x) {
    if (In[I] % 3)
      continue;
    Out[I] = long_way(I, In[I]);
  }
}

__global__ void ofMany(const int *In, unsigned *Out, size_t N) {
  for (size_t I = blockIdx.x * blockDim.x + threadIdx.x; I < N / 2; I += blockDim.x * gridDim.x)
    switch (In[I] & 3) {
    case 0:
      Out[I] = long_way(unsigned(I), In[I]);
      break;
    case 1:
      Out[I] = long_way(unsigned(I) * 7, In[I] * 3) ^ 5;
      break;
    default:
      Out[I] = 1;
    }
}

__global__ void ofFields(const int *In, Size Of, unsigned *Out) {
  int I = threadIdx.x + blockIdx.x * blockDim.x;
  const int Stride = gridDim.x * blockDim.x;
  while (I < Of.Width * Of.Height) {
    if (In[I] % 3 == 1) {
      unsigned Own[4] = {1, 2, 3, 4};
      for (int K = 0; K < 20; ++K)
        Own[(In[I] + K) & 3] += long_way(K, In[I]);
      Out[I] = Own[In[I] & 3];
    }
    I += Stride;
  }
}

#ifdef TIED
__global__ void ofSlots(const int *In, unsigned *Out, int N, int Slots) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N; I += gridDim.x * blockDim.x)
    if (In[I] % 3 == 0)
      Out[I % Slots] += long_way(I, In[I]);
}
#endif

__global__ void sumUp(const int *In, unsigned *Out, int N) {
  unsigned Sum = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N; I += gridDim.x * blockDim.x)
    if (In[I] % 3 == 0)
      Sum += long_way(I, In[I]);
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum;
}

__global__ void ofMemory(const int *In, unsigned *Out, const unsigned *N) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < int(*N); I += gridDim.x * blockDim.x)
    if (In[I] % 3 == 0)
      Out[I] = long_way(I, In[I]);
}

constexpr int Most = 1 << 14;
static int *In, Count;
static unsigned *Out;

static void sum() {
  const cudaError_t Launched = cudaGetLastError(), Ended = cudaDeviceSynchronize();
  unsigned Sum = 0;
  for (int I = 0; I < Most; ++I)
    Sum = Sum * 31 + Out[I];
  std::printf("%08x %s %s\n", Sum, cudaGetErrorName(Launched), cudaGetErrorName(Ended));
  cudaMemset(Out, 0, Most * sizeof(int));
  ++Count;
}

int main() {
  cudaMallocManaged(&In, Most * sizeof(int));
  cudaMallocManaged(&Out, Most * sizeof(int));
  cudaMemset(Out, 0, Most * sizeof(int));
  unsigned State = 7;
  for (int I = 0; I < Most; ++I)
    In[I] = (State = State * 1664525 + 1013904223) >> 20;
  const struct {
    dim3 Grid, Block;
    int N;
  } Launches[] = {{1, 128, 5000}, {7, 64, 9999}, {40, 256, Most}, {64, 256, 1}, {3, 96, 300}, {2, 128, 0}, {dim3(2, 1, 1), dim3(32, 2, 1), 700}};
  for (const auto &L : Launches) {
    ofArguments<<<L.Grid, L.Block>>>(In, Out, L.N);
    sum();
    ofMany<<<L.Grid, L.Block>>>(In, Out, size_t(L.N));
    sum();
    ofFields<<<L.Grid, L.Block>>>(In, Size{3, L.N / 3, 3}, Out);
    sum();
  }
  ofArguments<<<2, 128>>>(In, Out, -5);
  sum();
  ofFields<<<3, 64>>>(In, Size{0, -7, -11}, Out);
  sum();
  for (int I = 0; I < 2; ++I) {
    sumUp<<<3, 64>>>(In, Out, 4000);
    sum();
#ifdef TIED
    ofSlots<<<3, 64>>>(In, Out, 4000, 3 * 64);
    sum();
#endif
    ofMemory<<<3, 64>>>(In, Out, reinterpret_cast<unsigned *>(In) + 5);
    sum();
  }
  std::printf("%d launches\n", Count);
}
