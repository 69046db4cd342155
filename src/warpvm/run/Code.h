//===- warpvm/run/Code.h - The code that launches pick ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_CODE_H
#define RECONVERGE_WARPVM_RUN_CODE_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"

#include <atomic>
#include <limits>

namespace reconverge::warpvm {

/// A kernel, compiled in one way. Its frames are laid out as in all others.
struct Code {
  const KernelPlan *Plan = nullptr;
  Effort By = Effort::Well;
  bool Vectors = false; ///< it records block vectors
};

/// A kernel in one variant: what blocks run that begin now, or go on behind a
/// barrier. Better code takes its place at any time.
struct CodeSlot {
  std::atomic<const Code *> Now{nullptr}; ///< null: none yet
  Code First, Better;
  /// Seconds of running after which compiling it well is worth while.
  double Worth = std::numeric_limits<double>::infinity();
  std::atomic<bool> Asked{false}; ///< for that
};

} // namespace reconverge::warpvm

#endif
