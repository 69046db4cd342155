// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// #pragma reconverge refill and the attribute: the loop is refilled, after -O3,
// and the program prints the same.
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
// Which kernels have a copy, and by which parameters: the counter is one more.
// RUN: %reconverge cc -I %source/include --emit-ptx %s -o app.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file app.ptx
// PTX-DAG: .entry _Z5askedPjj$remedied(
// PTX-DAG: .entry _Z7countedPjj$remedied(
// PTX-DAG: .param {{.*}} _Z7countedPjj$remedied_param_9
// PTX-DAG: .entry _Z6post_tPjj$remedied(
// PTX-DAG: .entry _Z6markedPjj$remedied(
// RUN: not grep -E '_Z(7unasked|9forbidden|3off)Pjj.remedied|_Z5askedPjj.remedied_param_9' app.ptx
//
// What the source forbids is left alone by --refill, too.
// RUN: %reconverge cc --refill -I %source/include %s -o all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL-DAG: warning: off(unsigned int*, unsigned int) is launched as it is: requests.cu:{{[0-9]+}}: not refilled: the source forbids it [RC406]
// ALL-DAG: warning: forbidden(unsigned int*, unsigned int) is launched as it is: requests.cu:{{[0-9]+}}: not refilled: the source forbids it [RC406]
// RUN: env RECONVERGE_DEVICE=cpu ./all >out
// RUN: diff expected out
//
// What is asked for and cannot be is a warning.
// RUN: %reconverge cc -DREFUSED -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=REFUSED
// A loop that is gone, and words that there are not, are errors.
// RUN: not %reconverge cc -DGONE -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not %reconverge cc -DWRONG -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not %reconverge cc -rdc=true -I %source/include %s -o app 2>&1 | FileCheck %s --check-prefix=RDC
// RDC: #pragma reconverge refill: launches of relocatable device code cannot change
#include <reconverge/attributes.cuh>

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#ifdef PLAIN
#undef RECONVERGE_REFILL
#define RECONVERGE_REFILL
#define REFILL
#else
#define REFILL _Pragma("reconverge refill threshold(4) source(slice) slice(2)")
#endif

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned rounds(unsigned I) { return mix(I) >> (20 + I % 12); }

// In a macro, before a loop with a break.
__global__ void asked(unsigned *Out, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  unsigned X = I;
  REFILL for (unsigned K = 0; K < rounds(I); ++K) {
    X = mix(X + K);
    if (X % 61 == 0) break;
  }
  Out[I] = X;
}

// A loop that only breaks leave. Of two, the one that is named.
__global__ void counted(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I, K = 0;
  for (unsigned J = 0; J < rounds(I + 9); ++J)
    X = mix(mix(mix(mix(X) + J) - X) ^ J);
#ifndef PLAIN
#pragma reconverge refill source(counter) slice(1) items(4)
#endif
  // This may stand between.
  while (true) {
    if (K++ > rounds(I)) break;
    X = mix(X + K);
  }
  if (I < N) Out[I] = X;
}

__global__ void post_t(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I, K = 0;
#ifndef PLAIN
#pragma reconverge refill
#endif
#pragma unroll 2
  do {
    X = mix(X + K);
  } while (K++ < rounds(I));
  if (I < N) Out[I] = X;
}

RECONVERGE_REFILL __global__ void marked(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I;
  for (unsigned K = 0; K < rounds(I); ++K)
    X = mix(X + K);
  if (I < N) Out[I] = X;
}

__global__ void unasked(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I;
  for (unsigned K = 0; K < rounds(I); ++K)
    X = mix(X + K);
  if (I < N) Out[I] = X;
}

__global__ void off(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I;
#pragma reconverge refill off
  for (unsigned K = 0; K < rounds(I); ++K)
    X = mix(X + K);
  if (I < N) Out[I] = X;
}

RECONVERGE_NO_REFILL __global__ void forbidden(unsigned *Out, unsigned N) {
  const unsigned I = number();
  unsigned X = I;
  for (unsigned K = 0; K < rounds(I); ++K)
    X = mix(X + K);
  if (I < N) Out[I] = X;
}

#ifdef REFUSED
// REFUSED-DAG: warning: waits(unsigned int*, unsigned int) is launched as it is: requests.cu:{{[0-9]+}}: not refilled: it writes more than shared memory before its last barrier [RC332]
__global__ void waits(unsigned *Out, unsigned N) {
#pragma reconverge refill
  for (unsigned K = 0; K < rounds(threadIdx.x); ++K)
    Out[number()] = mix(Out[K]);
  __syncthreads();
}
// REFUSED-DAG: warning: uniform(unsigned int*, unsigned int) is launched as it is: requests.cu:[[#@LINE+3]]: not refilled: all lanes of a warp leave the loop at once [RC407]
__global__ void uniform(unsigned *Out, unsigned N) {
#pragma reconverge refill
  for (unsigned K = 0; K < N; ++K)
    Out[number()] = mix(Out[K + number()]);
}
// REFUSED-DAG: warning: two(unsigned int*, unsigned int): requests.cu:[[#@LINE+4]]: not refilled: another loop of the kernel is refilled [RC408]
__global__ void two(unsigned *Out, unsigned N) {
  unsigned X = N;
#pragma reconverge refill
  for (unsigned K = 0; K < rounds(number()); ++K)
    X = X * 3 + K;
#pragma reconverge refill
  for (unsigned K = 0; K < rounds(number() + X); ++K)
    X = mix(mix(mix(X + K)) - X);
  Out[number()] = X;
}
#endif

#ifdef GONE
__global__ void gone(unsigned *Out) {
// GONE: requests.cu:[[#@LINE+1]]: no loop is left of the statement after this pragma
#pragma reconverge refill
  for (unsigned K = 0; K < 3; ++K)
    Out[number() + K] = K;
}
#endif

#ifdef WRONG
__global__ void wrong(unsigned *Out, unsigned N) {
// WRONG: [[#@LINE+1]]:37: error: there is no threshold '33'; write one of 1 to 32
#pragma reconverge refill threshold(33)
  for (unsigned K = 0; K < N; ++K) ++Out[K];
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy>
#pragma reconverge refill sideways
  for (unsigned K = 0; K < N; ++K) ++Out[K];
// WRONG: [[#@LINE+1]]:1: error: #pragma reconverge refill must come right before one of these: for, while, do
#pragma reconverge refill
  if (N) ++*Out;
}
#endif

template <class K> static void run(const char *Name, K Kernel) {
  const unsigned N = 1500;
  unsigned *Out;
  cudaMallocManaged(&Out, 4 * 1536);
  Kernel<<<12, 128>>>(Out, N);
  cudaDeviceSynchronize();
  unsigned Sum = 0;
  for (unsigned I = 0; I < N; ++I)
    Sum = (Sum ^ Out[I]) * 16777619u;
  std::printf("%s %08x\n", Name, Sum);
}

int main() {
  run("asked", asked);
  run("counted", counted);
  run("post_t", post_t);
  run("marked", marked);
  run("unasked", unasked);
  run("off", off);
  run("forbidden", forbidden);
}
