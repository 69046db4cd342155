//===- remedies/share/Legality.cpp - What may be shared -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that lanes of a warp leave at different times, at its end alone, after a
// number of iterations that is known before it. Any lane may run an iteration if
//
//   - memory does not tie it to others of its thread (Memory.cpp);
//   - nothing of the loop but its chain needs what the chain carries;
//   - the chain, which the thread itself does in the end, is arithmetic that may
//     be done also where the iteration did not come by. Its phis choose by where
//     an iteration came from, which is handed over as a number;
//   - all that is handed over fits into words.
//
// Lanes of a kernel that do not come to the loop are to help. If there is a loop
// that waits for other threads, they might be those.
//
// Which loop: one that a pragma names, or that Options.Branch leaves; else of
// those that may be shared the one with the most instructions, those of inner
// loops counted eight times; the first of several. Never one that the source
// forbids.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Legality.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/Loops.h"
#include "remedies/common/Remedy.h"
#include "remedies/share/Memory.h"
#include "remedies/share/Refusals.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies::share {

using analysis::UniformityResult;

bool canTravel(const Value &V) {
  Type *T = V.getType();
  if (!T->isSingleValueType() || T->isTokenTy())
    return false;
  const DataLayout *Layout = nullptr;
  if (const auto *I = dyn_cast<Instruction>(&V))
    Layout = &I->getDataLayout();
  else if (const auto *A = dyn_cast<Argument>(&V))
    Layout = &A->getParent()->getDataLayout();
  if (!Layout || (T->isVectorTy() && T->getScalarType()->isPointerTy()))
    return false;
  return Layout->getTypeSizeInBits(T).getFixedValue() <= 128;
}

namespace {

/// Judges one loop.
class Judge {
public:
  Judge(Loop &L, const LoopInfo &Loops, ScalarEvolution &SE, AAResults &Aliases,
        const ShareOptions &Options)
      : L(L), Loops(Loops), SE(SE), Aliases(Aliases), Options(Options) {}

  std::optional<Refusal> refused();
  Carried take() { return std::move(Found); }

private:
  std::optional<Refusal> badShape() const;
  std::optional<Refusal> carries();
  std::optional<Refusal> growsChain();
  bool isInduction(PHINode &Phi) const;

  Loop &L;
  const LoopInfo &Loops;
  ScalarEvolution &SE;
  AAResults &Aliases;
  const ShareOptions &Options;
  Carried Found;
};

} // namespace

std::optional<Refusal> Judge::badShape() const {
  const Instruction &Start = *L.getHeader()->getTerminator();
  BasicBlock *Latch = L.getLoopLatch();
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  if (Exiting.size() != 1)
    return refusal(refuse::Exits, Start);
  if (!Latch || Exiting[0] != Latch || !isa<BranchInst>(Latch->getTerminator()))
    return refusal(refuse::Exits, Start, "not at its end");
  const SCEV *Again = SE.getBackedgeTakenCount(&L);
  SCEVExpander Expander(SE, L.getHeader()->getDataLayout(), "share");
  if (isa<SCEVCouldNotCompute>(Again) ||
      !SE.isAvailableAtLoopEntry(Again, &L) || !Expander.isSafeToExpand(Again))
    return refusal(refuse::Count, *Latch->getTerminator());
  return std::nullopt;
}

bool Judge::isInduction(PHINode &Phi) const {
  if (!SE.isSCEVable(Phi.getType()))
    return false;
  const auto *Sum = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi));
  if (!Sum || Sum->getLoop() != &L || !Sum->isAffine())
    return false;
  SCEVExpander Expander(SE, L.getHeader()->getDataLayout(), "share");
  return Expander.isSafeToExpand(Sum->getStepRecurrence(SE));
}

/// Adds all that follows from the header's phis in the chain.
std::optional<Refusal> Judge::growsChain() {
  for (size_t N = 0; N != Found.Chain.size(); ++N)
    for (User *Each : Found.Chain[N]->users()) {
      auto *I = cast<Instruction>(Each);
      if (!L.contains(I) || Found.Chain.contains(I))
        continue;
      const bool Merges = isa<PHINode>(I);
      if (Loops.getLoopFor(I->getParent()) != &L || I->isTerminator() ||
          (!Merges && !isSafeToSpeculativelyExecute(I)) ||
          (isa<CallBase>(I) && !isa<IntrinsicInst>(I)))
        return refusal(refuse::Carried, *I);
      Found.Chain.insert(I);
    }
  return std::nullopt;
}

