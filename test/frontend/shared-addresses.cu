// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Both ways from the first test ask for the right key, one of them at once: its
// address is computed in front of the test.
// CHECK-LABEL: .entry merge(
// CHECK: .pragma "nounroll";
// CHECK: mul.wide.s32 [[PLACE:%rd[0-9]+]], [[AT:%r[0-9]+]], 4;
// CHECK: add.s64 [[RIGHT:%rd[0-9]+]], {{%rd[0-9]+}}, [[PLACE]];
// CHECK: @%p{{[0-9]+}} bra
// CHECK-NOT: [[AT]], 4;
// CHECK-COUNT-2: ld.global.u32 {{%r[0-9]+}}, {{\[}}[[RIGHT]]{{\]}};
// CHECK: ret;
extern "C" __global__ void merge(const int *keys, int *to, const int *from,
                                 int middle, int end) {
  int left = from[threadIdx.x], right = from[threadIdx.x + 32];
#pragma unroll 1
  for (int n = 0; n < end; ++n)
    if (left < middle && (right >= end || keys[left] <= keys[right]))
      to[n] = keys[left++];
    else
      to[n] = keys[right++];
}

// An address that one way alone asks for stays there.
// CHECK-LABEL: .entry apart(
// CHECK-NOT: add.s64
// CHECK: @%p{{[0-9]+}} bra
// CHECK: add.s64
// CHECK: ret;
extern "C" __global__ void apart(const int *keys, int *to, int left, int right) {
  if (to[0] < left)
    to[1] = keys[left] / right;
  else
    to[left] = right;
}
