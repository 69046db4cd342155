//===- frontend/Choices.h - Branches or selects -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_CHOICES_H
#define RECONVERGE_FRONTEND_CHOICES_H

namespace llvm {
class Function;
class TargetTransformInfo;
} // namespace llvm

namespace reconverge::frontend {

/// Makes selects of branches whose arms cost next to nothing.
void chooseBySelect(llvm::Function &F);

/// Takes a choice out of what a branch on the same condition settles.
void settleOnWays(llvm::Function &F);

/// Branches around divisions and roots that a select may throw away.
void branchAroundCostly(llvm::Function &F);

} // namespace reconverge::frontend

#endif
