// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Rows of a column in global memory, four a round: each address follows from
// the one before, the next round's too, and the step is a shift of what was
// extended, which a line of PTX keeps from being fused.
// CHECK-LABEL: .entry column(
// CHECK: cvt.s64.s32
// CHECK: mov.b64 [[WIDE:%rd[0-9]+]], %rd
// CHECK: shl.b64 [[STEP:%rd[0-9]+]], [[WIDE]], 2;
// CHECK: ld.global.f32 {{%f[0-9]+}}, {{\[}}[[P0:%rd[0-9]+]]{{\]}};
// CHECK: add.s64 [[P1:%rd[0-9]+]], [[P0]], [[STEP]];
// CHECK: ld.global.f32 {{%f[0-9]+}}, {{\[}}[[P1]]{{\]}};
// CHECK: add.s64 [[P2:%rd[0-9]+]], [[P1]], [[STEP]];
// CHECK: ld.global.f32 {{%f[0-9]+}}, {{\[}}[[P2]]{{\]}};
// CHECK: add.s64 [[P3:%rd[0-9]+]], [[P2]], [[STEP]];
// CHECK: ld.global.f32 {{%f[0-9]+}}, {{\[}}[[P3]]{{\]}};
// CHECK: add.s64 [[P0]], [[P3]], [[STEP]];
// CHECK: ret;
extern "C" __global__ void column(float *a, int n, int pitch) {
  float *p = a + threadIdx.x;
  for (int j = 0; j < n; ++j) {
    p[0] = p[0] * 0.5f + 1.0f;
    p += pitch;
  }
}

// Addresses of shared memory have 32 bits: the step stays as LLVM has it.
// CHECK-LABEL: .entry shared(
// CHECK-NOT: mov.b64 %rd{{[0-9]+}}, %rd
// CHECK: ret;
extern "C" __global__ void shared(float *a, int n) {
  __shared__ float s[1024];
  for (int j = threadIdx.x; j < n; j += blockDim.x)
    s[j] = 0.0f;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x ^ 5];
}
