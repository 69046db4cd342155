// REQUIRES: reconverge
//
// What is no patch to the source, and what to use instead: of what the command
// line asks for, then of what the source does.
// RUN: %reconverge rewrite --refill --regroup --meld --flatten --share --herd --reorder-blocks --permute %s 2>&1 | FileCheck %s --implicit-check-not="nothing to rewrite"
// CHECK-DAG: other-remedies.cu: not rewritten: this remedy is no patch to the source (refill: build by `reconverge cc --refill`, or by hand: block_collect by the number of trips) [RC1131]
// CHECK-DAG: (regroup: build by `reconverge cc --regroup`, or by hand: reconverge::regroup before the launch) [RC1131]
// CHECK-DAG: (meld: build by `reconverge cc --meld`) [RC1131]
// CHECK-DAG: (flatten: build by `reconverge cc --flatten`) [RC1131]
// CHECK-DAG: (share: build by `reconverge cc --share`) [RC1131]
// CHECK-DAG: (herd: build by `reconverge cc --herd`) [RC1131]
// CHECK-DAG: (reorder-blocks: build by `reconverge cc --reorder-blocks`, or by hand: gridDim.x - 1 - blockIdx.x for blockIdx.x) [RC1131]
// CHECK-DAG: (permute: build by `reconverge cc --permute`) [RC1131]
// RUN: %reconverge rewrite %s 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: other-remedies.cu: not rewritten: this remedy is no patch to the source (flatten: build by `reconverge cc`) [RC1131]

__global__ void steps(const float *in, float *out) {
  float x = in[threadIdx.x];
#pragma reconverge flatten
  while (x > 1)
    for (int k = 0; k < int(x); ++k)
      x = x * .875f - k;
  out[threadIdx.x] = x;
}
