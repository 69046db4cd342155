// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge, slow
// RUN: rm -rf %t && mkdir %t && cd %t
//
// As many items as recipes of refilling and collecting are for, 2^31, of which
// one in a thousand has work; and five more, which the kernel as it was does. The
// program prints the same.
// RUN: %reconverge cc -DPLAIN %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: walk 2147483648 {{[0-9a-f]+}} cudaSuccess
// CHECK: pick 2147483653 {{[0-9a-f]+}} cudaSuccess
// RUN: %reconverge cc %s -o counter
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./counter >out 2>log
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=LOG <log
// LOG-DAG: walk({{.*}}): 1 launches of 2147483648 to 4294967295 threads, 1 with the remedy
// LOG-DAG: walk({{.*}}): 1 launches that the remedy is not for
// LOG-DAG: pick({{.*}}): 1 launches of 2147483648 to 4294967295 threads, 1 with the remedy
// LOG-DAG: pick({{.*}}): 1 launches that the remedy is not for
// RUN: %reconverge cc '-DFROM=source(slice) slice(64)' %s -o slice
// RUN: env RECONVERGE_DEVICE=cpu ./slice >out
// RUN: diff expected out
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#ifndef FROM
#define FROM source(counter) slice(8)
#endif
#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#ifdef PLAIN
#define REFILL
#define COLLECT
#else
#define REFILL PRAGMA(reconverge refill FROM)
#define COLLECT PRAGMA(reconverge collect items(4))
#endif

using Word = unsigned long long;

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
// A sum and a number of items for each 2^27 of them.
__device__ void add(Word *Sums, Word I, unsigned X) {
  atomicAdd(&Sums[I >> 27], X + I);
  atomicAdd(&Sums[32 + (I >> 27)], Word(1));
}

__global__ void walk(const unsigned *In, Word *Sums, Word N) {
  const Word I = Word(blockIdx.x) * blockDim.x + threadIdx.x;
  if (I >= N || In[I & 4095])
    return;
  unsigned X = mix(unsigned(I) ^ unsigned(I >> 31));
  REFILL while (X % 29)
    X = mix(X + 1);
  add(Sums, I, X);
}

__global__ void pick(const unsigned *In, Word *Sums, Word N) {
  const Word I = Word(blockIdx.x) * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  unsigned X = mix(unsigned(I));
  COLLECT if (In[I & 4095] == 0) {
    for (int K = 0; K < 20; ++K)
      X = mix(X + K);
    add(Sums, I, X);
  }
}

int main() {
  unsigned *In;
  Word *Sums;
  cudaMallocManaged(&In, 4096 * sizeof(unsigned));
  cudaMallocManaged(&Sums, 64 * sizeof(Word));
  for (int I = 0; I < 4096; ++I)
    In[I] = I % 1000 != 7;
  for (Word N : {Word(1) << 31, (Word(1) << 31) + 5})
    for (bool Walks : {true, false}) {
      std::memset(Sums, 0, 64 * sizeof(Word));
      (Walks ? walk : pick)<<<unsigned((N + 127) / 128), 128>>>(In, Sums, N);
      const cudaError_t Ended = cudaDeviceSynchronize();
      Word Sum = 0;
      for (int I = 0; I < 64; ++I)
        Sum = Sum * 31 + Sums[I];
      std::printf("%s %llu %llx %s\n", Walks ? "walk" : "pick", N, Sum, cudaGetErrorName(Ended));
    }
}
