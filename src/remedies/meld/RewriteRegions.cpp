//===- remedies/meld/RewriteRegions.cpp - Branches and loops of the arms -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region of the new code has the nodes and edges of the region (or of both)
// that it is made from. PHIs are made when a node starts and filled when all
// nodes are written, as loops need it. Where a run of the other side goes along
// a path, the branches on that path let its lanes go no other way.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Runs.h"
#include "remedies/meld/Rewriter.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace reconverge::remedies::meld {

void Rewriter::makePhis(ArrayRef<PhiPair> Pairs, BasicBlock &In,
                        SmallVectorImpl<std::pair<PHINode *, PhiPair>> &Phis) {
  for (const PhiPair &P : Pairs) {
    const PHINode &From = P[0] ? *P[0] : *P[1];
    auto *Phi = PHINode::Create(From.getType(), From.getNumIncomingValues(),
                                From.getName(), &In);
    Phi->setDebugLoc(From.getDebugLoc());
    if (P[0] && P[1])
      Phi->applyMergedLocation(P[0]->getDebugLoc(), P[1]->getDebugLoc());
    for (unsigned Side : {0u, 1u})
      if (P[Side])
        Map[Side][P[Side]] = Phi;
    Phis.push_back({Phi, P});
  }
}

/// The PHIs of one side's \p BB as pairs without a partner.
static SmallVector<PhiPair, 4> phisAlone(BasicBlock *BB, unsigned Side) {
  SmallVector<PhiPair, 4> Result;
  if (BB)
    for (PHINode &Phi : BB->phis()) {
      PhiPair P{nullptr, nullptr};
      P[Side] = &Phi;
      Result.push_back(P);
    }
  return Result;
}

void Rewriter::nodeCode(const Source &S, unsigned K) {
  const unsigned Lead = S.lead();
  if (S.Plan && (!S.isRun() || S.Plan->Nodes[K].OnPath)) {
    std::array<ArrayRef<Item>, 2> Items;
    for (unsigned Side : {0u, 1u})
      if (S.R[Side])
        Items[Side] = S.node(Side, K).Code.Items;
      else if (K == S.Plan->RunNode)
        Items[Side] = S.Run;
    return sequence(Items[0], Items[1], S.Plan->Nodes[K].Code);
  }
  for (const Item &It : S.node(Lead, K).Code.Items)
    plain(It, Lead);
}

/// Ends Current as node \p K ends.
void Rewriter::terminator(const Source &S, unsigned K,
                          ArrayRef<BasicBlock *> Starts, BasicBlock &After) {
  const unsigned Lead = S.lead();
  const Node &N = S.node(Lead, K);
  const Instruction &From = *N.Code.terminator();
  Value *Goes = conditionOf(From);
  if (Goes) {
    Goes = map(Lead, Goes);
    Value *Other = Goes; // for the other side's lanes
    if (S.R[0] && S.R[1]) {
      Other = map(1, conditionOf(*S.node(1, K).Code.terminator()));
      if (S.Plan->Nodes[K].Swapped)
        Other = negate(Other);
    } else if (S.isRun() && S.Plan->Nodes[K].OnPath) {
      Other =
          ConstantInt::getBool(F.getContext(), S.Plan->Nodes[K].Forced == 0);
    }
    Goes = Lead ? choose(Other, Goes, *Current) : choose(Goes, Other, *Current);
  }
  Instruction *Term = append(From.clone(), From);
  for (auto [At, To] : enumerate(N.Succs))
    Term->setSuccessor(unsigned(At), To == Node::Exit ? &After : Starts[To]);
  if (auto *Br = dyn_cast<BranchInst>(Term); Br && Goes)
    Br->setCondition(Goes);
  else if (auto *Switch = dyn_cast<SwitchInst>(Term))
    Switch->setCondition(Goes);
  if (S.R[0] && S.R[1]) {
    const Instruction &Second = *S.node(1, K).Code.terminator();
    joinRuns(*Term, From, Second, Old);
    for (unsigned Kind :
         {unsigned(LLVMContext::MD_loop), unsigned(LLVMContext::MD_prof)})
      if (From.getMetadata(Kind) != Second.getMetadata(Kind))
        Term->setMetadata(Kind, nullptr);
  } else if (S.isRun()) {
    Term->setMetadata(LLVMContext::MD_prof, nullptr);
  }
}

