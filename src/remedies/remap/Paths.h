//===- remedies/remap/Paths.h - From branches to a path, and back *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_PATHS_H
#define RECONVERGE_REMEDIES_REMAP_PATHS_H

#include "remedies/remap/Plan.h"

#include "llvm/IR/IRBuilder.h"

namespace reconverge::remedies::remap {

/// The path that a thread at the end of Plan.Block will take, as an i32.
llvm::Value *computePath(llvm::IRBuilder<> &B, const RoundPlan &Plan);

/// Has the branches of \p Plan go by \p Path, which is known at the start of
/// \p Tail, where the branch of Plan.Block has moved to.
void followPath(llvm::IRBuilder<> &B, const RoundPlan &Plan, llvm::Value &Path,
                llvm::BasicBlock &Tail);

} // namespace reconverge::remedies::remap

#endif
