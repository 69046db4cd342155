//===- remedies/permute/Permute.h - Threads in another order ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_PERMUTE_PERMUTE_H
#define RECONVERGE_REMEDIES_PERMUTE_PERMUTE_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"
#include "remedies/permute/Options.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Has \p Kernel run the threads of a launch in the order that \p Options say,
/// over blocks of another size: returns what is launched for that. A kernel of
/// the same name and more parameters takes its place.
PlanOr<Recipe> permuteKernel(llvm::Function &Kernel,
                             const PermuteOptions &Options);

} // namespace reconverge::remedies

#endif
