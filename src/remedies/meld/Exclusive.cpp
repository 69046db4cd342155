//===- remedies/meld/Exclusive.cpp - Two one-sided ifs as two arms -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `if (x < 0) A; ...; if (x > 0) B;`: no lane runs both A and B, so they can be
// the arms of one branch.
//
//     branch x<0         ... moves up       What stands between the two is run
//     |     \            branch x<0         by all lanes. It moves up over A,
//     |      A           |      \           so it must not need what A makes,
//     |     /            |       A          and no access of either may notice.
//    middle ...    ->    middle   |
//     |  x>0             |  x>0   |         Where one condition is the other's
//     |     \            |    \   |         negation, the lower branch is no
//     |      B           |     B  |         choice any more. Otherwise B stays
//     |     /            |    /   |         under it, in an arm of the upper
//     join               join <--+          one: a block against a region.
//
// A PHI of the middle joins what A made with what lanes have that passed A by;
// B's lanes are among those. Later uses get the PHIs that SSAUpdater finds.
//
// Limitation: the same condition must decide both in a way that can be seen
// from the two comparisons alone (isImpliedCondition).
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Exclusive.h"

#include "remedies/meld/Legality.h"
#include "remedies/meld/Matching.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace reconverge::remedies::meld {

namespace {
/// `if (Condition == Taken) Blocks;`
struct OneSided {
  Value *Condition = nullptr;
  bool Taken = false;
  BlockSet Blocks;
  BasicBlock *Join = nullptr;
};
} // namespace

static std::optional<OneSided>
oneSidedAt(const BasicBlock &BB, const analysis::PostDominance &Dominance) {
  const auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
  const BasicBlock *Join = Dominance.immediate(BB);
  if (!Br || !Br->isConditional() || Br->getMetadata(GuardKind) || !Join ||
      Br->getSuccessor(0) == Br->getSuccessor(1) ||
      (Br->getSuccessor(0) != Join && Br->getSuccessor(1) != Join))
    return std::nullopt;
  auto Blocks = blocksBetween(BB, *Join);
  if (!Blocks)
    return std::nullopt;
  OneSided If{Br->getCondition(), Br->getSuccessor(0) != Join,
              std::move(*Blocks), const_cast<BasicBlock *>(Join)};
  if (Value *Plain = withoutNot(*If.Condition)) {
    If.Condition = Plain;
    If.Taken = !If.Taken;
  }
  return If;
}

/// What \p Second does if \p First is taken, or if it is not; nothing where
/// that is not known.
static std::optional<bool> secondIsTaken(const OneSided &First, bool FirstTaken,
                                         const OneSided &Second) {
  auto Holds = isImpliedCondition(First.Condition, Second.Condition,
                                  First.Join->getDataLayout(),
                                  First.Taken == FirstTaken);
  if (!Holds)
    return std::nullopt;
  return *Holds == Second.Taken;
}

/// \p I, which all lanes run after \p Blocks, may as well run before them.
static bool mayMoveUp(const Instruction &I, bool BlocksReadOnly) {
  for (const Value *V : I.operands())
    if (const auto *Phi = dyn_cast<PHINode>(V);
        Phi && Phi->getParent() == I.getParent())
      return false;
  const auto *Load = dyn_cast<LoadInst>(&I);
  return isHarmless(I) || (Load && Load->isUnordered() && BlocksReadOnly);
}

std::optional<ExclusiveIfs>
findExclusiveIfs(BasicBlock &Branch, const analysis::PostDominance &Dominance) {
  auto First = oneSidedAt(Branch, Dominance);
  if (!First)
    return std::nullopt;
  auto Second = oneSidedAt(*First->Join, Dominance);
  if (!Second || secondIsTaken(*First, true, *Second) != false)
    return std::nullopt;

  ExclusiveIfs Found;
  Found.Branch = &Branch;
  Found.Middle = First->Join;
  Found.Join = Second->Join;
  Found.Complete = secondIsTaken(*First, false, *Second) == true;
  Found.SecondTaken =
      cast<BranchInst>(Found.Middle->getTerminator())->getSuccessor(0) !=
      Second->Join;
  for (BasicBlock *Pred : predecessors(Found.Middle)) {
    if (Pred == &Branch)
      continue;
    if (Found.FirstEnd || !First->Blocks.contains(Pred) ||
        !Pred->getSingleSuccessor())
      return std::nullopt;
    Found.FirstEnd = Pred;
  }
  const bool ReadOnly = all_of(First->Blocks, [](const BasicBlock *BB) {
    return all_of(*BB, [](const Instruction &I) {
      return !I.mayWriteToMemory() &&
             isGuaranteedToTransferExecutionToSuccessor(&I);
    });
  });
  for (const Instruction &I : *Found.Middle) {
    if (const auto *Phi = dyn_cast<PHINode>(&I)) {
      // Of an earlier round of a loop around all this.
      if (any_of(Phi->incoming_values(), [&](const Value *V) {
            const auto *From = dyn_cast<PHINode>(V);
            return From && From->getParent() == Found.Middle;
          }))
        return std::nullopt;
    } else if (!I.isTerminator() && !I.isDebugOrPseudoInst() &&
               !mayMoveUp(I, ReadOnly)) {
      return std::nullopt;
    }
  }
  const auto *Decides = dyn_cast<PHINode>(
      cast<BranchInst>(Found.Middle->getTerminator())->getCondition());
  if (!Found.FirstEnd || (Decides && Decides->getParent() == Found.Middle))
    return std::nullopt;
  return Found;
}

void makeTwoArms(const ExclusiveIfs &Ifs) {
  for (Instruction &I : make_early_inc_range(*Ifs.Middle))
    if (!isa<PHINode>(I) && !I.isTerminator())
      I.moveBefore(Ifs.Branch->getTerminator());

  for (PHINode &Phi : Ifs.Join->phis()) {
    Value *V = Phi.getIncomingValueForBlock(Ifs.Middle);
    auto *Of = dyn_cast<PHINode>(V);
    Phi.addIncoming(Of && Of->getParent() == Ifs.Middle
                        ? Of->getIncomingValueForBlock(Ifs.FirstEnd)
                        : V,
                    Ifs.FirstEnd);
  }
  Ifs.FirstEnd->getTerminator()->replaceSuccessorWith(Ifs.Middle, Ifs.Join);

  for (PHINode &Phi : make_early_inc_range(Ifs.Middle->phis())) {
    SSAUpdater Updater;
    Updater.Initialize(Phi.getType(), Phi.getName());
    Updater.AddAvailableValue(Ifs.FirstEnd,
                              Phi.getIncomingValueForBlock(Ifs.FirstEnd));
    Updater.AddAvailableValue(Ifs.Middle,
                              Phi.getIncomingValueForBlock(Ifs.Branch));
    for (Use &U : make_early_inc_range(Phi.uses()))
      Updater.RewriteUse(U);
    Phi.eraseFromParent();
  }
  if (Ifs.Complete)
    cast<BranchInst>(Ifs.Middle->getTerminator())
        ->setCondition(
            ConstantInt::getBool(Ifs.Branch->getContext(), Ifs.SecondTaken));
}

} // namespace reconverge::remedies::meld
