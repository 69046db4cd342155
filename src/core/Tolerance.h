//===- core/Tolerance.h - What counts as the same result --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_TOLERANCE_H
#define RECONVERGE_CORE_TOLERANCE_H

#include <cstdint>

namespace reconverge {

/// What is promised of the result of a kernel with a remedy.
enum class Promise {
  Bytes, ///< the original's bytes
  Order, ///< the same, up to the order of atomics
  Bound, ///< floating-point values within a bound that the user gives
};

/// How far a floating-point value may lie from the original's: inside either
/// bound. Integers may not, and NaN and infinities have to be the same.
struct Tolerance {
  double Relative = 0; ///< part of the original's magnitude
  double Absolute = 0;
  bool operator==(const Tolerance &) const = default;
  /// Whether what \p Other allows is allowed.
  bool covers(const Tolerance &Other) const {
    return Other.Relative <= Relative && Other.Absolute <= Absolute;
  }
};

/// How much of a bound a result takes.
struct BoundUse {
  Tolerance Bound;     ///< that was given
  uint64_t Values = 0; ///< that differ, and lie inside it
  /// The largest errors: relative of the values inside the relative bound,
  /// absolute of those that the absolute one alone lets pass.
  Tolerance Largest;
};

} // namespace reconverge

#endif
