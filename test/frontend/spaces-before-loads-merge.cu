// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Two loads, from shared and from global memory: not one from a generic address.
// CHECK-LABEL: .entry either(
// CHECK-NOT: {{ld\.f32|ld\.u32|ld\.b32}}
// CHECK: ret;
extern "C" __global__ void either(const float *image, float *result) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = image[t];
  __syncthreads();
  float left;
  if (t == 0)
    left = image[blockIdx.x];
  else
    left = tile[t - 1];
  result[t] = left;
}
