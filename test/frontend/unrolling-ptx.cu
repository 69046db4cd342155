// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t
// RUN: %reconverge cc --fatbin --keep=%t -arch=sm_90 %s -c -o %t/out.o
// RUN: FileCheck %s <%t/unrolling-ptx.ptx

// ptxas may unroll what was unrolled by four, but not what is left over.
// CHECK-LABEL: .entry serial(
// CHECK-COUNT-4: ld.global.f32
// CHECK-NOT: nounroll
// CHECK: bra
// CHECK: nounroll
// CHECK: ld.global.f32
// CHECK-NOT: ld.global.f32
// CHECK: ret
extern "C" __global__ void serial(float *p, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i)
    s += p[i];
  *p = s;
}
