//===- driver/Condition.h - A branch's condition as written -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_CONDITION_H
#define RECONVERGE_DRIVER_CONDITION_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <compare>
#include <string>
#include <vector>

namespace reconverge::driver {

/// A place in a source file, both numbers from 1.
struct Place {
  unsigned Line = 0, Column = 0;
  auto operator<=>(const Place &) const = default;
};

/// A source file, read for the conditions in it. Source must outlive it.
class ConditionText {
public:
  explicit ConditionText(llvm::StringRef Source);

  /// The condition of the branch that the compiler places at \p Where, on one
  /// line and without comments; empty if there is none to be seen. \p Others
  /// are the places of the kernel's branches in this file: they tell whether
  /// `a && b` is one branch or two.
  std::string at(Place Where, llvm::ArrayRef<Place> Others = {}) const;

  /// \p Where, or the place at which its condition begins if that is one of a
  /// statement's several operands, with a branch of its own, on another line.
  Place leadingTo(Place Where, llvm::ArrayRef<Place> Others = {}) const;

private:
  size_t offsetOf(Place Where) const;
  /// The condition's part of the shadow.
  llvm::StringRef extentOf(size_t At, llvm::ArrayRef<Place> Others) const;

  llvm::StringRef Source;
  std::string Shadow;
  std::vector<size_t> Lines; ///< where each begins
};

/// Fills in the condition of every branch of \p P whose source can be read.
/// Returns the sources that cannot, sorted.
std::vector<std::string> fillConditions(Profile &P);

} // namespace reconverge::driver

#endif
