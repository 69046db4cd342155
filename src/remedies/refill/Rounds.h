//===- remedies/refill/Rounds.h - Where a warp meets ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_ROUNDS_H
#define RECONVERGE_REMEDIES_REFILL_ROUNDS_H

#include "remedies/refill/Options.h"

namespace llvm {
class AllocaInst;
class BasicBlock;
class Function;
class IRBuilderBase;
class Value;
} // namespace llvm

namespace reconverge::remedies::refill {

struct LoopShape;
class Slots;

/// The blocks in which a warp meets (the picture in Rewrite.cpp).
class Rounds {
public:
  /// Of a lane. One that waits at exit number n is in state Waits + n.
  enum State : unsigned { Runs, Wants, Dead, Waits };

  /// \p First: number of the first parameter of ours. \p Flat: blocks are
  /// launched in one dimension.
  Rounds(llvm::Function &F, llvm::BasicBlock &Entry, unsigned First,
         const RefillOptions &Options, Slots &Values, bool Flat);

  /// Writes them all, from the end of the entry on. \p Item gets the item with
  /// which a lane comes to \p Prologue.
  void write(const LoopShape &L, llvm::BasicBlock &Prologue,
             llvm::AllocaInst *Item);
  void setState(llvm::IRBuilderBase &B, unsigned To) const;
  /// Ends the edge of a lane that has made a round and begins another: to the
  /// vote, or as many times as it may to \p Header.
  void goRound(llvm::IRBuilderBase &B, llvm::BasicBlock *Header) const;

  llvm::BasicBlock *Go, *Ran, *Refill, *Leave, *Fetch, *Hand, *Refilled, *Done;

private:
  void writeEntry();
  void meetAt(llvm::BasicBlock *From);
  void writeMeetings(const LoopShape &L);
  void writeLeave(const LoopShape &L);
  void writeFetch(llvm::BasicBlock &Prologue, llvm::AllocaInst *Item);
  void writeNextSlice(llvm::IRBuilderBase &B, llvm::Value *Wanting,
                      llvm::Value *Left);
  llvm::Value *countSlice(llvm::IRBuilderBase &B);
  /// Items of a slice: from the first of them up to, and without, the last.
  struct Range {
    llvm::Value *From, *To; ///< i32
  };
  Range rangeOf(llvm::IRBuilderBase &B, llvm::Value *Number);
  llvm::Value *ownSlice(llvm::IRBuilderBase &B);
  /// Of a block, and the number of this one in its block: i32.
  llvm::Value *warpsOfBlock(llvm::IRBuilderBase &B) const;
  llvm::Value *warpOfBlock(llvm::IRBuilderBase &B) const;
  llvm::Value *load(llvm::IRBuilderBase &B, llvm::AllocaInst *Slot) const;
  llvm::Value *stateIs(llvm::IRBuilderBase &B, unsigned Which) const;

  llvm::Function &F;
  llvm::BasicBlock &Entry;
  const unsigned FirstOurs;
  const RefillOptions &Options;
  const bool Flat;
  /// Of a lane; then, of the warp: the next item; with a counter, the number of
  /// the slice; how many lanes may run at most when it refills.
  llvm::AllocaInst *LaneState, *Next, *Slice = nullptr, *Limit;
  /// Of a lane: rounds up to the vote.
  llvm::AllocaInst *Left = nullptr;
};

} // namespace reconverge::remedies::refill

#endif
