// REQUIRES: reconverge
//
// What is written is parsed before it is handed out, in a build folder, too: here
// by a clang that has spoilt it.
// RUN: cp %s %t.cu
// RUN: not env RECONVERGE_CLANG=%S/Inputs/spoiling-clang \
// RUN:   %reconverge rewrite --in-place %t.cu 2>&1 | FileCheck %s
// RUN: diff %s %t.cu
// CHECK: error: no member named 'way' in
// CHECK: does-not-parse.cu.tmp.cu: the rewritten text does not compile
// CHECK-NOT: has a round of remap now
// RUN: %reconverge rewrite --in-place %t.cu 2>&1 | FileCheck %s --check-prefix=GOOD
// GOOD: has a round of remap now
// RUN: not diff %s %t.cu

__global__ void step(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = sqrtf(in[i]);
  else
    out[i] = in[i] * in[i];
}
