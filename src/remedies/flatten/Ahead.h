//===- remedies/flatten/Ahead.h - Rounds that are looked ahead --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_AHEAD_H
#define RECONVERGE_REMEDIES_FLATTEN_AHEAD_H

#include "remedies/common/Refusal.h"
#include "remedies/common/Skips.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <utility>

namespace llvm {
class AAResults;
class PHINode;
} // namespace llvm

namespace reconverge::remedies::flatten {

/// A loop whose rounds can be told to have work or not before any work is done.
struct AheadPlan {
  llvm::BasicBlock *Header;
  Skip Skipped;
  /// Phis of the header that grow by what is the same in all rounds.
  llvm::SmallVector<llvm::PHINode *> Steps;
  /// Those that only the work changes, and what each is behind the work.
  llvm::SmallVector<std::pair<llvm::PHINode *, llvm::PHINode *>> Sums;
};

/// Of \p L, in which \p Skipped is. Nothing in it needs lanes together.
PlanOr<AheadPlan> planAhead(const llvm::Loop &L, const Skip &Skipped,
                            const llvm::DominatorTree &Dominance,
                            llvm::AAResults &Aliases);

/// Follows \p Plan of \p F. \p PlantedBug: FlattenOptions.
void rewriteAhead(const AheadPlan &Plan, llvm::Function &F,
                  bool PlantedBug = false);

/// Blocks of \p L that only rounds with the work come to.
llvm::SmallVector<llvm::BasicBlock *>
blocksOfWork(const llvm::Loop &L, const Skip &Skipped,
             const llvm::DominatorTree &Dominance);

} // namespace reconverge::remedies::flatten

#endif
