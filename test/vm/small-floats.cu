// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 0 wrong of 606348

// E4M3, E5M2 and TF32, and what cuda_fp6.h and cuda_fp4.h make of sm_90: every
// byte, every half, and floats around every number that a format has and every
// tie between two, against the toolkit's own host code. nvcc compiles this file
// as well.

#include "Inputs/check.h"
#include <cstdint>
#include <cstring>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

static uint32_t bitsOf(float X) {
  uint32_t Bits;
  memcpy(&Bits, &X, 4);
  return Bits;
}

struct Formats {
  uint8_t E4M3, E5M2, E2M3, E3M2, E2M1, Scale;
  uint32_t Tensor;
};

static __host__ __device__ void convert(float X, Formats &To) {
  To.E4M3 = __nv_cvt_float_to_fp8(X, __NV_SATFINITE, __NV_E4M3);
  To.E5M2 = __nv_cvt_float_to_fp8(X, __NV_SATFINITE, __NV_E5M2);
  To.E2M3 = __nv_cvt_float_to_fp6(X, __NV_E2M3, cudaRoundNearest);
  To.E3M2 = __nv_cvt_float_to_fp6(X, __NV_E3M2, cudaRoundNearest);
  To.E2M1 = __nv_cvt_float_to_fp4(X, __NV_E2M1, cudaRoundNearest);
  To.Scale = __nv_cvt_float_to_e8m0(X, __NV_SATFINITE, cudaRoundPosInf);
#ifdef __CUDA_ARCH__
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(To.Tensor) : "f"(X));
#else
  uint32_t Bits;
  memcpy(&Bits, &X, 4);
  To.Tensor = (X != X ? Bits : Bits + 0x1000) & ~0x1fffu; // as on an H100
#endif
}

__global__ void fromFloats(const float *From, Formats *To, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    convert(From[I], To[I]);
}

/// A half to both formats, and every pair of bytes to halves.
__global__ void halves(uint16_t *Narrow, uint32_t *Wide) {
  const uint32_t I = blockIdx.x * blockDim.x + threadIdx.x;
  __half2_raw Pair;
  Pair.x = I;
  Pair.y = I ^ 0x5555;
  Narrow[2 * I] = __nv_cvt_halfraw2_to_fp8x2(Pair, __NV_SATFINITE, __NV_E4M3);
  Narrow[2 * I + 1] =
      __nv_cvt_halfraw2_to_fp8x2(Pair, __NV_SATFINITE, __NV_E5M2);
  const __half2_raw A = __nv_cvt_fp8x2_to_halfraw2(I, __NV_E4M3);
  const __half2_raw B = __nv_cvt_fp8x2_to_halfraw2(I, __NV_E5M2);
  Wide[2 * I] = A.x | uint32_t(A.y) << 16;
  Wide[2 * I + 1] = B.x | uint32_t(B.y) << 16;
}

/// What no header writes.
__global__ void others(uint32_t *Out) {
  const int I = int(threadIdx.x) - 16;
  const float X = I * 0x1.357p-3f; // exact
  uint16_t Pair;
  uint32_t A, B, C;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;"
      : "=h"(Pair)
      : "f"(X), "f"(-X));
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(A) : "f"(X));
  asm("cvt.rz.relu.tf32.f32 %0, %1;" : "=r"(B) : "f"(X));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
      : "=r"(C)
      : "r"(I * 11), "r"(I * 7 - 20), "r"(0xabcd));
  uint32_t *To = Out + threadIdx.x * 4;
  To[0] = Pair;
  To[1] = A;
  To[2] = B;
  To[3] = C;
}

/// TF32 of a NaN, by each rounding.
__global__ void ofNaN(float X, uint32_t *Out) {
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(Out[0]) : "f"(X));
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(Out[1]) : "f"(X));
  asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(Out[2]) : "f"(X));
  asm("cvt.rz.relu.tf32.f32 %0, %1;" : "=r"(Out[3]) : "f"(X));
}

