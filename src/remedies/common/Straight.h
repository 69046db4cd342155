//===- remedies/common/Straight.h - A thread an iteration -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_STRAIGHT_H
#define RECONVERGE_REMEDIES_COMMON_STRAIGHT_H

#include "core/TripCount.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Has a thread of \p Kernel do one iteration of its loop over the grid
/// (analysis/GridLoop.h), if all of it is one, and if a copy for which that was
/// done \p Suits. Returns how many such threads a launch needs, for
/// Recipe::Trips; none: the kernel is as it was, since it is of another kind,
/// or its bound is not made of its arguments.
std::optional<TripCount>
straighten(llvm::Function &Kernel,
           llvm::function_ref<bool(llvm::Function &Copy)> Suits);

} // namespace reconverge::remedies

#endif
