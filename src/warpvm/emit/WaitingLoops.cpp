//===- warpvm/emit/WaitingLoops.cpp - Loops in which lanes may wait -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a loop, lanes may wait for others if whether it is left depends on an
// access that is atomic, volatile or the like; or on a plain load, where the
// loop has a fence or a pause: a compiler need not look again at what it has
// loaded, so that a program which waits that way puts one there. Code that was
// not optimised looks again all the same: there, a plain load of one address
// counts if the loop writes nothing but the thread's own memory. A walk through
// a list is neither, and stays fast. Or the loop has no way out. Loops with a
// barrier pass the scheduler anyway, and have their turns there (Block::run).
//
//===----------------------------------------------------------------------===//

#include "analysis/Sources.h"
#include "warpvm/emit/Regions.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/DeviceIntrinsics.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

bool dependsOnOthers(const Instruction &I) {
  if (I.isAtomic() || I.isVolatile())
    return true;
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || !I.mayWriteToMemory())
    return false;
  // A look at a barrier in shared memory may be a function of our own.
  return Callee->isIntrinsic() ? !isCollective(I)
                               : !laneFunction(Callee->getName()).empty();
}

bool pauses(const Instruction &I) {
  if (isa<FenceInst>(I) || isCall(I))
    return true;
  auto *Call = dyn_cast<CallBase>(&I);
  if (Call && Call->getIntrinsicID() == Intrinsic::nvvm_nanosleep)
    return true;
  const auto Kind = analysis::intrinsicKind(I);
  return Kind == analysis::IntrinsicKind::Fence ||
         Kind == analysis::IntrinsicKind::WarpBarrier;
}

using StoresTo = SmallVector<std::pair<const Value *, const StoreInst *>>;

/// \p V is the same in each round of \p L, which makes \p Stores.
static bool staysTheSame(const Value *V, const Loop &L, const StoresTo &Stores,
                         unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I))
    return true;
  if (Depth > 6)
    return false; // so long a chain is no mere reload
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    const Value *From = getUnderlyingObject(Load->getPointerOperand());
    if (!isa<AllocaInst>(From) || any_of(Stores, [&](auto &S) {
          return S.first == From || !isIdentifiedObject(S.first);
        }))
      return false;
  } else if (!isa<GetElementPtrInst, CastInst, BinaryOperator>(I)) {
    return false;
  }
  return all_of(I->operands(), [&](const Use &U) {
    return staysTheSame(U.get(), L, Stores, Depth + 1);
  });
}

/// What decides whether \p L is left once more: follows values back to where
/// they come from, through PHIs and through local memory.
bool RegionPlanner::findsWait(const Loop &L) const {
  SmallVector<BasicBlock *, 8> Exiting;
  L.getExitingBlocks(Exiting);
  if (Exiting.empty())
    return true;
  bool Pauses = false, Writes = false; // but for the thread's own memory
  StoresTo Stores;
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB) {
      Pauses |= pauses(I);
      if (auto *S = dyn_cast<StoreInst>(&I)) {
        Stores.push_back({getUnderlyingObject(S->getPointerOperand()), S});
        Writes |= !isa<AllocaInst>(Stores.back().first);
      } else {
        Writes |= I.mayWriteToMemory();
      }
    }

  SmallVector<const Value *> Work;
  auto Branches = [&](const BasicBlock *BB) {
    if (auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
        Br && Br->isConditional())
      Work.push_back(Br->getCondition());
    else if (auto *Sw = dyn_cast<SwitchInst>(BB->getTerminator()))
      Work.push_back(Sw->getCondition());
  };
  // Where the way through the body matters, all of its branches do.
  bool Whole = false;
  auto DependsOnWay = [&] {
    if (!std::exchange(Whole, true))
      for_each(L.blocks(), Branches);
  };
  // An exit that some rounds pass by is one that branches lead to.
  SmallVector<BasicBlock *, 2> Latches;
  L.getLoopLatches(Latches);
  auto InEachRound = [&](const BasicBlock *BB) {
    return all_of(Latches,
                  [&](BasicBlock *To) { return DT.dominates(BB, To); });
  };
  for (const BasicBlock *BB : Exiting) {
    Branches(BB);
    if (!InEachRound(BB))
      DependsOnWay();
  }

  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I || !L.contains(I) || !Seen.insert(I).second)
      continue;
    if (dependsOnOthers(*I) || (CallsMayWait && callBehind(*I)))
      return true;
    if (isa<PHINode>(I) &&
        (I->getParent() != L.getHeader() || Latches.size() > 1))
      DependsOnWay();
    auto *Load = dyn_cast<LoadInst>(I);
    if (Load && !analysis::isInvariantLoad(*Load)) {
      const Value *From = getUnderlyingObject(Load->getPointerOperand());
      if (!isa<AllocaInst>(From) &&
          (Pauses || (!Writes && InEachRound(Load->getParent()) &&
                      staysTheSame(Load->getPointerOperand(), L, Stores))))
        return true;
      // What the loop itself stores there, or may.
      for (auto [To, S] : Stores)
        if (To == From || (isa<AllocaInst>(From) && !isIdentifiedObject(To)) ||
            (isa<AllocaInst>(To) && !isIdentifiedObject(From))) {
          Work.push_back(S->getValueOperand());
          DependsOnWay();
        }
    }
    Work.append(I->op_begin(), I->op_end());
  }
  return false;
}

} // namespace reconverge::warpvm
