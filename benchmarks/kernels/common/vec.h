//===- benchmarks/kernels/common/vec.h - Vectors in space -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the same bits on host and device, whoever compiled it (exact.h).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_VEC_H
#define RECONVERGE_BENCHMARKS_VEC_H

#include "exact.h"

struct Vec {
  float X, Y, Z;
};

HD inline Vec operator+(Vec A, Vec B) {
  return {A.X + B.X, A.Y + B.Y, A.Z + B.Z};
}
HD inline Vec operator-(Vec A, Vec B) {
  return {A.X - B.X, A.Y - B.Y, A.Z - B.Z};
}
HD inline Vec operator*(Vec A, Vec B) {
  return {product(A.X, B.X), product(A.Y, B.Y), product(A.Z, B.Z)};
}
HD inline Vec operator/(Vec A, float B) { return {A.X / B, A.Y / B, A.Z / B}; }
/// From \p A so far along \p B.
HD inline Vec along(Vec A, float T, Vec B) {
  return {fmaf(T, B.X, A.X), fmaf(T, B.Y, A.Y), fmaf(T, B.Z, A.Z)};
}
HD inline float dot(Vec A, Vec B) {
  return fmaf(A.X, B.X, fmaf(A.Y, B.Y, product(A.Z, B.Z)));
}
HD inline Vec cross(Vec A, Vec B) {
  return {fmaf(A.Y, B.Z, -product(A.Z, B.Y)),
          fmaf(A.Z, B.X, -product(A.X, B.Z)),
          fmaf(A.X, B.Y, -product(A.Y, B.X))};
}
HD inline Vec unit(Vec A) { return A / root(dot(A, A)); }

#endif
