// REQUIRES: reconverge
//
// A kernel that is collected has no branch left for a round: requests for one go as
// well, and what is written compiles without a word about them.
// RUN: %reconverge rewrite --collect -I %source/include %s -o %t.cu
// RUN: grep -v '^//' %t.cu | FileCheck %s
// RUN: %reconverge cc -std=c++17 -I %source/include -fsyntax-only \
// RUN:   --cuda-device-only -Wall -Wextra -Werror %t.cu
// RUN: %reconverge cc -std=c++17 -I %source/include -c %t.cu -o %t.o 2>&1 | count 0
//
// CHECK-NOT: #pragma
// CHECK-NOT: RECONVERGE_REMAP
// CHECK: void by_pragma(
// CHECK: block_collect<
// CHECK: void by_attribute(
// CHECK: block_collect<
// CHECK-NOT: #pragma
#include <reconverge/attributes.cuh>

__device__ float one(float x) {
  for (int k = 0; k < 100; ++k)
    x = x * x / 3 + k;
  return x;
}

__global__ void by_pragma(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(7);
}

__global__ RECONVERGE_REMAP void by_attribute(const float *in, float *out,
                                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(7);
}
