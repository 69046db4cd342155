//===- driver/Condition.h - A branch's condition as written -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_CONDITION_H
#define RECONVERGE_DRIVER_CONDITION_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace reconverge::driver {

/// A place in a source file, both numbers from 1.
struct Place {
  unsigned Line = 0, Column = 0;
};

/// The condition of the branch that the compiler places at \p Where of
/// \p Source, on one line and without comments; empty if there is none to be
/// seen. \p Others are the places of the kernel's branches: they tell whether
/// `a && b` is one branch or two.
std::string conditionAt(llvm::StringRef Source, Place Where,
                        llvm::ArrayRef<Place> Others = {});

/// Fills in the condition of every branch of \p P whose source can be read.
/// Returns the sources that cannot, sorted.
std::vector<std::string> fillConditions(Profile &P);

} // namespace reconverge::driver

#endif
