// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// #pragma reconverge reorder-blocks and the attribute are a kernel's. The program
// prints the same.
// RUN: %reconverge cc -Wall -Werror -DPLAIN -I %source/include %s -o plain 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: %reconverge cc -Wall -Werror -I %source/include %s -o app 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./app >out 2>said
// RUN: diff expected out
// RUN: FileCheck %s <said --implicit-check-not=unasked --implicit-check-not=forbidden
// CHECK-DAG: asked({{.*}}): 3 launches of {{.*}} 3 with the remedy
// CHECK-DAG: marked({{.*}}): 3 launches of {{.*}} 3 with the remedy
// CHECK-DAG: timed{{.*}}: 2 orders were made for 3 launches
//
// What the source forbids is left alone by --reorder-blocks, too.
// RUN: %reconverge cc --reorder-blocks -I %source/include %s -o all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: warning: forbidden(unsigned int*) is launched as it is: {{.*}}blocks not reordered: the source forbids it [RC803]
// What is asked for and cannot be is a warning; what is no kernel, an error.
// RUN: %reconverge cc -DREFUSED -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not %reconverge cc -DGONE -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not %reconverge cc -DWRONG -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not %reconverge cc -DDEVICE -I %source/include -c %s -o app.o 2>&1 | FileCheck %s --check-prefix=DEVICE
//
// `optimize` tries it on the kernel as it is, and what a CPU does not time stays.
// RUN: %reconverge optimize --device cpu -I %source/include %s -o best --no-cache --decisions d.json >out 2>table
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=TRIED <table --implicit-check-not='[remedied]'
// TRIED: reorder-blocks (marke{{.*}}identical
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./best 2>&1 >out | FileCheck %s
//
// What was slower on a GPU, or was wrong, is not built though it is asked for.
// RUN: sed '0,/"measured": false/s//"measured": true/' d.json >slower.json
// RUN: %reconverge cc --decisions slower.json -I %source/include %s -o fewer 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./fewer 2>&1 >out | FileCheck %s --check-prefix=FEWER --implicit-check-not=asked
// RUN: sed '0,/"outcome": "slower"/s//"outcome": "wrong"/' d.json >wrong.json
// RUN: %reconverge cc --decisions wrong.json -I %source/include %s -o fewer
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./fewer 2>&1 >out | FileCheck %s --check-prefix=FEWER --implicit-check-not=asked
// FEWER: marked({{.*}}): 3 launches of {{.*}} 3 with the remedy
#include <reconverge/attributes.cuh>

#include <cstdio>
#include <cuda_runtime.h>

__device__ void row(unsigned *Out) {
  unsigned V = 0;
  for (unsigned I = 0; I < blockIdx.x; ++I)
    V = V * 3 + I + threadIdx.x;
  Out[blockIdx.x * 64 + threadIdx.x] += V;
}

#ifdef PLAIN
#undef RECONVERGE_REORDER_BLOCKS
#define RECONVERGE_REORDER_BLOCKS
#define LAST
#else
#define LAST _Pragma("reconverge reorder-blocks order(last) least(1)")
#pragma reconverge reorder-blocks
#endif
__global__ __launch_bounds__(64) void asked(unsigned *Out) { row(Out); }

LAST template <class T>
__global__ void
timed(T *Out) {
  row(Out);
}

RECONVERGE_REORDER_BLOCKS __global__ void marked(unsigned *Out) { row(Out); }
__global__ void unasked(unsigned *Out) { row(Out); }
#pragma reconverge reorder-blocks off
__global__ void forbidden(unsigned *Out) { row(Out); }

#ifdef REFUSED
// REFUSED: warning: alike(unsigned int*) is launched as it is: {{.*}}blocks not reordered: it never reads blockIdx [RC802]
#pragma reconverge reorder-blocks
__global__ void alike(unsigned *Out) { Out[threadIdx.x] = 1; }
#endif
#ifdef GONE
// GONE: requests.cu:[[#@LINE+1]]: no kernel is left of the statement after this pragma
#pragma reconverge reorder-blocks
template <class T> __global__ void unused(T *Out) { row(Out); }
#endif
#ifdef WRONG
// WRONG: [[#@LINE+1]]:41: error: there is no order 'sorted'; write one of reversed, last, slice
#pragma reconverge reorder-blocks order(sorted)
__global__ void wrong(unsigned *Out) {
// WRONG: [[#@LINE+1]]:1: error: #pragma reconverge reorder-blocks must come right before one of these: kernel
#pragma reconverge reorder-blocks
  for (unsigned I = 0; I < blockIdx.x; ++I)
    ++Out[I];
}
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy>
#pragma reconverge reorder_blocks
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy>
#pragma reconverge reorder-
#endif
#ifdef DEVICE
// DEVICE: requests.cu:[[#@LINE+1]]: only kernels are launched
RECONVERGE_REORDER_BLOCKS __device__ void device(unsigned *Out) { row(Out); }
#endif

int main() {
  unsigned *Out, Sum = 0;
  cudaMallocManaged(&Out, 4 * 60 * 64);
  cudaMemset(Out, 0, 4 * 60 * 64);
  for (int I = 0; I != 3; ++I) {
    asked<<<60, 64>>>(Out);
    timed<<<60, 64>>>(Out);
    marked<<<60, 64>>>(Out);
    unasked<<<60, 64>>>(Out);
    forbidden<<<60, 64>>>(Out);
  }
  cudaDeviceSynchronize();
  for (unsigned I = 0; I != 60 * 64; ++I)
    Sum = Sum * 31 + Out[I];
  std::printf("%u %s\n", Sum, cudaGetErrorName(cudaGetLastError()));
}
