//===- remedies/regroup/Points.h - What a key is noted of -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_POINTS_H
#define RECONVERGE_REMEDIES_REGROUP_POINTS_H

#include "remedies/common/Features.h"
#include "remedies/regroup/Slice.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class AllocaInst;
class Instruction;
class Loop;
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Has a kernel note, in stack memory, what a key is of.
class Points {
public:
  /// \p Marked: features are those that the source names.
  Points(llvm::Function &F, const Key &Of, bool Marked);

  /// Puts the notes in; a refusal if there is no such branch or load.
  std::optional<Refusal> note();

  /// Whether a place is noted beside the class.
  bool hasPlace() const { return Line || hasEstimate(); }
  unsigned classBits() const;
  /// Below 2^classBits(): u32. \p Item: the thread's number.
  llvm::Value *classOf(llvm::IRBuilderBase &B, llvm::Value *Item) const;
  /// Sector of the gather, modulo 2^32, 0: none; or of the estimate.
  llvm::Value *lineOf(llvm::IRBuilderBase &B, llvm::Value *Item) const;
  /// Where a thread has noted all; null: nowhere but at its end.
  llvm::Instruction *lastNeeded() const;

private:
  struct Point {
    llvm::AllocaInst *Slot;
    unsigned Bits;
    bool Counts; ///< else the side
  };
  void noteBranch(uint32_t Number, llvm::LoopInfo &Loops,
                  llvm::ScalarEvolution &Rounds);
  void noteRounds(llvm::AllocaInst &Slot, llvm::Loop &L,
                  llvm::ScalarEvolution &Rounds);
  void noteGather(uint32_t Number);
  bool hasEstimate() const { return IsNoted && !Of.Estimate.empty(); }
  bool hasPrediction() const { return IsNoted && Of.hasPrediction(); }
  bool classIsEstimate() const {
    return hasEstimate() && All.empty() && !hasPrediction();
  }
  unsigned predictedBits() const;
  llvm::Value *predicted(llvm::IRBuilderBase &B, llvm::Value *Item) const;
  llvm::Value *estimate(llvm::IRBuilderBase &B, llvm::Value *Item) const;

  llvm::Function &F;
  const Key &Of;
  std::vector<Point> All;
  llvm::SmallVector<llvm::Instruction *> Noting; ///< stores to slots
  llvm::AllocaInst *Line = nullptr;
  llvm::Instruction *LineNoted = nullptr;
  llvm::SmallVector<uint32_t, 4>
      Loads; ///< of the estimate, then of the tree or net
  FeatureNotes Features;
  bool IsNoted = false; ///< all of it is
};

} // namespace reconverge::remedies::regroup

#endif