void Rewriter::region(const Source &S) {
  const unsigned Lead = S.lead();
  const Region &R = *S.R[Lead];
  const unsigned Count = R.Nodes.size();
  BasicBlock *Before = Current, *After = block("meld.join");
  SmallVector<BasicBlock *, 8> Starts(Count), Ends(Count);
  for (unsigned K = 0; K != Count; ++K)
    Starts[K] = K || !R.startsWithBranch() ? block("meld.node") : Before;
  if (!R.startsWithBranch())
    jump(*Starts[0]);

  using NewPhis = SmallVector<std::pair<PHINode *, PhiPair>, 4>;
  std::vector<NewPhis> Phis(Count + 1);
  auto Alone = [&](BasicBlock *BB) { return phisAlone(BB, Lead); };
  const bool Paired = S.Plan && !S.isRun();
  for (unsigned K = 0; K != Count; ++K) {
    Current = Starts[K];
    if (Current != Before)
      Current->moveBefore(Plan.Join);
    makePhis(Paired ? S.Plan->Nodes[K].Phis : Alone(S.node(Lead, K).Code.First),
             *Current, Phis[K]);
    nodeCode(S, K);
    Ends[K] = Current;
    terminator(S, K, Starts, *After);
  }
  makePhis(Paired ? S.Plan->ExitPhis : Alone(R.After), *After, Phis[Count]);

  // Now all values are known. An edge of the new region stands for the edge of
  // each side from the block that ended the same node.
  auto Fill = [&](NewPhis &To, BasicBlock &From,
                  function_ref<const BasicBlock *(unsigned)> OldFrom) {
    for (auto &[Phi, Of] : To) {
      std::array<Value *, 2> V{nullptr, nullptr};
      for (unsigned Side : {0u, 1u})
        if (Of[Side])
          V[Side] =
              map(Side, Of[Side]->getIncomingValueForBlock(OldFrom(Side)));
      Phi->addIncoming(V[0] && V[1] ? choose(V[0], V[1], From)
                                    : (V[0] ? V[0] : V[1]),
                       &From);
    }
  };
  for (unsigned K = 0; K != Count; ++K)
    for (unsigned To : R.Nodes[K].Succs)
      Fill(Phis[To == Node::Exit ? Count : To], *Ends[K],
           [&](unsigned Side) { return S.node(Side, K).Code.Last; });
  if (!R.startsWithBranch())
    Fill(Phis[0], *Before, [&](unsigned Side) { return S.R[Side]->Before; });

  Current = After;
  After->moveBefore(Plan.Join);
  if (S.isRun())
    keepRunValues(S, *Before, *Ends[S.Plan->RunNode], *After);
}

/// Values of the run are known on its path only; later uses get PHIs.
void Rewriter::keepRunValues(const Source &S, BasicBlock &Before,
                             BasicBlock &RunEnd, BasicBlock &After) {
  const unsigned Side = 1 - S.lead();
  InstructionSet Set;
  for (const Item &It : S.Run)
    collect(It, Set);
  for (const Item &It : S.Run) {
    if (!usedOutside(*It.I, Set))
      continue;
    Value *V = map(Side, It.I);
    SSAUpdater Updater;
    Updater.Initialize(V->getType(), It.I->getName());
    Updater.AddAvailableValue(&Before, PoisonValue::get(V->getType()));
    Updater.AddAvailableValue(&RunEnd, V);
    Map[Side][It.I] = Updater.GetValueInMiddleOfBlock(&After);
  }
}

} // namespace reconverge::remedies::meld
