// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why nothing applies is said once for all copies of a branch, and of a kernel
// whose branches diverge nobody says that none does.
//
// RUN: %reconverge optimize %s --device=cpu -q --no-whole -o %t.exe --decisions=%t.json 2>&1 | FileCheck %s
//
// CHECK: once
// CHECK-NOT: no branch of it diverges
// CHECK: optimize-refused.cu:[[@LINE+10]]: not melded: no branch has code of its own on both sides [RC113]
// CHECK: optimize-refused.cu:[[@LINE+9]]: not remapped: the branch controls too little code for a round
// CHECK-NOT: not remapped:
// CHECK: identical:
#include <cstdio>

// Inlined three times: three branches of one line, one arm each. The order of
// additions to floats is kept, so the arms stay.
__device__ void add(float *Sum, float X, unsigned Word) {
  // clang-format off
  if (Word % 3 == 1) Sum[threadIdx.x] += X / 3;
  // clang-format on
}

__global__ void once(float *Sum, const unsigned *Words) {
  __shared__ float Mine[64]; // ties threads to their blocks
  Mine[threadIdx.x] = Sum[threadIdx.x];
  __syncthreads();
  add(Mine, 1, Words[threadIdx.x]);
  add(Mine, 2, Words[threadIdx.x + 64]);
  add(Mine, 3, Words[threadIdx.x + 128]);
  __syncthreads();
  Sum[threadIdx.x] = Mine[63 - threadIdx.x];
}

int main() {
  float *Sum;
  unsigned *Words, Host[192];
  for (unsigned I = 0; I < 192; ++I)
    Host[I] = I * 2654435761u;
  cudaMalloc(&Sum, 64 * sizeof(float));
  cudaMalloc(&Words, sizeof(Host));
  cudaMemset(Sum, 0, 64 * sizeof(float));
  cudaMemcpy(Words, Host, sizeof(Host), cudaMemcpyHostToDevice);
  once<<<1, 64>>>(Sum, Words);
  return cudaDeviceSynchronize();
}
