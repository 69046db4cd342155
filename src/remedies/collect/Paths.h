//===- remedies/collect/Paths.h - The paths of many items -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_PATHS_H
#define RECONVERGE_REMEDIES_COLLECT_PATHS_H

#include "remedies/collect/Plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace reconverge::remedies::collect {

/// What the slice makes of an item.
struct FoundPath {
  llvm::Value *Path; ///< i32; Paths: it has no work, or it is done
  /// Copies of what asks who runs.
  llvm::SmallVector<llvm::CallBase *> Reads;
};

/// Of how many items the paths may be found at once: registers keep what is read
/// for them.
unsigned itemsAtOnce(const Slice &Deciding);

/// The block that one of the plan is by now.
using BlockNow = llvm::function_ref<llvm::BasicBlock *(llvm::BasicBlock *)>;

/// Finds the paths of several items from \p B on, which then stands behind
/// that; of a short path it does the work. \p Exist: whether there is such an
/// item (i1), of each.
llvm::SmallVector<FoundPath> findPaths(const Slice &Deciding,
                                       llvm::ArrayRef<llvm::Value *> Exist,
                                       BlockNow Now, llvm::IRBuilderBase &B);

} // namespace reconverge::remedies::collect

#endif
