// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// #pragma reconverge collect and the attribute: items are sorted by the branch,
// after -O3, and the program prints the same.
// RUN: %reconverge cc -Wall -Werror -DPLAIN -I %source/include %s -o plain 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: asked {{[0-9a-f]+}}
// RUN: %reconverge cc -Wall -Werror -I %source/include %s -o app 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./app >out
// RUN: diff expected out
//
// Which kernels have a copy, and by which parameters: how many items lie in
// shared memory.
// RUN: %reconverge cc -I %source/include --emit-ptx %s -o app.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file app.ptx
// PTX: .shared {{.*}}__reconverge_items__Z5askedPjPKjj$remedied[4282];
// PTX: .entry _Z7chunkedPjPKjj$remedied(
// PTX: atom.shared.add.u32 {{.*}}, 64;
// PTX: .entry _Z6markedPjPKjj$remedied(
// RUN: not grep -E '_Z(7unasked|9forbidden|3off)PjPKjj.remedied' app.ptx
//
// What the source forbids is left alone by --collect, too; other branches of the
// kernel are not.
// RUN: %reconverge cc --collect -I %source/include %s -o all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL-DAG: warning: off(unsigned int*, unsigned int const*, unsigned int) is launched as it is: requests.cu:{{[0-9]+}}: not collected: the source forbids it [RC505]
// ALL-DAG: warning: forbidden(unsigned int*, unsigned int const*, unsigned int) is launched as it is: requests.cu:{{[0-9]+}}: not collected: the source forbids it [RC505]
// RUN: env RECONVERGE_DEVICE=cpu ./all >out
// RUN: diff expected out
//
// What is asked for and cannot be is a warning.
// RUN: %reconverge cc -DREFUSED -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=REFUSED
// A branch that is gone, and words that there are not, are errors.
// RUN: not %reconverge cc -DGONE -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not %reconverge cc -DWRONG -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not %reconverge cc -rdc=true -I %source/include %s -o app 2>&1 | FileCheck %s --check-prefix=RDC
// RDC: #pragma reconverge collect: launches of relocatable device code cannot change
#include <reconverge/attributes.cuh>

#include <cstdio>
#include <cuda_runtime.h>

#ifdef PLAIN
#undef RECONVERGE_COLLECT
#define RECONVERGE_COLLECT
#define COLLECT
#else
#define COLLECT _Pragma("reconverge collect items(8) paths(3)")
#endif

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
/// Work in which no branch is.
__device__ unsigned spin(unsigned X, unsigned Rounds) {
#pragma unroll 1
  for (unsigned K = 0; K < Rounds; ++K)
    X = mix(mix(X) + K) ^ X;
  return X;
}

// In a macro; four ways, of which two are one path.
__global__ void asked(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  unsigned X = I;
  COLLECT switch (In[I] & 3) {
  case 0: X = spin(X + 3, 20); break;
  case 1: X = spin(X * 5, 9); break;
  case 2: X = spin(X ^ 7, 5); break;
  default: X = spin(X - 9, 3);
  }
  Out[I] = X;
}

// Little behind it: --collect would leave it. Of one with &&, both.
__global__ void chunked(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
#ifndef PLAIN
#pragma reconverge collect chunk(64)
#endif
  // This may stand between.
  if (I < N && In[I] % 3 == 0 &&
      In[I] % 5 < 3)
    Out[I] = mix(mix(I) + 5);
}

RECONVERGE_COLLECT __global__ void marked(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  if (In[I] & 1)
    Out[I] = spin(I, 12);
  else
    Out[I] = 0;
}

__global__ void unasked(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  if (In[I] & 1)
    Out[I] = spin(I, 12);
  else
    Out[I] = 0;
}

__global__ void off(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
#pragma reconverge collect off
  if (In[I] & 1)
    Out[I] = spin(I, 12);
  else
    Out[I] = 0;
}

RECONVERGE_NO_COLLECT __global__ void forbidden(unsigned *Out, const unsigned *In, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  if (In[I] & 1)
    Out[I] = spin(I, 12);
  else
    Out[I] = 0;
}

#ifdef REFUSED
// REFUSED-DAG: warning: waits(unsigned int*, unsigned int const*) is launched as it is: requests.cu:{{[0-9]+}}: not collected: its threads wait for each other {{.*}}[RC312]
__global__ void waits(unsigned *Out, const unsigned *In) {
#pragma reconverge collect
  if (In[number()] & 1)
    Out[number()] = spin(3, 7);
  __syncthreads();
}
// REFUSED-DAG: warning: uniform(unsigned int*, unsigned int) is launched as it is: requests.cu:[[#@LINE+3]]: not collected: all threads of a warp go the same way at the branch [RC506]
__global__ void uniform(unsigned *Out, unsigned N) {
#pragma reconverge collect
  if (N > 7)
    Out[number()] = spin(number(), 7);
}
// REFUSED-DAG: warning: two(unsigned int*, unsigned int const*): requests.cu:[[#@LINE+7]]: not collected: the branch is in a loop, or comes after one [RC502]
__global__ void two(unsigned *Out, const unsigned *In) {
#pragma reconverge collect
  if (In[number()] & 1)
#pragma unroll 1
    for (unsigned K = 0; K < 9; ++K)
#pragma reconverge collect
      if (In[K + number()] & 2)
        Out[number()] = spin(K, 7);
}
#endif

#ifdef GONE
__global__ void gone(unsigned *Out) {
// GONE: requests.cu:[[#@LINE+1]]: no branch is left of the statement after this pragma
#pragma reconverge collect
  if (number() % 2)
    Out[number()] = 1;
  else
    Out[number()] = 3;
}
#endif

#ifdef WRONG
__global__ void wrong(unsigned *Out, unsigned N) {
// WRONG: [[#@LINE+1]]:34: error: there is no items '3'; write one of 2, 4, 8
#pragma reconverge collect items(3)
  if (N) ++*Out;
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy>
#pragma reconverge collect slice(3)
  if (N) ++*Out;
// WRONG: [[#@LINE+1]]:1: error: #pragma reconverge collect must come right before one of these: if, switch
#pragma reconverge collect
  for (unsigned K = 0; K < N; ++K) ++Out[K];
}
#endif

template <class K> static void run(const char *Name, K Kernel) {
  const unsigned N = 1500;
  unsigned *Out, *In;
  cudaMallocManaged(&Out, 4 * 1536);
  cudaMallocManaged(&In, 4 * 1536);
  for (unsigned I = 0, S = 7; I < 1536; ++I)
    In[I] = (S = S * 1664525 + 1013904223) >> 13;
  Kernel<<<12, 128>>>(Out, In, N);
  cudaDeviceSynchronize();
  unsigned Sum = 0;
  for (unsigned I = 0; I < N; ++I)
    Sum = (Sum ^ Out[I]) * 16777619u;
  std::printf("%s %08x\n", Name, Sum);
}

int main() {
  run("asked", asked);
  run("chunked", chunked);
  run("marked", marked);
  run("unasked", unasked);
  run("off", off);
  run("forbidden", forbidden);
}
