//===- remedies/meld/Unshare.cpp - Arms out of shared code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two shapes without two arms that can be given them.
//
//      a        A decision of several branches, as && and || make it, comes to
//     / \       either of two blocks from several places. All these edges go to
//    b   |      a new block first, which knows by a PHI of type i1 where each
//   / \  |      lane is bound for, and branches on it: that has two arms.
//  l   r<+
//   \ /        Optimisers like to share what is the same at the end of both
//    j         sides of a branch. The second side gets a copy of its own, and
//              alignment finds the two again, with what comes before.
//
// Whoever calls this goes back (Backup) if nothing melds afterwards.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Simplify.h"
#include "remedies/meld/Structure.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <array>

using namespace llvm;

namespace reconverge::remedies::meld {

static BlockSet reachedBefore(BasicBlock &First, const BasicBlock &Join) {
  BlockSet Reached;
  Reached.insert(&First);
  for (unsigned At = 0; At != Reached.size(); ++At)
    for (BasicBlock *Succ : successors(Reached[At]))
      if (Succ != &Join)
        Reached.insert(Succ);
  return Reached;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Control comes to \p Arm's blocks through its first alone.
static bool isEnteredAtTop(const BlockSet &Arm) {
  return all_of(Arm, [&](BasicBlock *BB) {
    return all_of(predecessors(BB), [&](BasicBlock *Pred) {
      return Arm.contains(Pred) != (BB == Arm[0]);
    });
  });
}

/// The first block of the arm that ends in \p Tail: as high up as no path from
/// there comes to \p Other.
static BasicBlock &topOf(BasicBlock &Tail, BasicBlock &Other,
                         const BasicBlock &Branch, const BasicBlock &Join,
                         const DominatorTree &Tree) {
  BasicBlock *Top = &Tail;
  while (true) {
    auto *Up = Tree.getNode(Top)->getIDom();
    if (!Up || Up->getBlock() == &Branch)
      return *Top;
    const BlockSet Arm = reachedBefore(*Up->getBlock(), Join);
    if (Arm.contains(&Other) || !isEnteredAtTop(Arm))
      return *Top;
    Top = Up->getBlock();
  }
}

/// The arms behind \p Gather use values of the blocks of the decision, which
/// only some of the ways there pass: they get them through PHIs.
static void passOn(const BlockSet &Deciding, const BlockSet &Arms,
                   BasicBlock &Branch, BasicBlock &Gather) {
  for (BasicBlock *BB : Deciding)
    for (Instruction &I : *BB) {
      SmallVector<Use *, 8> Later;
      for (Use &U : I.uses()) {
        auto *User = cast<Instruction>(U.getUser());
        auto *Phi = dyn_cast<PHINode>(User);
        if (Arms.contains(Phi ? Phi->getIncomingBlock(U) : User->getParent()))
          Later.push_back(&U);
      }
      if (Later.empty())
        continue;
      SSAUpdater Updater;
      Updater.Initialize(I.getType(), I.getName());
      Updater.AddAvailableValue(&Branch, PoisonValue::get(I.getType()));
      Updater.AddAvailableValue(BB, &I);
      Value *V = Updater.GetValueInMiddleOfBlock(&Gather);
      for (Use *U : Later)
        U->set(V);
    }
}

BasicBlock *gatherDecision(BasicBlock &Branch, const BasicBlock &Join) {
  auto Inside = blocksBetween(Branch, Join);
  if (!Inside)
    return nullptr;
  SmallSetVector<BasicBlock *, 4> Tails;
  for (const BasicBlock *Pred : predecessors(&Join))
    if (auto *P = const_cast<BasicBlock *>(Pred); Inside->contains(P))
      Tails.insert(P);
    else if (P == &Branch)
      return nullptr;
  if (Tails.size() != 2)
    return nullptr;
  Function &F = *Branch.getParent();
  const DominatorTree Tree(F);
  const std::array<BasicBlock *, 2> Arm{
      &topOf(*Tails[0], *Tails[1], Branch, Join, Tree),
      &topOf(*Tails[1], *Tails[0], Branch, Join, Tree)};
  SmallSetVector<BasicBlock *, 8> From;
  BlockSet Deciding = *Inside, Arms;
  for (unsigned Side : {0u, 1u}) {
    const BlockSet Blocks = reachedBefore(*Arm[Side], Join);
    if (!isEnteredAtTop(Blocks) || Blocks.contains(Arm[1 - Side]))
      return nullptr;
    From.insert(pred_begin(Arm[Side]), pred_end(Arm[Side]));
    for (BasicBlock *BB : Blocks) {
      Deciding.remove(BB);
      Arms.insert(BB);
    }
  }
  for (BasicBlock *Pred : From)
    if (!isa<BranchInst>(Pred->getTerminator()))
      return nullptr;

  auto *Gather = BasicBlock::Create(F.getContext(), "meld.decided", &F, Arm[0]);
  auto *To =
      PHINode::Create(Type::getInt1Ty(F.getContext()), From.size(), "", Gather);
  // A PHI of an arm is one of the new block: poison for the other arm's lanes.
  SmallVector<std::pair<PHINode *, PHINode *>, 8> Moved;
  for (BasicBlock *First : Arm)
    for (PHINode &Phi : First->phis()) {
      auto *New =
          PHINode::Create(Phi.getType(), From.size(), Phi.getName(), Gather);
      New->setDebugLoc(Phi.getDebugLoc());
      for (BasicBlock *Pred : From) {
        const int At = Phi.getBasicBlockIndex(Pred);
        New->addIncoming(At < 0 ? PoisonValue::get(Phi.getType())
                                : Phi.getIncomingValue(At),
                         Pred);
      }
      Moved.push_back({&Phi, New});
    }
  for (BasicBlock *Pred : From) {
    auto &Br = *cast<BranchInst>(Pred->getTerminator());
    const bool Zero = is_contained(Arm, Br.getSuccessor(0));
    if (Br.isConditional() && Zero && is_contained(Arm, Br.getSuccessor(1))) {
      Value *Goes = Br.getCondition();
      if (Br.getSuccessor(0) != Arm[0]) {
        auto *Not = BinaryOperator::CreateNot(Goes, "", Br.getIterator());
        Not->setDebugLoc(Br.getDebugLoc());
        Goes = Not;
      }
      To->addIncoming(Goes, Pred);
      auto *Jump = BranchInst::Create(Gather, Br.getIterator());
      Jump->setDebugLoc(Br.getDebugLoc());
      Br.eraseFromParent();
      continue;
    }
    const unsigned At = Zero ? 0 : 1;
    To->addIncoming(
        ConstantInt::getBool(F.getContext(), Br.getSuccessor(At) == Arm[0]),
        Pred);
    Br.setSuccessor(At, Gather);
  }
  for (auto [Phi, New] : Moved) {
    Phi->replaceAllUsesWith(New);
    Phi->eraseFromParent();
  }
  const DebugLoc Where = Branch.getTerminator()->getDebugLoc();
  To->setDebugLoc(Where);
  BranchInst::Create(Arm[0], Arm[1], To, Gather)->setDebugLoc(Where);
  passOn(Deciding, Arms, Branch, *Gather);
  return Gather;
}

//===----------------------------------------------------------------------===//
// Shared tails
//===----------------------------------------------------------------------===//

/// More instructions than this are not copied.
static constexpr unsigned MaxShared = 500;

static bool mayCopy(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return !isa<AllocaInst>(I) && !I.getType()->isTokenTy() &&
         !isa<IndirectBrInst>(I) &&
         (!Call || !(Call->isConvergent() || Call->cannotDuplicate()));
}

bool unshareArms(BasicBlock &Branch, const BasicBlock &Join) {
  auto &Br = *cast<BranchInst>(Branch.getTerminator());
  const std::array<BlockSet, 2> Arms{reachedBefore(*Br.getSuccessor(0), Join),
                                     reachedBefore(*Br.getSuccessor(1), Join)};
  auto OnlySecond = [&](const BasicBlock *BB) {
    auto *B = const_cast<BasicBlock *>(BB);
    return Arms[1].contains(B) && !Arms[0].contains(B);
  };
  BlockSet Shared;
  unsigned Size = 0;
  for (BasicBlock *BB : Arms[1]) {
    if (!Arms[0].contains(BB))
      continue;
    Shared.insert(BB);
    Size += BB->size();
    for (const BasicBlock *Pred : predecessors(BB))
      if (auto *P = const_cast<BasicBlock *>(Pred);
          P != &Branch && !Arms[0].contains(P) && !Arms[1].contains(P))
        return false;
    if (!all_of(*BB, mayCopy))
      return false;
  }
  const bool FirstShared = Shared.contains(Br.getSuccessor(0)),
             SecondShared = Shared.contains(Br.getSuccessor(1));
  if (Shared.empty() || Size > MaxShared || Shared.contains(&Branch) ||
      (FirstShared && SecondShared))
    return false;

  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 8> Copies;
  for (BasicBlock *BB : Shared) {
    auto *Copy = CloneBasicBlock(BB, Map, ".meld", Branch.getParent());
    Map[BB] = Copy;
    Copies.push_back(Copy);
  }
  remapInstructionsInBlocks(Copies, Map);
  // Of a shared block's incoming edges, those of the second side alone go to
  // the copy: from its own blocks, from copies, from the branch's second edge.
  for (auto [BB, Copy] : zip(Shared, Copies)) {
    const bool AtBranch = BB == Br.getSuccessor(1);
    auto ToCopy = [&](const BasicBlock *Pred) {
      return OnlySecond(Pred) || (Pred == &Branch && AtBranch);
    };
    for (PHINode &Phi : BB->phis())
      for (unsigned I = Phi.getNumIncomingValues(); I--;)
        if (ToCopy(Phi.getIncomingBlock(I)))
          Phi.removeIncomingValue(I, /*DeletePHIIfEmpty=*/false);
    for (PHINode &Phi : Copy->phis())
      for (unsigned I = Phi.getNumIncomingValues(); I--;)
        if (BasicBlock *Pred = Phi.getIncomingBlock(I);
            !is_contained(Copies, Pred) && !ToCopy(Pred))
          Phi.removeIncomingValue(I, /*DeletePHIIfEmpty=*/false);
    for (BasicBlock *Succ : successors(Copy))
      if (Succ == &Join)
        for (PHINode &Phi : Succ->phis()) {
          Value *V = Phi.getIncomingValueForBlock(BB), *Mapped = Map.lookup(V);
          Phi.addIncoming(Mapped ? Mapped : V, Copy);
        }
  }
  for (BasicBlock *BB : Arms[1])
    if (OnlySecond(BB))
      for (auto [Old, New] : zip(Shared, Copies))
        BB->getTerminator()->replaceSuccessorWith(Old, New);
  if (SecondShared)
    Br.setSuccessor(1, cast<BasicBlock>(Map.lookup(Br.getSuccessor(1))));
  return true;
}

} // namespace reconverge::remedies::meld
