// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// Both arms end in the same two stores, each under its own test. A shared block
// for the four would be reached from two depths of nested branches.
// CHECK-LABEL: define {{.*}}void @exchange(
// CHECK-COUNT-4: store i32
// CHECK-NOT: store i32
// CHECK: {{^[}]}}
extern "C" __global__ void exchange(int *p, int *q, bool ascending) {
  int a = *p, b = *q;
  if (ascending) {
    if (a > b) {
      *p = b;
      *q = a;
    }
  } else {
    if (a < b) {
      *p = b;
      *q = a;
    }
  }
}
