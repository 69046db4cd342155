//===- remedies/regroup/Bounds.h - Keys of another launch -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_BOUNDS_H
#define RECONVERGE_REMEDIES_REGROUP_BOUNDS_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"

namespace reconverge::remedies::regroup {

/// \p Keys with two more parameters for each of \p Loaded, which it finds: where
/// loads by that pointer may read, from and to, as i64; what the pointer itself
/// leads to is there. A load elsewhere reads that, and each thread comes to an end, whatever the arguments and the data are:
/// \p Keys may run on those of a launch that the program never makes. A refusal, if
/// it cannot be made so; then nothing has changed.
PlanOr<llvm::Function *> boundKeys(llvm::Function &Keys,
                                   const llvm::Function &Kernel,
                                   std::vector<RecipeAhead::Range> &Loaded);

} // namespace reconverge::remedies::regroup

#endif
