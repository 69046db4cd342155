//===- remedies/regroup/Sort.h - An order by key, as steps ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_SORT_H
#define RECONVERGE_REMEDIES_REGROUP_SORT_H

#include "core/Recipe.h"
#include "remedies/regroup/Options.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Adds scratch to \p R for classes, lines and range as a key kernel has them;
/// its arguments.
std::vector<RecipeArgument> keyScratch(Recipe &R, unsigned ClassBits,
                                       const RegroupOptions &Options);

/// Adds the kernels that steps of a recipe of \p Kernel's need to its module,
/// for the same target.
void linkSort(llvm::Function &Kernel, const RegroupOptions &Options);

/// Adds the steps that remember the classes of a sample and, when asked to, tell
/// how many of it have another. \p KeysOf: the key kernel, redirected; \p
/// OfProgram: parameters of the kernel's own. keyScratch() was asked for first.
void addProbe(Recipe &R, const llvm::Function &Kernel, llvm::Function &KeysOf,
              unsigned OfProgram);

/// Adds the steps that sort the items of a launch by class, and within a class
/// by place in its range. Returns the scratch that has the order. keyScratch() was asked
/// for first.
RecipeArgument addSort(Recipe &R, llvm::Function &Kernel, unsigned ClassBits,
                       const RegroupOptions &Options);

} // namespace reconverge::remedies::regroup

#endif
