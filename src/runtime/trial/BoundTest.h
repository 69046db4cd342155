//===- runtime/trial/BoundTest.h - Values inside a bound --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_BOUNDTEST_H
#define RECONVERGE_RUNTIME_TRIAL_BOUNDTEST_H

#include "core/Tolerance.h"
#include "runtime/trial/Values.h"

#include "llvm/ADT/SmallVector.h"

namespace reconverge::runtime {

/// All results of one page.
struct PageResults {
  uint64_t Address;
  llvm::ArrayRef<uint8_t> Original, Variant;
  /// Of the original in other orders of its threads.
  llvm::ArrayRef<std::vector<uint8_t>> Others = {};
};

/// Finds floating-point values that differ from the original's by no more than
/// a bound.
class BoundTest {
public:
  /// \p Written: the types of what the kernel writes.
  BoundTest(llvm::ArrayRef<ValueType> Written, const Tolerance &Bound);

  /// Where the value around byte \p At ends, if it lies inside the bound; notes
  /// how much of it that takes. Nothing if it lies outside, or if it may be no
  /// floating-point number.
  std::optional<size_t> endOfInside(const PageResults &In, size_t At);

  const BoundUse &used() const { return Used; } ///< by all that lay inside

private:
  llvm::SmallVector<ValueType, 2> Types; ///< that may differ, largest first
  bool OnlyFloats;                       ///< the kernel writes no integers
  BoundUse Used;
};

} // namespace reconverge::runtime

#endif
