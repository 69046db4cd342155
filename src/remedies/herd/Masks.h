//===- remedies/herd/Masks.h - Which lanes come to a block ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes of a warp that come to a block together: in the same round of each
// loop around it, because the program says so, and not because the hardware
// happened to have them converged.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_HERD_MASKS_H
#define RECONVERGE_REMEDIES_HERD_MASKS_H

#include "analysis/Uniformity.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

#include <optional>

namespace llvm {
class PHINode;
class Value;
} // namespace llvm

namespace reconverge::remedies::herd {

/// A block of its own in front of each loop and behind each way out, where what
/// the loop made is passed on: neither changes what \p F does.
void canonicalize(llvm::Function &F);

/// How the lanes of a block follow from those of another.
struct MaskRule {
  enum Kind {
    All,   ///< the kernel begins here
    Same,  ///< those of From
    Side,  ///< of those of From, who take the branch at its end to here
    Rounds ///< a loop's header: those of From, which comes before it, less who
           ///< has left since
  } How;
  llvm::BasicBlock *From = nullptr;
};

/// What is known of a kernel that nobody changes meanwhile, and of which loops
/// have something in front of them (canonicalize()).
class MaskRules {
public:
  explicit MaskRules(llvm::Function &F);

  /// Whether the lanes that come to \p BB can be told.
  bool known(llvm::BasicBlock &BB);
  /// Of a block that is known.
  MaskRule of(llvm::BasicBlock &BB) { return *Rules.lookup(&BB); }
  /// Whether the lanes of \p BB may part at its end.
  bool isDivided(const llvm::BasicBlock &BB) const {
    return Uniform.isDivergentBranch(BB);
  }
  /// Of the loop that begins at \p Header.
  llvm::BasicBlock *latchOf(const llvm::BasicBlock &Header) const {
    return Loops.getLoopFor(&Header)->getLoopLatch();
  }

private:
  std::optional<MaskRule> ruleOf(llvm::BasicBlock &BB);
  std::optional<MaskRule> ruleOfHeader(const llvm::Loop &L);
  std::optional<MaskRule> ruleBetween(llvm::BasicBlock &BB,
                                      llvm::BasicBlock *From,
                                      const llvm::Loop *Around);
  bool meets(const llvm::BasicBlock &From, const llvm::BasicBlock &At,
             const llvm::Loop *Around) const;
  bool keepsLanes(const llvm::Loop &L) const;

  llvm::DominatorTree Dominance;
  llvm::LoopInfo Loops;
  llvm::CycleInfo Cycles;
  analysis::UniformityResult Uniform;
  llvm::DenseMap<const llvm::BasicBlock *, std::optional<MaskRule>> Rules;
};

/// Writes masks into the kernel, by rules of it as it is when this begins.
/// Blocks are asked for in an order in which each follows those that dominate
/// it.
class Masks {
public:
  explicit Masks(llvm::Function &F);

  /// An i32 that is there from the beginning of \p BB, which is known, on.
  llvm::Value *at(llvm::BasicBlock &BB);
  /// Of those who come to \p BB, who finds the condition true of the branch at
  /// its end, which nobody changes before this is asked.
  llvm::Value *votesAt(llvm::BasicBlock &BB);
  /// Whoever comes to \p BB takes the same side from now on.
  void unite(const llvm::BasicBlock &BB) { United.insert(&BB); }
  /// Of \p Mask, which at() gave: how many lanes it has, and how many of them are
  /// still too few by \p Threshold of 32.
  llvm::Value *sizeOf(llvm::Value *Mask);
  llvm::Value *tooFewOf(llvm::Value *Mask, unsigned Threshold);
  /// What has been asked for is complete afterwards.
  void finish();

private:
  llvm::Value *allLanes();
  llvm::Value *sideOf(llvm::BasicBlock &From, const llvm::BasicBlock &To);

  llvm::Function &F;
  MaskRules Rules;
  llvm::DenseMap<const llvm::BasicBlock *, llvm::Value *> Known, Votes;
  llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *> IfTrue;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 4> United;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> Sizes;
  llvm::DenseMap<std::pair<const llvm::Value *, unsigned>, llvm::Value *>
      Bounds;
  llvm::SmallVector<std::pair<llvm::PHINode *, llvm::BasicBlock *>> Open;
};

} // namespace reconverge::remedies::herd

#endif