std::optional<Refusal> Judge::carries() {
  for (PHINode &Phi : L.getHeader()->phis())
    if (isInduction(Phi))
      Found.Inductions.push_back(&Phi);
    else if (const auto Adds = sumOf(Phi, L, Loops))
      Found.Sums.push_back(*Adds);
    else
      Found.Chain.insert(&Phi);
  if (auto Why = growsChain())
    return Why;
  // What adds up the chain's values is of the chain.
  erase_if(Found.Sums,
           [&](const Sum &S) { return Found.Chain.contains(S.Phi); });
  auto Need = [&](Value *V) {
    if (auto *I = dyn_cast<Instruction>(V);
        I && L.contains(I) && !Found.Chain.contains(I) &&
        none_of(Found.Sums, [&](const Sum &S) { return S.result() == I; }))
      Found.Inputs.insert(I);
  };
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (Found.Chain.contains(&I)) {
        auto *Phi = dyn_cast<PHINode>(&I);
        if (Phi && BB == L.getHeader())
          Need(Phi->getIncomingValueForBlock(L.getLoopLatch()));
        else
          for (Value *Operand : I.operands())
            Need(Operand);
      } else if (any_of(I.users(), [&](const User *U) {
                   return !L.contains(cast<Instruction>(U));
                 })) {
        Need(&I);
      }
  for (Instruction *I : concat<Instruction *const>(Found.Chain, Found.Inputs))
    if (!canTravel(*I))
      return refusal(refuse::Type, *I);
  for (const Sum &S : Found.Sums)
    if (!canTravel(*S.Phi))
      return refusal(refuse::Type, *S.Phi);
  for (const Value *V : neededBy(L, Found))
    if (!canTravel(*V))
      return refusal(refuse::Type, *L.getHeader()->getTerminator());
  return std::nullopt;
}

std::optional<Refusal> Judge::refused() {
  if (auto Why = badShape())
    return Why;
  if (auto Why = tiedInMemory(L, Aliases, SE, Options))
    return Why;
  return carries();
}

SmallVector<Value *> neededBy(const Loop &L, const Carried &Of) {
  SetVector<Value *> Found;
  auto Need = [&](Value *V) {
    const auto *I = dyn_cast<Instruction>(V);
    if (isa<Argument>(V) || (I && !L.contains(I)))
      Found.insert(V);
  };
  for (PHINode *Phi : Of.Inductions)
    for (BasicBlock *From : Phi->blocks())
      if (!L.contains(From))
        Need(Phi->getIncomingValueForBlock(From));
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (!Of.Chain.contains(&I) && !(BB == L.getHeader() && isa<PHINode>(I)))
        for (Value *Operand : I.operands())
          Need(Operand);
  return Found.takeVector();
}

PlanOr<SharePlan> planShare(Function &F, const ShareOptions &Options) {
  const UniformityResult Known = analysis::computeUniformity(F);
  analysis::AnalysisManagers Analyses;
  auto &Loops = Analyses.Functions.getResult<LoopAnalysis>(F);
  auto &SE = Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F);
  auto &Aliases = Analyses.Functions.getResult<AAManager>(F);
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  if (!analysis::isKernel(F))
    return refusal(refuse::Function, Start);

  SmallVector<Loop *> Asked, Others;
  std::optional<Refusal> Off, Alike;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    const auto Said = remedies::requestOf(*L, Name);
    const bool Asks = Said && Said->On && Said->AtAnyCost;
    if (!divergesAt(*L, Known)) {
      if (Asks && !Alike)
        Alike = Refusal{&refuse::Uniform, L->getStartLoc(), ""};
    } else if (Said ? !Said->On : Options.Marked) {
      if (!Off)
        Off = Refusal{&refuse::Off, L->getStartLoc(), ""};
    } else {
      (Asks ? Asked : Others).push_back(L);
    }
  }
  if (Options.Branch) {
    Loop *L = loopLeftBy(*Options.Branch, F, Loops, Known);
    if (!L)
      return refusal(refuse::Branch, Start, std::to_string(*Options.Branch));
    if (!is_contained(Asked, L) && !is_contained(Others, L))
      return Refusal{&refuse::Off, L->getStartLoc(), ""};
    Asked = {L};
  }
  if (Asked.empty() && Alike)
    return *Alike;
  if (Asked.empty())
    Asked = std::move(Others);
  if (Asked.empty())
    return Off ? *Off : refusal(refuse::Loop, Start);
  if (const Instruction *I = waitsFor(F, Loops))
    return refusal(refuse::Waits, *I);

  std::vector<std::pair<uint64_t, size_t>> ByWeight;
  for (auto [N, L] : enumerate(Asked))
    ByWeight.push_back({~weightOf(*L, Loops), N});
  llvm::sort(ByWeight);
  std::optional<Refusal> First;
  for (auto [Weight, N] : ByWeight) {
    Loop *L = Asked[N];
    ShareOptions Here = Options;
    if (const auto Said = remedies::requestOf(*L, Name)) {
      Here = cantFail(parseShareOptions(Said->Parameters, Options));
      Here.Occupancy &= !Said->AtAnyCost;
    }
    Judge Of(*L, Loops, SE, Aliases, Here);
    auto Why = Of.refused();
    SharePlan Plan{L->getHeader(), Of.take(), {}, Here};
    if (!Why)
      Plan.By = weightsOf(*L, Loops, Plan.Values, Here.Threshold);
    if (!Why && Here.Threshold && !Plan.By.mayPay())
      Why = Refusal{&refuse::Chain, L->getStartLoc(), ""};
    if (!Why)
      return Plan;
    if (!First)
      First = Why;
  }
  return *First;
}

} // namespace reconverge::remedies::share
