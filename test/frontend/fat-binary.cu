// REQUIRES: reconverge
// RUN: %reconverge cc --fatbin --keep=%t.kept -c %s -o %t.o
// RUN: FileCheck %s <%t.kept/fat-binary.ptx
// RUN: head -c 4 %t.kept/fat-binary.cubin | od -An -c \
// RUN:   | FileCheck %s --check-prefix=ELF
// ELF: E L F

// For a GPU the container holds machine code and PTX beside the bitcode. Code
// generation fuses nothing of its own: what is left says .rn.

// CHECK: .target sm_90
// CHECK: .entry kernel(
// CHECK: fma.rn.f32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
extern "C" __global__ void kernel(float *p) {
  p[0] = p[1] * p[2] + p[3];
  float product = p[4] * p[5];
  p[6] = product;
  p[7] = product + p[8];
}
