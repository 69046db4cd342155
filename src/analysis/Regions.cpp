//===- analysis/Regions.cpp - The code that a branch controls -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that a branch parted meet at its immediate post-dominator at the
// latest; what they run up to there is the branch's region. `unreachable` (the
// default of a switch, a failed assertion) would ruin this: seen as an exit, it
// makes the end of the function the only place where all paths meet.
//
//      B                     B is an If with post-dominator J although A may
//     / \                    trap: paths that do not return are not counted.
//    A   \                   The region of B is {A, T}.
//   / \   \
//  T   '-> J -> return       T ends in unreachable
//
//   1. Number the blocks from which a return can be reached, walking backwards
//      from all returns at once (a virtual exit holds them together).
//   2. Solve immediate dominators of the reversed graph by iteration to a fixed
//      point: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm".
//   3. The region is what a walk from the branch's successors finds before it
//      meets the post-dominator.
//
// Kinds: Switch is one by its instruction. LoopExit: some successors stay in a
// cycle around the branch and some leave it. If: one side is empty, meaning
// that it goes to the post-dominator or to a return through blocks without
// machine instructions, or does not return. IfElse: neither is.
//
//===----------------------------------------------------------------------===//

#include "analysis/Regions.h"
#include "analysis/Costs.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::analysis {

static constexpr unsigned Unknown = ~0u;

PostDominance::PostDominance(const Function &F) {
  SmallVector<const BasicBlock *, 4> Returns, Traps;
  for (const BasicBlock &BB : F) {
    const Instruction *Term = BB.getTerminator();
    if (isa<ReturnInst>(Term))
      Returns.push_back(&BB);
    else if (succ_empty(&BB))
      Traps.push_back(&BB);
  }
  number(Returns.empty() ? Traps : Returns);
  solve();
}

void PostDominance::number(ArrayRef<const BasicBlock *> Ends) {
  SmallPtrSet<const BasicBlock *, 32> Seen;
  struct Frame {
    const BasicBlock *BB;
    const_pred_iterator Next, End;
  };
  SmallVector<Frame, 16> Stack;
  auto Enter = [&](const BasicBlock *BB) {
    if (Seen.insert(BB).second)
      Stack.push_back({BB, pred_begin(BB), pred_end(BB)});
  };
  for (const BasicBlock *End : Ends) {
    Enter(End);
    while (!Stack.empty()) {
      Frame &Top = Stack.back();
      if (Top.Next != Top.End) {
        Enter(*Top.Next++); // may move the frames: Top is not used again
        continue;
      }
      Index[Top.BB] = Order.size();
      Order.push_back(Top.BB);
      Stack.pop_back();
    }
  }
  Order.push_back(nullptr); // the virtual exit
  IsEnd.assign(Order.size(), false);
  for (const BasicBlock *End : Ends)
    IsEnd[Index.lookup(End)] = true;
}

void PostDominance::solve() {
  unsigned Exit = Order.size() - 1;
  Immediate.assign(Order.size(), Unknown);
  Immediate[Exit] = Exit;
  auto Meet = [&](unsigned A, unsigned B) {
    while (A != B) {
      while (A < B)
        A = Immediate[A];
      while (B < A)
        B = Immediate[B];
    }
    return A;
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned I = Exit; I-- > 0;) {
      unsigned New = IsEnd[I] ? Exit : Unknown;
      for (const BasicBlock *Succ : successors(Order[I])) {
        auto Found = Index.find(Succ);
        if (Found == Index.end() || Immediate[Found->second] == Unknown)
          continue;
        New = New == Unknown ? Found->second : Meet(New, Found->second);
      }
      if (New != Immediate[I]) {
        Immediate[I] = New;
        Changed = true;
      }
    }
  }
}

const BasicBlock *PostDominance::immediate(const BasicBlock &BB) const {
  auto Found = Index.find(&BB);
  return Found == Index.end() ? nullptr : Order[Immediate[Found->second]];
}

/// Follows blocks without machine instructions from \p BB: the first block
/// that has some, or that is \p Stop.
static const BasicBlock *skipEmpty(const BasicBlock *BB,
                                   const BasicBlock *Stop) {
  SmallPtrSet<const BasicBlock *, 8> Seen;
  while (BB != Stop && Seen.insert(BB).second) {
    const BasicBlock *Next = BB->getSingleSuccessor();
    if (!Next || any_of(*BB, countsAsInstruction))
      break;
    BB = Next;
  }
  return BB;
}

/// \p BB does nothing but return.
static bool onlyReturns(const BasicBlock &BB) {
  return isa<ReturnInst>(BB.getTerminator()) &&
         none_of(BB, [](const Instruction &I) {
           return !I.isTerminator() && countsAsInstruction(I);
         });
}

static BranchKind kindOf(const BasicBlock &Branch, const BranchRegion &Region,
                         const PostDominance &Dominance,
                         const CycleInfo &Cycles) {
  if (isa<SwitchInst>(Branch.getTerminator()))
    return BranchKind::Switch;
  SmallVector<const BasicBlock *, 4> Sides;
  for (const BasicBlock *Succ : successors(&Branch))
    if (Dominance.returns(*Succ) || !Dominance.returns(Branch))
      Sides.push_back(Succ);
  for (const Cycle *C = Cycles.getCycle(&Branch); C; C = C->getParentCycle()) {
    auto Inside = count_if(Sides, [&](auto *BB) { return C->contains(BB); });
    if (Inside > 0 && Inside < std::ptrdiff_t(Sides.size()))
      return BranchKind::LoopExit;
  }
  for (const BasicBlock *Succ : successors(&Branch)) {
    const BasicBlock *To = skipEmpty(Succ, Region.PostDominator);
    if (To == Region.PostDominator || !Dominance.returns(*Succ) ||
        onlyReturns(*To))
      return BranchKind::If;
  }
  return BranchKind::IfElse;
}

BranchRegion regionOf(const BasicBlock &Branch, const PostDominance &Dominance,
                      const CycleInfo &Cycles) {
  BranchRegion Region;
  Region.PostDominator = Dominance.immediate(Branch);
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work;
  auto Reach = [&](const BasicBlock *From) {
    for (const BasicBlock *Succ : successors(From))
      if (Succ != Region.PostDominator && Seen.insert(Succ).second)
        Work.push_back(Succ);
  };
  Reach(&Branch);
  while (!Work.empty())
    Reach(Work.pop_back_val());
  for (const BasicBlock &BB : *Branch.getParent())
    if (Seen.contains(&BB))
      Region.Blocks.push_back(&BB);

  for (const BasicBlock *Succ : successors(&Branch))
    Region.LeavesFunction |= onlyReturns(*skipEmpty(Succ, nullptr));
  Region.Kind = kindOf(Branch, Region, Dominance, Cycles);
  return Region;
}

} // namespace reconverge::analysis
