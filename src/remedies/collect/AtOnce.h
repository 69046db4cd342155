//===- remedies/collect/AtOnce.h - The paths of many items ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_ATONCE_H
#define RECONVERGE_REMEDIES_COLLECT_ATONCE_H

#include "remedies/collect/Plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace reconverge::remedies::collect {

/// A block of the plan, where its code is by now.
using BlockNow = llvm::function_ref<llvm::BasicBlock *(llvm::BasicBlock *)>;

/// Whether what decides a path can be computed without branches.
bool mayBeAtOnce(const Slice &Deciding, BlockNow Now);

/// Computes the paths (i32, Deciding.Paths if there is no work) of one item in
/// each of the blocks with \p Numbers, or of none where it is not below
/// \p Blocks; \p B goes on behind. Only if mayBeAtOnce.
llvm::SmallVector<llvm::Value *>
pathsAtOnce(const Slice &Deciding, BlockNow Now,
            llvm::ArrayRef<llvm::Value *> Numbers, llvm::Value *Blocks,
            const LaunchValues &Of, llvm::IRBuilderBase &B);

} // namespace reconverge::remedies::collect

#endif
