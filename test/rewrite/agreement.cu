// REQUIRES: reconverge
//
// The source rewriter refuses where the pass says that something moves which the source
// takes for the same in all threads. The order is written by hand: the pass makes
// no such mistake that we know of.
// RUN: rm -rf %t && mkdir %t && cp %s %t/agreement.cu && cd %t
// RUN: echo '[{"kernel":"_Z4stepPKfPfi","chain":[["",23,7]],"choices":[["",23,7]],"leaves":2,"isAsked":false,"hasExits":false,"moves":["twice:22"],"same":[],"threads":256,"isBound":true,"algorithm":"","neighbours":16}]' > orders.json
// RUN: %reconverge cc -fsyntax-only -Xclang -add-plugin -Xclang reconverge-rewrite -Xclang -plugin-arg-reconverge-rewrite -Xclang orders.json agreement.cu
// RUN: FileCheck %s --input-file orders.json.outcomes
// RUN: not ls orders.json.text
// CHECK: "code":1128
// CHECK-SAME: "detail":"twice"
//
// The same order, but for that, is followed.
// RUN: sed -i 's/twice:22/i:21/' orders.json
// RUN: %reconverge cc -fsyntax-only -Xclang -add-plugin -Xclang reconverge-rewrite -Xclang -plugin-arg-reconverge-rewrite -Xclang orders.json agreement.cu
// RUN: FileCheck %s --check-prefix=WRITTEN --input-file orders.json.text
// WRITTEN: const auto remapped = remap(in[i] > twice);

__global__ void step(const float *in, float *out, int n) {
  const int i = threadIdx.x;
  const int twice = 2 * n;
  if (in[i] > twice)
    out[i] = in[i] / twice;
  else
    out[i] = 3;
}
