// REQUIRES: reconverge
//
// What is not seen in the text: where fewer warps run than before, a line says so.
// A round of many paths in blocks of 1024 threads takes three times the registers;
// in blocks of 128 it does not.
// RUN: %reconverge rewrite --remap %s -o %t.cu 2>&1 | FileCheck %s
// RUN: %reconverge rewrite --remap=threads=128 %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=SMALL
//
// CHECK: cost.cu: step(int const*, float const*, float*): has a round of remap now
// CHECK-NEXT: cost.cu: step(int const*, float const*, float*): takes {{[0-9]+}} registers instead of {{[12][0-9]}}, {{[1-5]?[0-9]}} warps on a multiprocessor instead of 64, {{[0-9]+}} bytes of shared memory instead of 0: compare times before you keep it
// SMALL: has a round of remap now
// SMALL-NOT: warps

__device__ float power(float x, int n) {
  float y = 1;
  for (int k = 0; k < n; ++k)
    y = y * x + 0.5f;
  return y;
}

__global__ void step(const int *kinds, const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  switch (kinds[i]) {
  case 0:
    out[i] = power(in[i], 40);
    break;
  case 1:
    out[i] = power(in[i], 50) - 1;
    break;
  case 2:
    out[i] = 1 / power(in[i], 60);
    break;
  case 3:
    out[i] = sqrtf(power(in[i], 70));
    break;
  default:
    out[i] = in[i];
  }
}