static int clamped(int X) { return X > 127 ? 127 : X < -128 ? -128 : X; }

int main() {
  // Every float with a fraction of 12 bits that matters, and its neighbours.
  constexpr int Step = 1 << 18, N = 3 * (1ll << 32) / Step;
  auto *From = managed<float>(N);
  auto *To = managed<Formats>(N);
  for (int I = 0; I < N; ++I) {
    const uint32_t Bits = uint32_t(I / 3) * Step + I % 3 - 1;
    memcpy(From + I, &Bits, 4);
  }
  fromFloats<<<(N + 255) / 256, 256>>>(From, To, N);
  finish();
  for (int I = 0; I < N; ++I) {
    Formats Want;
    convert(From[I], Want);
    const uint32_t Bits = bitsOf(From[I]);
    expect("e4m3", Bits, To[I].E4M3, Want.E4M3);
    expect("e5m2", Bits, To[I].E5M2, Want.E5M2);
    expect("e2m3", Bits, To[I].E2M3, Want.E2M3);
    expect("e3m2", Bits, To[I].E3M2, Want.E3M2);
    expect("e2m1", Bits, To[I].E2M1, Want.E2M1);
    expect("e8m0", Bits, To[I].Scale, Want.Scale);
    expect("tf32", Bits, To[I].Tensor, Want.Tensor);
  }

  constexpr int All = 1 << 16;
  auto *Narrow = managed<uint16_t>(2 * All);
  auto *Wide = managed<uint32_t>(2 * All);
  halves<<<All / 256, 256>>>(Narrow, Wide);
  finish();
  for (int I = 0; I < All; ++I) {
    __half2_raw Pair;
    Pair.x = I;
    Pair.y = I ^ 0x5555;
    const __nv_fp8_interpretation_t Kinds[] = {__NV_E4M3, __NV_E5M2};
    for (int K = 0; K < 2; ++K) {
      expect("from halves", I, Narrow[2 * I + K],
             __nv_cvt_halfraw2_to_fp8x2(Pair, __NV_SATFINITE, Kinds[K]));
      const __half2_raw H = __nv_cvt_fp8x2_to_halfraw2(I, Kinds[K]);
      expect("to halves", I, Wide[2 * I + K], H.x | uint32_t(H.y) << 16);
    }
  }

  auto *Out = managed<uint32_t>(4 * 32);
  others<<<1, 32>>>(Out);
  finish();
  for (int I = 0; I < 32; ++I) {
    const float X = (I - 16) * 0x1.357p-3f;
    auto Relu = [](float Y) {
      return __nv_cvt_float_to_fp8(Y > 0 ? Y : 0, __NV_SATFINITE, __NV_E4M3);
    };
    const uint32_t Bits = bitsOf(X);
    expect("relu", I, Out[4 * I], Relu(X) << 8 | Relu(-X));
    expect("tf32 rn", I, Out[4 * I + 1],
           (Bits + 0xfff + (Bits >> 13 & 1)) & ~0x1fffu);
    expect("tf32 rz", I, Out[4 * I + 2], X > 0 ? Bits & ~0x1fffu : 0);
    expect("pack", I, Out[4 * I + 3],
           0xabcd0000u | (clamped((I - 16) * 11) & 255) << 8 |
               (clamped((I - 16) * 7 - 20) & 255));
  }

  for (uint32_t Bits : {0x7f800001u, 0x7fc01234u, 0xffffffffu}) {
    float X;
    memcpy(&X, &Bits, 4);
    ofNaN<<<1, 1>>>(X, Out);
    finish();
    expect("NaN rna", Bits, Out[0], Bits & ~0x1fffu);
    for (int I = 1; I < 4; ++I)
      expect("NaN", I, Out[I], 0x7fffe000u);
  }
  return summary();
}
