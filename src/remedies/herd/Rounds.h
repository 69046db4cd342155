//===- remedies/herd/Rounds.h - Votes in loops ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_ROUNDS_H
#define RECONVERGE_REMEDIES_HERD_ROUNDS_H

#include "remedies/herd/Legality.h"

#include "llvm/IR/ValueHandle.h"

namespace reconverge::remedies::herd {

class DroppedLanes;

/// Has the lanes \p Mask (i32), of which \p Few are too few, which enter the loop
/// of \p Point together, vote in it. Loops inside it come first. Leaves phis
/// without use. \p Ways: the branches by which this loop and others are left and
/// herded; null: gone. Those who leave early are \p Dropped, if that is not null.
void herdLoop(const HerdPoint &Point, llvm::Value *Mask, llvm::Value *Few,
              llvm::Function &F, llvm::ArrayRef<llvm::WeakVH> Ways,
              DroppedLanes *Dropped = nullptr);

} // namespace reconverge::remedies::herd

#endif
