// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// A sum of products begins with what is added to it, and what is left of it by a
// mask is taken of the whole.
// CHECK-LABEL: .entry places(
// CHECK: ld.global
// CHECK: mad.lo.s32 [[FIRST:%r[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}}, [[MIDDLE:%r[0-9]+]];
// CHECK: mad.lo.s32 [[PLACE:%r[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}}, [[FIRST]];
// CHECK-DAG: shr.s32 %r{{[0-9]+}}, [[PLACE]], 12;
// CHECK-DAG: and.b32 %r{{[0-9]+}}, [[PLACE]], 4095;
// CHECK: ret;
extern "C" __global__ void places(const int *Cosine, const int *Sine, int *Out,
                                  int Count, int Cells) {
  const int U = threadIdx.x, V = blockIdx.x;
#pragma unroll 1
  for (int A = 0; A < Count; ++A) {
    const int Place = U * Cosine[A] + V * Sine[A] + Cells * 4096;
    Out[Place >> 12] = Place & 4095;
  }
}

// A mask of bits that the addend changes is of the sum without it.
// CHECK-LABEL: .entry kept(
// CHECK: mul.lo.s32 [[FIRST:%r[0-9]+]],
// CHECK: mad.lo.s32 [[REST:%r[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}}, [[FIRST]];
// CHECK-DAG: and.b32 %r{{[0-9]+}}, [[REST]], 8191;
// CHECK-DAG: add.s32 %r{{[0-9]+}}, {{.*}}[[REST]]
// CHECK: ret;
extern "C" __global__ void kept(const int *Cosine, const int *Sine, int *Out,
                                int Count, int Cells) {
  const int U = threadIdx.x, V = blockIdx.x;
#pragma unroll 1
  for (int A = 0; A < Count; ++A) {
    const int Rest = U * Cosine[A] + V * Sine[A], Place = Rest + Cells * 4096;
    Out[Place >> 12] = Rest & 8191;
  }
}
