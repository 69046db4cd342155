//===- remedies/reorder_blocks/Reorder.h - Blocks in order ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_REORDER_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_REORDER_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"
#include "remedies/reorder_blocks/Options.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Has \p Kernel run the thread blocks of a launch in the order that the source,
/// or else \p Options say: returns what is launched for that. A kernel of the same name takes its
/// place.
PlanOr<Recipe> reorderBlocks(llvm::Function &Kernel,
                             const ReorderOptions &Options);

} // namespace reconverge::remedies

#endif
