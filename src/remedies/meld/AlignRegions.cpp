//===- remedies/meld/AlignRegions.cpp - Which regions go together --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two regions of one shape (Shape.cpp) go together node by node: the code of
// paired nodes is aligned as two sequences, their PHIs are paired by the values
// that come in. A loop's savings count LoopFactor times.
//
// A straight run of one side goes with one node of the other side's region:
//
//        [ ]            The run's lanes follow the first path found from the
//       /   \           region's entry to the node and on to its exit. Each
//     [ ]   [run]       two-way branch on it gets a test more, which forces
//       \   /           them; a switch cannot be forced so. The code of the
//        [ ]            path's other nodes stays the other side's alone.
//
// Every node with code is tried, and the one that saves most is taken.
//
// Limitation: other paths to the same node are not looked at, and no run goes
// along a loop.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Aligner.h"
#include "remedies/meld/Shape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::meld {

SmallVector<PhiPair, 4>
Aligner::pairPhis(BasicBlock *A, BasicBlock *B,
                  const DenseMap<const BasicBlock *, const BasicBlock *> &Meets,
                  double &Saved) const {
  SmallVector<PhiPair, 4> Result;
  SmallVector<PHINode *, 8> Left;
  if (B)
    for (PHINode &Q : B->phis())
      Left.push_back(&Q);
  if (A)
    for (PHINode &P : A->phis()) {
      int Best = -1;
      unsigned BestSame = 0;
      for (auto [At, Q] : enumerate(Left)) {
        if (Q->getType() != P.getType() || !sameHome(P, *Q))
          continue;
        unsigned Same = 0;
        for (unsigned K = 0; K != P.getNumIncomingValues(); ++K) {
          const BasicBlock *Other = Meets.lookup(P.getIncomingBlock(K));
          int At = Other ? Q->getBasicBlockIndex(Other) : -1;
          Same += At >= 0 &&
                  Pairs.same(*P.getIncomingValue(K), *Q->getIncomingValue(At));
        }
        if (Best < 0 || Same > BestSame) {
          Best = int(At);
          BestSame = Same;
        }
      }
      Result.push_back({&P, Best < 0 ? nullptr : Left[Best]});
      if (Best < 0)
        continue;
      Left.erase(Left.begin() + Best);
      // Selects before the branches that come in.
      Saved -=
          (P.getNumIncomingValues() - BestSame) * selectWeight(*P.getType());
      Saved += 0.25;
    }
  for (PHINode *Q : Left)
    Result.push_back({nullptr, Q});
  return Result;
}

std::shared_ptr<const RegionMeld> Aligner::regions(const Region &A,
                                                   const Region &B) {
  auto [Entry, New] = Known.try_emplace({&A, &B}, nullptr);
  if (!New)
    return Entry->second;
  const Shape Found = sameShape(A, B);
  if (Found.empty())
    return nullptr;
  auto Plan = std::make_shared<RegionMeld>();
  for (const NodePair &Pair : Found) {
    Plan->Nodes.emplace_back();
    Plan->Nodes.back().Number = Pair.Number;
    Plan->Nodes.back().Swapped = Pair.Swapped;
  }
  const auto Meets = meetingBlocks(*Plan, A, B);
  const double Outside = Times;
  if (A.Cyclic)
    Times *= LoopFactor;
  for (NodePlan &This : Plan->Nodes) {
    const Node &N = A.Nodes[This.Number[0]], &M = B.Nodes[This.Number[1]];
    This.Phis = pairPhis(N.Code.First, M.Code.First, Meets, Plan->Saved);
    This.Code = align(N.Code.Items, M.Code.Items);
    Plan->Saved += This.Code.Saved;
    if (N.Succs.size() < 2)
      continue;
    Plan->Saved += BranchWeight;
    const Value &X = *conditionOf(*N.Code.terminator()),
                &Y = *conditionOf(*M.Code.terminator());
    if (!Pairs.sameCondition(X, Y, This.Swapped))
      Plan->Saved -= selectWeight(*X.getType());
  }
  Times = Outside;
  if (A.Cyclic)
    Plan->Saved *= LoopFactor;
  Plan->ExitPhis = pairPhis(A.After, B.After, Meets, Plan->Saved);
  return Known[{&A, &B}] = Plan;
}

/// Of the nodes of \p R, the one whose code is most like the run's.
std::shared_ptr<const RegionMeld>
Aligner::along(ArrayRef<Item> Run, const Region &R, unsigned Side) {
  auto [Entry, New] = KnownRuns.try_emplace({Run.data(), &R}, nullptr);
  if (!New)
    return Entry->second;
  if (R.Cyclic || R.Nodes.size() > MaxNodes)
    return nullptr;
  auto Both = [&](ArrayRef<Item> Mine, ArrayRef<Item> Regions) {
    return Side ? align(Regions, Mine) : align(Mine, Regions);
  };
  const unsigned Count = R.Nodes.size(), Other = 1 - Side;
  // The first way to each node, and from it to the exit; no node twice, as
  // there are no cycles.
  constexpr unsigned None = ~0u - 1;
  std::vector<std::pair<unsigned, unsigned>> From(Count, {None, 0});
  std::vector<unsigned> Out(Count, None), Depth;
  SmallVector<unsigned, 16> Order{0};
  for (unsigned At = 0; At != Order.size(); ++At)
    for (auto [K, To] : enumerate(R.Nodes[Order[At]].Succs))
      if (To != Node::Exit && To && From[To].first == None) {
        From[To] = {Order[At], unsigned(K)};
        Order.push_back(To);
      }
  std::vector<bool> Leads(Count, false);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned N : reverse(Order))
      for (auto [K, To] : enumerate(R.Nodes[N].Succs))
        if (!Leads[N] && (To == Node::Exit || Leads[To])) {
          Leads[N] = Changed = true;
          Out[N] = unsigned(K);
        }
  }

  std::shared_ptr<RegionMeld> Best;
  for (unsigned N : Order) {
    if (!Leads[N] || R.Nodes[N].Code.Items.empty() || tooLarge())
      continue;
    auto Plan = std::make_shared<RegionMeld>();
    Plan->RunNode = N;
    Plan->Nodes.resize(Count);
    for (unsigned K = 0; K != Count; ++K)
      Plan->Nodes[K].Number[Other] = K;
    auto Pass = [&](unsigned K, unsigned By) {
      Plan->Nodes[K].OnPath = true;
      Plan->Nodes[K].Forced = By;
      const size_t Ways = R.Nodes[K].Succs.size();
      Plan->Saved -= Ways > 1 ? 1 : 0;
      return Ways <= 2; // a switch cannot be forced by one more test
    };
    bool Possible = true;
    for (unsigned K = N; K; K = From[K].first)
      Possible &= Pass(From[K].first, From[K].second);
    for (unsigned K = N; K != Node::Exit; K = R.Nodes[K].Succs[Out[K]])
      Possible &= Pass(K, Out[K]);
    if (!Possible)
      continue;
    for (unsigned K = 0; K != Count; ++K) {
      NodePlan &This = Plan->Nodes[K];
      if (!This.OnPath)
        continue;
      This.Code = Both(K == N ? Run : ArrayRef<Item>(), R.Nodes[K].Code.Items);
      Plan->Saved += This.Code.Saved;
    }
    if (!Best || Plan->Saved > Best->Saved)
      Best = std::move(Plan);
  }
  if (Best && Best->Saved <= 0)
    return nullptr;
  return KnownRuns[{Run.data(), &R}] = Best;
}

} // namespace reconverge::remedies::meld
