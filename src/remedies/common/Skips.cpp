//===- remedies/common/Skips.cpp - Rounds that skip some work -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   header <------+            again <----------------+
//     |           |              |                    |
//   branch        |            header <----+          |
//     |   \       |              |         |          |
//     |   work    |      ->    branch ---- | --> work |
//     |   /       |              |         |      |   |
//    tail --------+            tail -------+     tail'
//
// In each round a warp does the work if one of its lanes has to, and the others
// wait. After this the rounds without work are a loop of their own, which a lane
// leaves to work: at different times, so that it can be refilled, or flattened
// with the loop around it, like any other, and lanes work when many have to.
//
//   1. What can be come to in the loop, from one side of the branch and from the
//      other, and not by way of the header. What both come to is the tail, and
//      so is what others come to that pass the branch by.
//   2. Work is the side that has more code of its own, that of inner loops
//      counted eight times. A round of the other side has to come back.
//   3. Who comes from the work gets a copy of the tail.
//   4. Phis of rounds without work that are one value are that value.
//
// Why right: only where blocks lie is changed. What can be come to from the tail
// in the same round is in the tail. So a value of the tail is used in it, in the
// header's phis or, by phis, behind the loop, and these get one more edge; and
// what the tail uses of the round, but in phis, was made before the branch.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Skips.h"

#include "remedies/common/Loops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace reconverge::remedies {

using Blocks = SmallSetVector<BasicBlock *, 16>;

/// What can be come to from \p From in \p L without passing the header.
static Blocks blocksFrom(BasicBlock *From, const Loop &L) {
  Blocks Found;
  auto Add = [&](BasicBlock *BB) {
    if (BB != L.getHeader() && L.contains(BB))
      Found.insert(BB);
  };
  Add(From);
  for (size_t I = 0; I != Found.size(); ++I)
    for (BasicBlock *To : successors(Found[I]))
      Add(To);
  return Found;
}

static bool leadsTo(const Blocks &From, const BasicBlock *To) {
  return any_of(
      From, [&](BasicBlock *BB) { return is_contained(successors(BB), To); });
}

namespace {
/// A round from one side of a branch on.
struct Side {
  Side(BasicBlock *Work, BasicBlock *Other, const Loop &L,
       const DominatorTree &Dominance) {
    const Blocks Others = blocksFrom(Other, L);
    for (BasicBlock *BB : blocksFrom(Work, L))
      (Others.contains(BB) || !Dominance.dominates(Work, BB) ? Tail : Own)
          .insert(BB);
  }
  Blocks Own, Tail; ///< on this side alone; on both
};
} // namespace

static uint64_t weightOf(const Blocks &All, const LoopInfo &Loops) {
  uint64_t Sum = 0;
  for (const BasicBlock *BB : All)
    Sum += BB->size() << 3 * std::min(Loops.getLoopDepth(BB), 10u);
  return Sum;
}

/// What \p Branch, the end of a block, skips in its innermost loop.
static Skip findSkip(BasicBlock &Branch, const LoopInfo &Loops,
                     const DominatorTree &Dominance) {
  const Loop *L = Loops.getLoopFor(&Branch);
  const auto *Ends = dyn_cast<BranchInst>(Branch.getTerminator());
  if (!L || !Ends || !Ends->isConditional())
    return {};
  BasicBlock *Work = Ends->getSuccessor(0), *Other = Ends->getSuccessor(1);
  if (Work == Other || !L->contains(Work) || !L->contains(Other))
    return {};
  uint64_t Weight = weightOf(Side(Work, Other, *L, Dominance).Own, Loops),
           Less = weightOf(Side(Other, Work, *L, Dominance).Own, Loops);
  if (Weight < Less) {
    std::swap(Work, Other);
    std::swap(Weight, Less);
  }
  const bool Alone = Side(Work, Other, *L, Dominance).Own.contains(Work) &&
                     Work->getSinglePredecessor() == &Branch;
  const Blocks Back = blocksFrom(Other, *L);
  // IsAround: there is a way back to the branch beside the header.
  const bool Returns = Other == L->getHeader() || leadsTo(Back, L->getHeader()),
             IsAround = Back.contains(&Branch) ||
                        blocksFrom(Work, *L).contains(&Branch);
  return Alone && Returns && !IsAround ? Skip{Work, Other, Weight} : Skip{};
}

