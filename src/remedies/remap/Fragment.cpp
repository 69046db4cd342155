//===- remedies/remap/Fragment.cpp - What one round can serve ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round sorts the block's threads by path, and a path may say more than which
// side of one branch comes next. What is known before the round can count:
//
//   X: if (a) A                 one tree: X and the branch right behind it,
//      else if (b) B else C     leaves A, B, C
//   ...
//   Z: if (c) D else E          a second tree, leaves D and E
//
//   path = leaf of the first tree * 2 + leaf of the second      (6 paths)
//
// 1. A branch is right behind another if it is the only way into its block; the
//    rest of that block does not matter.
// 2. Later branches are those on the way of post-dominators from X, in the same
//    loop, so that each round has one visit of theirs. The first one with a
//    condition that is not known yet ends the fragment: it wants a round of its
//    own, which mixes the later paths again.
//
// A condition is known if it is made of values that are there at X, in a few
// instructions that may run although the branch is not come to. They are run
// before the round and, frozen, decide the path; afterwards all of these
// branches go by the path.
//
// A branch on the same condition as an earlier one needs no tree of its own.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Fragment.h"

#include "remedies/remap/Legality.h"
#include "remedies/remap/Refusals.h"
#include "remedies/remap/State.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::remap {

static constexpr unsigned MaxEarly = 16, MaxCases = 64;

namespace {
class Fragment {
public:
  Fragment(RoundPlan &Plan, const Facts &Now, MayServe Behind)
      : Plan(Plan), Now(Now), Behind(Behind) {}
  bool addTree(BasicBlock &Root);
  bool sharesTree(BasicBlock &BB);
  void findObsolete();

private:
  bool isKnown(Value &V, SmallSetVector<Instruction *, 16> &Needs) const;
  bool isKnown(const BasicBlock &BB);
  int add(BasicBlock &BB, unsigned &Leaves, unsigned Rest);

  RoundPlan &Plan;
  const Facts &Now;
  MayServe Behind;
};
} // namespace

static Value &conditionOf(const BasicBlock &BB) {
  return *BB.getTerminator()->getOperand(0);
}

/// Collects in \p Needs what has to be computed early for \p V.
bool Fragment::isKnown(Value &V,
                       SmallSetVector<Instruction *, 16> &Needs) const {
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || Needs.contains(I) ||
      Now.Dominance.dominates(I->getParent(), Plan.Block))
    return true;
  const auto *Phi = dyn_cast<PHINode>(I);
  if (Phi ? Phi->getNumIncomingValues() != 1 : !isCheap(*I))
    return false;
  for (Value *Op : I->operands())
    if (!isKnown(*Op, Needs))
      return false;
  Needs.insert(I);
  return Needs.size() <= MaxEarly;
}

/// The condition of \p BB; if so, it will be computed early.
bool Fragment::isKnown(const BasicBlock &BB) {
  SmallSetVector<Instruction *, 16> Needs = Plan.Early;
  if (!isKnown(conditionOf(BB), Needs))
    return false;
  Plan.Early = std::move(Needs);
  return true;
}

static SmallSetVector<BasicBlock *, 8> waysOf(BasicBlock &BB) {
  SmallSetVector<BasicBlock *, 8> Ways;
  const auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator());
  for (BasicBlock *To : successors(&BB))
    if (!Switch || To != Switch->getDefaultDest() ||
        !isa<UnreachableInst>(To->getFirstNonPHIOrDbg()))
      Ways.insert(To);
  return Ways;
}

