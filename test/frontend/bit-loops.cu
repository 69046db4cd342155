// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// Lanes would leave the loop one after the other; the bits are counted at once.
// CHECK-LABEL: define {{.*}}void @bits(
// CHECK: call {{.*}}i64 @llvm.ctpop.i64(
// CHECK-NOT: phi
// CHECK: ret void
extern "C" __global__ void bits(const unsigned long *x, int *n) {
  unsigned long left = x[threadIdx.x];
  char count;
  for (count = 0; left; ++count)
    left &= left - 1;
  n[threadIdx.x] = count;
}

// What else is done in each round keeps the loop.
// CHECK-LABEL: define {{.*}}void @places(
// CHECK-NOT: ctpop
// CHECK: phi
// CHECK: ret void
extern "C" __global__ void places(const unsigned *x, unsigned *n) {
  unsigned sum = 0;
  for (unsigned left = x[threadIdx.x]; left; left &= left - 1)
    sum = sum * 31 + (left & -left);
  n[threadIdx.x] = sum;
}