Skip skipAt(uint32_t Number, Function &F, const LoopInfo &Loops,
            const DominatorTree &Dominance,
            const analysis::UniformityResult &Known) {
  BasicBlock *BB = blockOfBranch(Number, F);
  return BB && Known.isDivergentBranch(*BB) ? findSkip(*BB, Loops, Dominance)
                                            : Skip{};
}

Skip heaviestSkip(const Loop &L, const LoopInfo &Loops,
                  const DominatorTree &Dominance,
                  const analysis::UniformityResult &Known) {
  Skip Heaviest;
  for (BasicBlock *BB : L.blocks())
    if (Loops.getLoopFor(BB) == &L && Known.isDivergentBranch(*BB))
      if (const Skip Here = findSkip(*BB, Loops, Dominance);
          Here.Weight > Heaviest.Weight)
        Heaviest = Here;
  return Heaviest;
}

/// Of the blocks that both sides come to, copies for those who come from \p Of.
static void copyTail(const Side &Of) {
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *BB : Of.Tail) {
    BasicBlock *Copy = CloneBasicBlock(BB, Map, ".worked", BB->getParent());
    Map[BB] = Copy;
    Copies.push_back(Copy);
  }
  remapInstructionsInBlocks(Copies, Map);
  for (BasicBlock *BB : Of.Tail)
    for (BasicBlock *To :
         SmallSetVector<BasicBlock *, 4>(succ_begin(BB), succ_end(BB)))
      if (!Of.Tail.contains(To))
        for (PHINode &Phi : To->phis())
          for (unsigned I = 0, E = Phi.getNumIncomingValues(); I != E; ++I)
            if (Phi.getIncomingBlock(I) == BB) {
              Value *Out = Phi.getIncomingValue(I), *Copy = Map.lookup(Out);
              Phi.addIncoming(Copy ? Copy : Out, cast<BasicBlock>(Map[BB]));
            }
  for (BasicBlock *BB : Of.Tail) {
    auto *Copy = cast<BasicBlock>(Map[BB]);
    const SmallSetVector<BasicBlock *, 8> Before(pred_begin(BB), pred_end(BB));
    for (BasicBlock *From : Before) {
      if (Of.Tail.contains(From) || is_contained(Copies, From))
        continue;
      const bool Works = Of.Own.contains(From);
      for (PHINode &Phi : (Works ? BB : Copy)->phis())
        Phi.removeIncomingValueIf(
            [&](unsigned I) { return Phi.getIncomingBlock(I) == From; },
            /*DeletePHIIfEmpty=*/false);
      if (Works)
        From->getTerminator()->replaceSuccessorWith(BB, Copy);
    }
  }
}

/// What the work alone changes is the same in all rounds without it.
static void dropCopies(ArrayRef<BasicBlock *> Rounds) {
  for (bool Found = true; Found;) {
    Found = false;
    for (BasicBlock *BB : Rounds)
      for (PHINode &Phi : make_early_inc_range(BB->phis()))
        if (Value *Same = Phi.hasConstantValue()) {
          Phi.replaceAllUsesWith(Same);
          Phi.eraseFromParent();
          Found = true;
        }
  }
}

void separateSkips(const Skip &From, BasicBlock &Header) {
  DominatorTree Dominance(*Header.getParent());
  LoopInfo Loops(Dominance);
  Loop *L = Loops.getLoopFor(&Header);
  assert(L && L->getHeader() == &Header && "the plan's loop is still one");
  formLCSSARecursively(*L, Dominance, &Loops, nullptr);
  const Side Of(From.Work, From.Other, *L, Dominance);
  SmallSetVector<BasicBlock *, 8> Inner;
  for (BasicBlock *BB : predecessors(&Header))
    if (L->contains(BB) && !Of.Own.contains(BB))
      Inner.insert(BB);
  copyTail(Of);
  Blocks Outer;
  for (BasicBlock *BB : predecessors(&Header))
    if (!Inner.contains(BB))
      Outer.insert(BB);
  SplitBlockPredecessors(&Header, Outer.getArrayRef(), ".again");
  SmallVector<BasicBlock *> Rounds;
  for (BasicBlock *BB : L->blocks())
    if (!Of.Own.contains(BB))
      Rounds.push_back(BB);
  dropCopies(Rounds);
}

} // namespace reconverge::remedies
