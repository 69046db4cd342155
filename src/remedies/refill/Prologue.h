//===- remedies/refill/Prologue.h - What an item begins with ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_PROLOGUE_H
#define RECONVERGE_REMEDIES_REFILL_PROLOGUE_H

#include "remedies/common/Items.h"

namespace reconverge::remedies::refill {

/// As becomeItem(), of an i32; where a launch of one dimension numbers its
/// threads as it is usual, by no division.
void becomeItemInOrder(ItemsPlan Plan, llvm::Value *Item,
                       const LaunchValues &Of, llvm::IRBuilderBase &B);

/// At \p B, of the first \p OfProgram parameters: those that are passed by value
/// and that the kernel may write are copied, so that each item has its own.
void copyArguments(llvm::Function &F, unsigned OfProgram,
                   llvm::IRBuilderBase &B);

} // namespace reconverge::remedies::refill

#endif
