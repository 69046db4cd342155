// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// A loop over chars is one over chars: the machine compares words.
// CHECK-LABEL: define {{.*}}void @among(
// CHECK-NOT: <{{[0-9]+}} x i{{[0-9]+}}>
// CHECK: load i8
// CHECK-NOT: <{{[0-9]+}} x i{{[0-9]+}}>
// CHECK: {{^[}]}}
extern "C" __global__ void among(const char *of, int n, char one, bool *out) {
  bool found = false;
  for (int i = 0; i < n; ++i)
    if (of[i] == one)
      found = true;
  *out = found;
}
