//===- remedies/common/Straight.cpp - A thread an iteration ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (i = thread; i < bound; i += threads)     i = thread
//     body(i)                                     if (i < bound) body(i)
//
// for a launch of so many blocks that every i has a thread. Remedies that hand
// threads out anew then see each iteration, where one thread of the program's
// would be many of them.
//
// Why right: each i from 0 to bound - 1 is done once, by whoever is its thread,
// and asks for nothing else of that (analysis/GridLoop.cpp). That none needs
// what another leaves in memory is for the trials, which see the iterations as
// threads, too: proofs straighten like all others (permute/Permute.cpp).
//
// The host computes the bound from the launch's arguments, so it has to be made
// of those, by arithmetic alone.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Straight.h"

#include "analysis/GridLoop.h"
#include "remedies/common/CountWriter.h"
#include "remedies/common/KernelCopy.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::remedies {

static std::optional<TripCount> tripsOf(const analysis::GridLoop &L,
                                        const DataLayout &Layout) {
  CountWriter Bound(Layout);
  Bound.add(*L.Bound);
  if (L.InBounds == CmpInst::ICMP_SLT) { // none below 0
    const unsigned Bits = L.Bound->getType()->getIntegerBitWidth();
    Bound.add({TripCount::Constant, Bits});
    Bound.add({TripCount::SMax, Bits});
  }
  return Bound.count();
}

static void straightenNow(const analysis::GridLoop &L) {
  BasicBlock *Enter = BasicBlock::Create(L.Header->getContext(), "straight",
                                         L.Header->getParent(), L.Header);
  L.Before->getTerminator()->replaceSuccessorWith(L.Header, Enter);
  IRBuilder<> B(Enter);
  B.CreateCondBr(B.CreateICmp(L.InBounds, L.Start, L.Bound), L.Header, L.Exit);

  Instruction *Back = L.Latch->getTerminator();
  auto *Branch = cast<BranchInst>(Back);
  WeakTrackingVH Condition =
      Branch->isConditional() ? Branch->getCondition() : nullptr;
  BranchInst::Create(L.Exit, Back->getIterator())
      ->setDebugLoc(Back->getDebugLoc());
  Back->eraseFromParent();
  WeakTrackingVH Next = L.Index->getIncomingValueForBlock(L.Latch);
  L.Index->replaceAllUsesWith(L.Start);
  L.Index->eraseFromParent();
  for (WeakTrackingVH Dead : {Condition, Next})
    if (Dead)
      RecursivelyDeleteTriviallyDeadInstructions(Dead);
}

std::optional<TripCount> straighten(Function &Kernel,
                                    function_ref<bool(Function &)> Suits) {
  const auto Loop = analysis::findGridLoop(Kernel);
  auto Trips = Loop ? tripsOf(*Loop, Kernel.getDataLayout()) : std::nullopt;
  if (!Trips)
    return std::nullopt;
  auto [Alone, Copy] = copyAlone(Kernel);
  straightenNow(*analysis::findGridLoop(*Copy));
  if (!Suits(*Copy))
    return std::nullopt;
  straightenNow(*Loop);
  return Trips;
}

} // namespace reconverge::remedies
