// REQUIRES: reconverge
// What remedies should gain, without building one.
//
// RUN: %reconverge predict --device cpu %s 2>&1 | FileCheck %s --check-prefixes=CHECK,IR
// RUN: not %reconverge predict -o %t.json %s 2>&1 | FileCheck --check-prefix=OUT %s
// RUN: not %reconverge predict --machine %S/Inputs/no-such.json %s 2>&1 | FileCheck --check-prefix=MACHINE %s
// RUN: not %reconverge predict --shuffle 3 %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: %reconverge predict --device cpu --machine-code %s 2>&1 | FileCheck %s --check-prefixes=CHECK,CODE
//
// Half the warp's lanes go each way, all work is arithmetic: sorted, it takes
// half the time, and melding its equal sides gives as much back, but for the
// selects that its code says there will be. ptxas makes no more of melded sides than
// of one, and without the branch.
//
// CHECK: What remedies should gain on {{.*}}predict.cu
// CHECK: kernel of run CFE bound by remedy forecast between
// CHECK: halves
// CHECK-SAME: issue
// IR-SAME: sort (by hand) 1.97x 0.74x to 2.66x
// IR: meld 1.9{{[0-6]}}x 0.7{{[0-9]}}x to 2.66x
// CODE-SAME: meld 2.0{{[0-9]}}x 1.{{[0-9]+}}x to 2.7{{[0-9]}}x
// CODE: sort (by hand) 1.97x 0.74x to 2.66x
// CHECK: Nothing was built
// CHECK-NOT: anew
//
// Two classes of threads, in turns: put into warps of their own they take half the
// time, by each algorithm and both metrics.
//
// RUN: %reconverge predict --device cpu --groupings %s 2>&1 | FileCheck --check-prefix=GROUP %s
// GROUP: What it should gain to deal out threads anew by block vectors
// GROUP: kernel launch threads regrouped classes by weighted scheduled
// GROUP: halves 1 65.5k 16.4k 2 Sorting 50.0% 50.0%
// GROUP: Greedy 50.0% 50.0%
// GROUP: Greedy-Max 50.0% 50.0%
// GROUP: longest blocks first 0.0% 0.0%
// GROUP: 1 - T/T0
// RUN: not %reconverge profile --groupings %s 2>&1 | FileCheck --check-prefix=PROFILE %s
// PROFILE: error: unknown option --groupings
//
// OUT: error: predict: -o {{.*}}: predict writes no file
// MACHINE: error: no machine file '{{.*}}no-such.json'
// UNKNOWN: error: unknown option --shuffle
#include <cstdio>

__global__ void halves(float *out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = i + 1, c = i + 2, d = i + 3;
  if (threadIdx.x & 1) {
    for (int r = 0; r < rounds; ++r) {
      a = a * 0.5f + 1.0f; b = b * 0.5f + 1.0f;
      c = c * 0.5f + 1.0f; d = d * 0.5f + 1.0f;
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      a = a * 0.25f + 2.0f; b = b * 0.25f + 2.0f;
      c = c * 0.25f + 2.0f; d = d * 0.25f + 2.0f;
    }
  }
  out[i] = a + b + c + d;
}

int main() {
  float *out;
  cudaMalloc(&out, 1 << 18);
  halves<<<256, 256>>>(out, 20000);
  cudaDeviceSynchronize();
  return 0;
}
