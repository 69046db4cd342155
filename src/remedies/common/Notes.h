//===- remedies/common/Notes.h - What a slice notes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes are in slots, stack memory of the kernel's copy, which SROA makes values
// of.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_NOTES_H
#define RECONVERGE_REMEDIES_COMMON_NOTES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class AllocaInst;
class Loop;
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace reconverge::remedies {

/// The innermost loop that branch \p BB leaves; null: it leaves none.
llvm::Loop *loopLeftBy(const llvm::BasicBlock &BB, const llvm::LoopInfo &Loops);

/// A slot of \p F, 0 at first, of type \p T.
llvm::AllocaInst *makeSlot(llvm::Function &F, llvm::Type *T,
                           const llvm::Twine &Name);
/// Adds \p More to \p Slot.
llvm::StoreInst *addTo(llvm::IRBuilderBase &B, llvm::AllocaInst &Slot,
                       llvm::Value *More);

/// Behind one of \p Ends from which none of the others is reachable, nor any of
/// \p Others: there a thread has noted all, of that one its first execution. Null:
/// there is none.
llvm::Instruction *behindAll(llvm::ArrayRef<llvm::Instruction *> Ends,
                             llvm::ArrayRef<llvm::Instruction *> Others = {});

/// Different successors, in order.
llvm::SmallVector<const llvm::BasicBlock *>
sidesOf(const llvm::Instruction &Branch);
/// The side that \p Branch takes: u32.
llvm::Value *sideOf(llvm::IRBuilderBase &B, llvm::Instruction &Branch);

/// Calls \p Add where \p L, in its simple form, has made so many rounds more
/// (u32): once in front of it, of the number of times that it goes back, where
/// SCEV knows that; else in its header, of one.
void forRounds(
    llvm::Loop &L, llvm::ScalarEvolution &Rounds,
    llvm::function_ref<void(llvm::IRBuilderBase &B, llvm::Value *More)> Add);

/// Updates \p At (u32) to the greatest of it and \p To; most threads only look.
void raise(llvm::IRBuilder<> &B, llvm::Value *At, llvm::Value *To);

} // namespace reconverge::remedies

#endif
