//===- remedies/share/Legality.h - What may be shared -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_LEGALITY_H
#define RECONVERGE_REMEDIES_SHARE_LEGALITY_H

#include "remedies/common/Refusal.h"
#include "remedies/share/Options.h"
#include "remedies/share/Sums.h"
#include "remedies/share/Weights.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Loop;
class PHINode;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace reconverge::remedies::share {

/// What a loop carries from one iteration to the next, by phis of its header.
struct Carried {
  /// Of iteration k: a start and k steps.
  llvm::SmallVector<llvm::PHINode *> Inductions;
  /// What may be added up in any order.
  llvm::SmallVector<Sum> Sums;
  /// All others, and what follows from them in the loop: what the thread itself
  /// does in the end, iteration by iteration.
  llvm::SetVector<llvm::Instruction *> Chain;
  /// What the chain takes from an iteration, or code behind the loop takes from
  /// the last one; values of the loop that are not of the chain.
  llvm::SetVector<llvm::Instruction *> Inputs;
};

struct SharePlan {
  llvm::BasicBlock *Header; ///< of the loop
  Carried Values;
  Weights By;
  ShareOptions Options; ///< what the source says of the loop among them
};

/// The loop that is to be shared; or why none is: of the one with the most code.
PlanOr<SharePlan> planShare(llvm::Function &F, const ShareOptions &Options);

/// Whether \p V can be handed from lane to lane.
bool canTravel(const llvm::Value &V);

/// Values from outside of \p L that its code but for \p Of's chain needs, in
/// program order.
llvm::SmallVector<llvm::Value *> neededBy(const llvm::Loop &L,
                                          const Carried &Of);

} // namespace reconverge::remedies::share

#endif
