// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Two products and what stays the same in the loop are two instructions, and the
// whole part and the rest are of one sum.
// CHECK-LABEL: .entry place(
// CHECK: .pragma "nounroll";
// CHECK-NOT: mul.lo
// CHECK: mad.lo.s32 [[FIRST:%r[0-9]+]], {{%r[0-9]+}}, {{%r[0-9]+}}, [[SAME:%r[0-9]+]];
// CHECK-NOT: [[SAME]];
// CHECK: mad.lo.s32 [[SUM:%r[0-9]+]], {{%r[0-9]+}}, {{%r[0-9]+}}, [[FIRST]];
// CHECK-NOT: [[SAME]];
// CHECK-DAG: shr.s32 {{%r[0-9]+}}, [[SUM]], 12;
// CHECK-DAG: and.b32 {{%r[0-9]+}}, [[SUM]], 4095;
// CHECK: $L__func_end
extern "C" __global__ void place(const int *u, const int *v, int *out, int x,
                                 int y, int cells, int n) {
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const int at = u[i] * x + v[i] * y + cells * 4096;
    sum = (sum ^ (at >> 12)) + (at & 4095);
  }
  out[threadIdx.x] = sum;
}

// A product that is also used by itself, and two without a third term, stay.
// CHECK-LABEL: .entry apart(
// CHECK: mul.lo.s32 [[A:%r[0-9]+]],
// CHECK: mad.lo.s32 {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, [[A]];
// CHECK: $L__func_end
extern "C" __global__ void apart(const int *u, int *out, int x, int y) {
  out[0] = u[threadIdx.x] * x + u[threadIdx.x + 1] * y;
}
