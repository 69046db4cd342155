// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// What nvcc computes when it compiles is no call of libdevice, and none of its
// body, which begins with an approximation by the hardware.

// CHECK-LABEL: .entry exact(
// CHECK-NOT: rcp.approx
// CHECK-NOT: ex2.approx
// CHECK: 0d3E80000000000000
// CHECK-NOT: approx
// CHECK: 0f41000000
// CHECK-NOT: approx
// CHECK: ret;
extern "C" __global__ void exact(double *d, float *f) {
  *d *= pow(0.5, 23.0);
  *f *= powf(2.0f, 3.0f);
}

// A third is rounded, a root is no product.
// CHECK-LABEL: .entry rounded(
// CHECK: rcp.approx
// CHECK: ret;
extern "C" __global__ void rounded(double *d) { *d *= pow(3.0, -1.0); }
// CHECK-LABEL: .entry root(
// CHECK: rcp.approx
// CHECK: ret;
extern "C" __global__ void root(double *d) { *d *= pow(2.0, 0.5); }
