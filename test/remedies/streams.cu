// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// A refilled and a collected kernel, each in two streams at the same time, as
// nodes of a graph that run side by side, and in a graph while another stream
// launches them. Results are added up, so an item that is left out or taken
// twice shows. The program prints the same as without remedies.
// RUN: %reconverge cc -DPLAIN %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: streams {{[0-9a-f]+}} cudaSuccess
// CHECK: graph {{[0-9a-f]+}} cudaSuccess
// CHECK: both {{[0-9a-f]+}} cudaSuccess
//
// Items from a counter of each launch, and from slices.
// RUN: %reconverge cc %s -o counter 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./counter >out
// RUN: diff expected out
// RUN: %reconverge cc '-DFROM=source(slice) slice(3) threshold(3)' '-DITEMS=items(2) chunk(64)' %s -o slice 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./slice >out
// RUN: diff expected out
// RUN: %reconverge cc %s --emit-ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-DAG: .entry _Z4walkPjjj$remedied(
// PTX-DAG: .entry _Z4pickPjjj$remedied(
//
// No launch reads what another one is writing, nor memory that nobody wrote.
// RUN: %reconverge test --check=all -- ./counter 200 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: no finding
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#ifndef FROM
#define FROM source(counter)
#endif
#ifndef ITEMS
#define ITEMS items(4)
#endif
#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#ifdef PLAIN
#define REFILL
#define COLLECT
#else
#define REFILL PRAGMA(reconverge refill FROM)
#define COLLECT PRAGMA(reconverge collect ITEMS)
#endif

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}

__global__ void walk(unsigned *Out, unsigned N, unsigned Seed) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  unsigned X = mix(I + Seed);
  REFILL while (X % 29)
    X = mix(X + I);
  Out[I] += X;
}

__global__ void pick(unsigned *Out, unsigned N, unsigned Seed) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  unsigned X = mix(I + Seed);
  COLLECT if (X % 3) {
    for (unsigned K = 0; K < 20; ++K)
      X = mix(X + K);
  } else {
    for (unsigned K = 0; K < 30; ++K)
      X = X * 5 ^ K;
  }
  Out[I] += X;
}

int main(int argc, char **argv) {
  const unsigned N = argc > 1 ? std::atoi(argv[1]) : 3001,
                 Rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const dim3 Block(96), Grid((N + 95) / 96);
  unsigned *Out; // of four launches at a time
  cudaMalloc(&Out, 4 * N * sizeof(unsigned));
  cudaMemset(Out, 0, 4 * N * sizeof(unsigned));
  cudaStream_t A, B;
  cudaStreamCreateWithFlags(&A, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  auto Show = [&](const char *What) {
    const cudaError_t Ended = cudaDeviceSynchronize();
    std::vector<unsigned> Host(4 * N);
    cudaMemcpy(Host.data(), Out, Host.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    unsigned long Sum = 0;
    for (unsigned V : Host)
      Sum = Sum * 131 + V;
    std::printf("%s %lx %s\n", What, Sum, cudaGetErrorName(Ended));
  };
  auto Launch = [&](cudaStream_t Stream, unsigned Part, unsigned Seed) {
    walk<<<Grid, Block, 0, Stream>>>(Out + Part * N, N, Seed);
    pick<<<Grid, Block, 0, Stream>>>(Out + (Part + 1) * N, N, Seed);
  };

  for (unsigned R = 0; R < Rounds; ++R) {
    Launch(A, 0, R);
    Launch(B, 2, R + 1000);
  }
  Show("streams");

  // Two branches, which meet again.
  cudaEvent_t Fork, Join;
  cudaEventCreateWithFlags(&Fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&Join, cudaEventDisableTiming);
  auto Capture = [&](bool Both) {
    cudaGraph_t Graph;
    cudaGraphExec_t Runs;
    cudaStreamBeginCapture(A, cudaStreamCaptureModeGlobal);
    if (Both) {
      cudaEventRecord(Fork, A);
      cudaStreamWaitEvent(B, Fork, 0);
      Launch(B, 2, 7);
      cudaEventRecord(Join, B);
    }
    Launch(A, 0, 5);
    if (Both)
      cudaStreamWaitEvent(A, Join, 0);
    cudaStreamEndCapture(A, &Graph);
    cudaGraphInstantiate(&Runs, Graph, nullptr, nullptr, 0);
    return Runs;
  };
  cudaGraphExec_t Forked = Capture(true), Alone = Capture(false);
  for (unsigned R = 0; R < Rounds; ++R)
    cudaGraphLaunch(Forked, A);
  Show("graph");
  for (unsigned R = 0; R < Rounds; ++R) {
    cudaGraphLaunch(Alone, A);
    Launch(B, 2, R);
  }
  Show("both");
}
