//===- benchmarks/kernels/common/exact.h - The same bits --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that give the same bits on the CPU, on the warp VM and on a GPU,
// whoever compiled them. Sums and products of their own bits do that as long as
// no compiler fuses a product with a sum on its own; so every such pair is
// written as fma() here and in the programs that include this file, or the
// product as product(). Division is rounded right everywhere, and so are square
// roots as root(): some compilers take a faster one for sqrtf(). Relative errors
// are a few units of float's last place.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_EXACT_H
#define RECONVERGE_BENCHMARKS_EXACT_H

#include <cmath>
#include <cstdint>
#include <cstring>

#define HD __host__ __device__

/// A product that no compiler fuses with a sum that it is a part of.
HD inline float product(float A, float B) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(A, B);
#else
  return A * B;
#endif
}

HD inline float root(float A) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(A);
#else
  return std::sqrt(A);
#endif
}
HD inline double root(double A) { return sqrt(A); }

HD inline float logarithm2(float X) { // of a normal number above 0
  uint32_t Bits;
  memcpy(&Bits, &X, 4);
  const uint32_t Least = 0x3f400000; // 0.75
  const int Exponent = int(Bits - Least) >> 23;
  Bits -= uint32_t(Exponent) << 23;
  float M; // in [0.75, 1.5)
  memcpy(&M, &Bits, 4);
  const float S = (M - 1.0f) / (M + 1.0f), Q = S * S; // ln M = 2 artanh S
  const float Series = fmaf(
      Q, fmaf(Q, fmaf(Q, fmaf(Q, 1.0f / 9, 1.0f / 7), 0.2f), 1.0f / 3), 1.0f);
  return fmaf(2.8853900818f * S, Series, float(Exponent));
}

HD inline float logarithm(float X) { return logarithm2(X) * 0.6931471806f; }

HD inline float power2(float X) { // for X in [-126, 127]
  const int Whole = int(X + (X < 0.0f ? -0.5f : 0.5f));
  const float T = (X - float(Whole)) * 0.6931471806f;
  const float Series = fmaf(
      T,
      fmaf(T,
           fmaf(T,
                fmaf(T, fmaf(T, fmaf(T, 1.0f / 720, 1.0f / 120), 1.0f / 24),
                     1.0f / 6),
                0.5f),
           1.0f),
      1.0f);
  const uint32_t Bits = uint32_t(Whole + 127) << 23;
  float Scale;
  memcpy(&Scale, &Bits, 4);
  return Series * Scale;
}

/// Sine and cosine of so many turns, from 0 to 1.
HD inline void sineCosine(float Turns, float &Sine, float &Cosine) {
  const int Quarter = int(fmaf(4.0f, Turns, 0.5f));
  const float A = fmaf(4.0f, Turns, -float(Quarter)) * 1.5707963268f;
  const float Q = A * A;
  const float S =
      A * fmaf(Q, fmaf(Q, fmaf(Q, -1.0f / 5040, 1.0f / 120), -1.0f / 6), 1.0f);
  const float C = fmaf(
      Q, fmaf(Q, fmaf(Q, fmaf(Q, 1.0f / 40320, -1.0f / 720), 1.0f / 24), -0.5f),
      1.0f);
  const float Along = Quarter & 1 ? S : C, Across = Quarter & 1 ? C : S;
  Cosine = (Quarter + 1) & 2 ? -Along : Along;
  Sine = Quarter & 2 ? -Across : Across;
}

#endif