/// Adds \p BB, and what is right behind it, to Plan.Choices; -1 if it has too
/// many ways. Its leaves come after \p Leaves others, and \p Rest come later.
int Fragment::add(BasicBlock &BB, unsigned &Leaves, unsigned Rest) {
  const auto Ways = waysOf(BB);
  const auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator());
  if (Ways.size() < 2 || Leaves + Ways.size() + Rest > MaxLeaves ||
      (Switch && Switch->getNumCases() > MaxCases))
    return -1;
  const int Index = Plan.Choices.size();
  Plan.Choices.push_back({&BB, {}});
  Rest += Ways.size();
  for (BasicBlock *To : Ways) {
    --Rest;
    Way On{To, Leaves};
    if (To->getSinglePredecessor() == &BB && To != Plan.Block &&
        isCandidate(*To, Now) &&
        Now.Cycles.getCycle(To) == Now.Cycles.getCycle(Plan.Block) &&
        Behind(*To) && isKnown(*To))
      On.Inner = add(*To, Leaves, Rest);
    if (On.Inner < 0)
      ++Leaves;
    Plan.Choices[Index].Ways.push_back(On);
  }
  return Index;
}

bool Fragment::addTree(BasicBlock &Root) {
  unsigned Leaves = 0;
  if (&Root != Plan.Block && !isKnown(Root))
    return false;
  const int Index = add(Root, Leaves, 0);
  if (Index < 0)
    return false;
  Plan.Trees.push_back({unsigned(Index), Leaves});
  return true;
}

/// \p BB branches on the same as the root of a tree of two leaves, to which it
/// is added.
bool Fragment::sharesTree(BasicBlock &BB) {
  for (Tree &T : Plan.Trees) {
    const BasicBlock &Root = *Plan.Choices[T.Root].Block;
    if (T.Leaves != 2 || !isa<BranchInst>(BB.getTerminator()) ||
        !isa<BranchInst>(Root.getTerminator()) ||
        &conditionOf(BB) != &conditionOf(Root))
      continue;
    const Instruction &Term = *BB.getTerminator();
    Plan.Choices.push_back(
        {&BB, {{Term.getSuccessor(0), 0}, {Term.getSuccessor(1), 1}}});
    T.Also.push_back(Plan.Choices.size() - 1);
    return true;
  }
  return false;
}

void Fragment::findObsolete() {
  SmallPtrSet<const Instruction *, 8> Branches;
  SmallVector<const Value *, 8> Work;
  for (const Choice &C : Plan.Choices) {
    Branches.insert(C.Block->getTerminator());
    Work.push_back(&conditionOf(*C.Block));
  }
  while (!Work.empty()) {
    const auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (I && Plan.Early.contains(const_cast<Instruction *>(I)) &&
        all_of(I->users(),
               [&](const User *U) {
                 return Branches.contains(cast<Instruction>(U)) ||
                        Plan.Obsolete.contains(cast<Instruction>(U));
               }) &&
        Plan.Obsolete.insert(I).second)
      Work.append(I->op_begin(), I->op_end());
  }
  Plan.Obsolete.insert(Branches.begin(), Branches.end());
}

std::optional<Refusal> planFragment(RoundPlan &Plan, const Facts &Now,
                                    unsigned Paths, MayServe Behind,
                                    MayServe Later) {
  Fragment F(Plan, Now, Behind);
  if (!F.addTree(*Plan.Block))
    return refusal(refuse::Ways, *Plan.Block->getTerminator());
  const Cycle *Loop = Now.Cycles.getCycle(Plan.Block);
  for (const BasicBlock *At = Plan.Block;
       (At = Now.PostDominance.immediate(*At));) {
    auto &BB = const_cast<BasicBlock &>(*At);
    if (Now.Cycles.getCycle(At) != Loop || At == Plan.Block ||
        !Now.Dominance.dominates(Plan.Block, At))
      break;
    if (!isCandidate(*At, Now) || !Later(*At) || F.sharesTree(BB))
      continue;
    const RoundPlan Without = Plan;
    if (!F.addTree(BB))
      break;
    if (Plan.paths() > Paths) {
      Plan = Without;
      break;
    }
  }
  F.findObsolete();
  return std::nullopt;
}

} // namespace reconverge::remedies::remap
