// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// A kernel has one remedy that changes its launch, the first that is asked for.
// RUN: %reconverge cc --refill=occupancy=0 --permute %s -o %t 2>&1 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefix=OUT
// CHECK-NOT: warning
// CHECK: warning: steps({{.*}}) is launched without permute: another remedy changes its launch
// CHECK-NOT: warning
//
// Registers are counted: what that makes LLVM say is not said.
// RUN: %reconverge cc --refill %s -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COUNTED --allow-empty
// COUNTED-NOT: eliminated

#include <cstdio>
#include <cuda_runtime.h>

// Collatz: as many rounds as it takes.
__global__ void steps(int *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  int Count = 0;
  for (unsigned X = I + 1; X != 1; ++Count)
    X = X % 2 ? 3 * X + 1 : X / 2;
  Out[I] = Count;
}

int main() {
  constexpr int N = 1000;
  int *Out;
  cudaMallocManaged(&Out, N * sizeof(int));
  steps<<<8, 128>>>(Out, N);
  cudaDeviceSynchronize();
  long Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += Out[I];
  // The longest of the first thousand is 871's, with 178.
  printf("%d %ld\n", Out[870], Sum);
  // OUT: 178 59542
}
