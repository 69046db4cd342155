// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// What leaves the front end: kernels and variables that the host sees, device
// functions inlined unless the user says no, square roots exact, FMAs formed,
// blocks and branches numbered.

// CHECK: @table = {{.*}}addrspace(4) externally_initialized global
__constant__ float table[4];

// A constant of the host is not the device's, unless it is used there; then it
// is what it is here.
// CHECK-NOT: hostsOwn
// CHECK: @usedHere = internal {{.*}}addrspace(4) constant
// CHECK-NOT: hostsOwn
extern const int hostsOwn[300000] = {1, 2};
extern const float usedHere[3] = {1, 2, 3};

// CHECK-NOT: define {{.*}}inlinedEverywhere
__device__ float inlinedEverywhere(float a, float b) { return a * b + 1.0f; }

// CHECK: define internal {{.*}}keptAsFunction
__device__ __noinline__ float keptAsFunction(float a) {
  return table[int(a)] / 3.0f;
}

// CHECK:     define {{.*}}void @kernel(
// CHECK:       llvm.fma.f32
// CHECK-NOT:   contract
// CHECK:       br i1 {{.*}}!rc.block {{.*}}!rc.branch
// CHECK:       llvm.nvvm.sqrt.rn.f
// CHECK:       call {{.*}}keptAsFunction
// CHECK-NOT: __nvvm_reflect
extern "C" __global__ void kernel(float *p) {
  float value = inlinedEverywhere(p[threadIdx.x], p[1]);
  if (value > 0.0f)
    p[threadIdx.x] = sqrtf(value) + keptAsFunction(value) + usedHere[threadIdx.x];
}
