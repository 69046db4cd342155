//===- remedies/herd/Rewrite.cpp - Votes at branches ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// if (c) { arm }, where `here` are the lanes that come to it:
//
//   votes = ballot(here, c);
//   few = threshold popc(here) / 32;             once
//   enough = popc(votes) > few;
//   if (c && enough) { arm }
//
// if (c) { one } else { other }, where both may be dropped:
//
//          if (c && enough) ----> one --------\
//            |                                 |
//          other: if (!c && enough') -> other -+-> where they meet
//            |                                 |
//            +---------------------------------+
//              as the other side leaves values that are there before it
//
// With two ways, all lanes take the side that `enough` says.
//
// Then loops, inner ones first (Rounds.cpp). Who is dropped may be counted
// (Dropped.cpp). What follows for optimizers from
// how the program was written (llvm.assume) need no longer hold.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Rewrite.h"

#include "remedies/common/Loops.h"
#include "remedies/herd/Dropped.h"
#include "remedies/herd/Masks.h"
#include "remedies/herd/Rounds.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"

using namespace llvm;

namespace reconverge::remedies::herd {

namespace {
/// What phis are for dropped lanes, by side.
struct Given {
  SmallVector<Value *> Of[2];
};
} // namespace

Value *countOf(IRBuilderBase &B, Value *Votes, const HerdOptions &Options) {
  if (Options.PlantedBug) // not the first one
    Votes = B.CreateAnd(Votes, B.CreateSub(Votes, B.getInt32(1)));
  return B.CreateUnaryIntrinsic(Intrinsic::ctpop, Votes);
}

static Given valuesFor(const HerdPoint &P, const DominatorTree &Dominance) {
  Given All;
  for (unsigned Side : {0, 1})
    if (P.Drops[Side])
      for (const PHINode &Phi : P.Join->phis())
        All.Of[Side].push_back(
            valueFromOtherSide(Phi, *P.Branch, Side, Dominance));
  return All;
}

/// A block that the rest comes to: those who want the side \p Other, of whom
/// \p Goes say who may, and those who are dropped.
static BasicBlock *writeRest(const HerdPoint &P, unsigned Other, Value *Goes,
                             const Given &Values) {
  BasicBlock *To = P.Branch->getTerminator()->getSuccessor(Other);
  Function &F = *P.Branch->getParent();
  auto *Rest = BasicBlock::Create(F.getContext(), "herd.rest", &F,
                                  P.Branch->getNextNode());
  IRBuilder<> B(Rest);
  B.SetCurrentDebugLocation(P.Branch->getTerminator()->getDebugLoc());
  Value *First = cast<BranchInst>(P.Branch->getTerminator())->getCondition();
  for (auto [N, Phi] : enumerate(P.Join->phis())) {
    Value *V = nullptr;
    if (P.Drops[0] && P.Drops[1])
      V = B.CreateSelect(First, Values.Of[0][N], Values.Of[1][N]);
    else
      V = Values.Of[P.Drops[0] ? 0 : 1][N];
    Phi.addIncoming(V, Rest);
  }
  B.CreateCondBr(Goes, To, P.Join);
  To->replacePhiUsesWith(P.Branch, Rest);
  return Rest;
}

static void herdIf(const HerdPoint &P, const Given &Values, Masks &Lanes,
                   DroppedLanes *Dropped) {
  Value *Votes = Lanes.votesAt(*P.Branch);
  Value *Mask = Lanes.at(*P.Branch), *Size = Lanes.sizeOf(Mask);
  Value *Few = Lanes.tooFewOf(Mask, P.Options.Threshold);
  auto *Br = cast<BranchInst>(P.Branch->getTerminator());
  IRBuilder<> B(Br);
  Value *Count = countOf(B, Votes, P.Options);
  Br->setMetadata(LLVMContext::MD_prof, nullptr);
  auto AreEnough = [&](Value *Count) {
    return B.CreateICmpUGT(Count, Few, "herd.enough");
  };
  if (P.Options.TwoWays) {
    // Of an arm, those who want it are counted.
    const bool Inverse = Br->getSuccessor(0) == P.Join;
    Value *Most = AreEnough(Inverse ? B.CreateSub(Size, Count) : Count);
    Value *Takes = Inverse ? B.CreateNot(Most) : Most;
    if (Dropped)
      Dropped->note(B, B.CreateXor(Br->getCondition(), Takes));
    Br->setCondition(Takes);
    Lanes.unite(*P.Branch);
    return;
  }
  Value *Goes[2] = {Br->getCondition(), B.CreateNot(Br->getCondition())};
  for (unsigned Side : {0, 1})
    if (P.Drops[Side]) {
      Value *Enough = AreEnough(Side ? B.CreateSub(Size, Count) : Count);
      if (Dropped)
        Dropped->note(B, B.CreateAnd(Goes[Side], B.CreateNot(Enough)));
      Goes[Side] = B.CreateAnd(Goes[Side], Enough);
    }
  const unsigned First = P.Drops[0] ? 0 : 1, Second = 1 - First;
  BasicBlock *To = Br->getSuccessor(First), *Rest = P.Join;
  if (Br->getSuccessor(Second) != P.Join)
    Rest = writeRest(P, Second, Goes[Second], Values);
  Br->setCondition(Goes[First]);
  Br->setSuccessor(0, To);
  Br->setSuccessor(1, Rest);
}

static void dropAssumptions(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (isa<AssumeInst>(I))
      I.eraseFromParent();
}

void rewrite(const HerdPlan &Plan, Function &F, Value *Counter) {
  std::optional<DroppedLanes> Dropped;
  if (Counter)
    Dropped.emplace(F);
  DroppedLanes *Notes = Dropped ? &*Dropped : nullptr;
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  SmallVector<Given> Values;
  SmallVector<std::pair<int, size_t>> Inner; // the deepest loops first
  for (const auto &[N, P] : enumerate(Plan.Points)) {
    Values.push_back(P.Header ? Given() : valuesFor(P, Dominance));
    if (P.Header)
      Inner.push_back({-int(Loops.getLoopDepth(P.Header)), N});
  }
  sort(Inner);
  Masks Lanes(F);
  // Of loops: who votes, and how many are too few. Phis may be simplified.
  SmallVector<std::pair<WeakTrackingVH, WeakTrackingVH>> Who(
      Plan.Points.size());
  for (const auto &[N, P] : enumerate(Plan.Points))
    if (P.Header) {
      Value *Mask = Lanes.at(*Loops.getLoopFor(P.Header)->getLoopPreheader());
      Who[N] = {Mask, Lanes.tooFewOf(Mask, P.Options.Threshold)};
    } else
      herdIf(P, Values[N], Lanes, Notes);
  WeakTrackingVH All; // of the warp
  if (Counter)
    All = Lanes.at(F.getEntryBlock());
  Lanes.finish();
  // A block may become one with another that comes before it.
  SmallVector<WeakVH> Ways;
  for (auto [Depth, N] : Inner)
    Ways.push_back(Plan.Points[N].Branch->getTerminator());
  for (auto [Way, Place] : zip_equal(Ways, Inner)) {
    const size_t N = Place.second;
    HerdPoint P = Plan.Points[N];
    if (!Way)
      continue; // seen so, nobody goes this way, or everybody does
    P.Branch = cast<Instruction>(Way)->getParent();
    herdLoop(P, Who[N].first, Who[N].second, F, Ways, Notes);
  }
  if (Counter)
    Dropped->count(*All, *Counter);
  dropAssumptions(F);
  removeDead(F);
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
}

} // namespace reconverge::remedies::herd
