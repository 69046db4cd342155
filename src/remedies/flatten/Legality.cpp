//===- remedies/flatten/Legality.cpp - What may be flattened --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No thread changes its place. But a lane is in another round of the outer loop
// than its neighbour, and those that are through wait for the others:
//
//   - Nothing in the outer loop may need lanes together (convergent calls).
//   - No way out of a loop in it may wait for another thread, which might be one
//     that is through. Cycles that are entered at two places count as loops
//     here, though none can be one of the two.
//   - No lane may end in it: the others' votes would wait for it.
//
// Which loop: one that leaves a loop inside it and that a pragma names; or that
// Options.Branch leaves; else of the loops in loops that lanes leave at different
// times the one with the most instructions, those of inner loops counted eight
// times; the first of several. A pragma stands before the outer loop or the
// inner one. Never one that the source forbids.
//
// Or rounds that skip some work (common/Skips.h): what Options.Branch skips; of a
// loop that a pragma names and that is none of two, the heaviest that there is in
// it; and where no loop is one of two, the heaviest of all.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Legality.h"

#include "analysis/AnalysisManagers.h"
#include "remedies/common/Loops.h"
#include "remedies/common/Remedy.h"
#include "remedies/flatten/Refusals.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::remedies::flatten {

using analysis::UniformityResult;

namespace {
/// What becomes one loop: an inner loop and the one around it, or the rounds of
/// a loop, which is both, that skip some work and those that do not.
struct Nest {
  Loop *Inner, *Outer;
  Skip Skipped = {};
};
} // namespace

/// What the source says of inner loop \p M: at itself, or at the loop around it.
static std::optional<SourceRequest> requestAt(const Loop &M,
                                              const Loop &Around) {
  auto Said = remedies::requestOf(M, Name);
  return Said ? Said : remedies::requestOf(Around, Name);
}

static bool mayBeTaken(const Loop &M, const Loop &Around,
                       const FlattenOptions &Options) {
  const auto Said = requestAt(M, Around);
  return Said ? Said->On : !Options.Marked;
}

/// The header of a cycle of \p F that parts a warp, and that might be one of the
/// two loops were it not entered at two places; null: there is none.
static const BasicBlock *irreducibleNest(Function &F,
                                         const UniformityResult &Known) {
  CycleInfo Cycles;
  Cycles.compute(F);
  for (const Cycle *C : irreducibleCycles(F, Cycles))
    if ((C->getParentCycle() || C->getNumChildren()) &&
        any_of(C->blocks(), [&](const BasicBlock *BB) {
          return Known.isDivergentBranch(*BB);
        }))
      return C->getHeader();
  return nullptr;
}

static PlanOr<Nest> nestOfBranch(uint32_t Number, Function &F,
                                 const LoopInfo &Loops,
                                 const DominatorTree &Dominance,
                                 const UniformityResult &Known,
                                 const FlattenOptions &Options) {
  Nest Found{loopLeftBy(Number, F, Loops, Known), nullptr};
  if (Found.Inner)
    Found.Outer = Found.Inner->getParentLoop();
  else if ((Found.Skipped = skipAt(Number, F, Loops, Dominance, Known)).Work)
    Found.Inner = Found.Outer =
        Loops.getLoopFor(Found.Skipped.Work->getSinglePredecessor());
  if (!Found.Outer)
    return refusal(refuse::Branch, *F.getEntryBlock().getTerminator(),
                   std::to_string(Number));
  if (!mayBeTaken(*Found.Inner, *Found.Outer, Options))
    return Refusal{&refuse::Off, Found.Inner->getStartLoc(), ""};
  return Found;
}

/// The rounds that skip most; no Inner: none do.
static Nest heaviestNest(const LoopInfo &Loops, const DominatorTree &Dominance,
                         const UniformityResult &Known,
                         const FlattenOptions &Options) {
  Nest Heaviest = {};
  for (Loop *L : Loops.getLoopsInPreorder())
    if (mayBeTaken(*L, *L, Options))
      if (const Skip Here = heaviestSkip(*L, Loops, Dominance, Known);
          Here.Weight > Heaviest.Skipped.Weight)
        Heaviest = {L, L, Here};
  return Heaviest;
}

/// What to flatten.
static PlanOr<Nest> findNest(Function &F, const LoopInfo &Loops,
                             const DominatorTree &Dominance,
                             const UniformityResult &Known,
                             const FlattenOptions &Options) {
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  if (Options.Branch)
    return nestOfBranch(*Options.Branch, F, Loops, Dominance, Known, Options);
  Loop *Chosen = nullptr;
  bool Named = false;
  const Loop *Off = nullptr;
  Loop *Alike = nullptr;
  for (Loop *M : Loops.getLoopsInPreorder()) {
    const auto Here = remedies::requestOf(*M, Name);
    const bool AsksHere = Here && Here->On && Here->AtAnyCost;
    if (!M->getParentLoop() || !divergesAt(*M, Known)) {
      if (AsksHere && !Alike)
        Alike = M;
      continue;
    }
    if (!mayBeTaken(*M, *M->getParentLoop(), Options)) {
      Off = Off ? Off : M;
      continue;
    }
    const auto Said = requestAt(*M, *M->getParentLoop());
    const bool Asks = Said && Said->AtAnyCost;
    if (!Chosen || Asks > Named ||
        (Asks == Named && weightOf(*Chosen, Loops) < weightOf(*M, Loops))) {
      Chosen = M;
      Named = Asks;
    }
  }
  if (Chosen && (Named || !Alike))
    return Nest{Chosen, Chosen->getParentLoop()};
  if (Alike) {
    const Skip Skipped = heaviestSkip(*Alike, Loops, Dominance, Known);
    if (Skipped.Work)
      return Nest{Alike, Alike, Skipped};
    return Refusal{&refuse::Uniform, Alike->getStartLoc(), ""};
  }
  if (Off)
    return Refusal{&refuse::Off, Off->getStartLoc(), ""};
  if (const BasicBlock *BB = irreducibleNest(F, Known))
    return refusal(refuse::Irreducible, *BB->getTerminator());
  if (const Nest Found = heaviestNest(Loops, Dominance, Known, Options);
      Found.Inner)
    return Found;
  return refusal(refuse::Loop, Start);
}

static std::string nameOf(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee ? Callee->getName().str() : "";
}

/// Why the outer loop \p L has to stay as it is; none: it does not.
static std::optional<Refusal> tiedBy(const Loop &L, const LoopInfo &Loops) {
  Function &F = *L.getHeader()->getParent();
  if (const Instruction *I = waitsFor(F, Loops, &L))
    return refusal(refuse::Waits, *I);
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB) {
      const auto *Call = dyn_cast<CallBase>(&I);
      const Intrinsic::ID Id = Call ? Call->getIntrinsicID() : 0;
      if (Id == Intrinsic::nvvm_exit)
        return refusal(refuse::Exit, I);
      if (Call && Call->isConvergent() && Id != Intrinsic::nvvm_nanosleep)
        return refusal(refuse::Together, I, nameOf(*Call));
    }
  return std::nullopt;
}

PlanOr<FlattenPlan> planFlatten(Function &F, const FlattenOptions &Options) {
  const UniformityResult Known = analysis::computeUniformity(F);
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  PlanOr<Nest> Found = findNest(F, Loops, Dominance, Known, Options);
  if (const auto *Why = std::get_if<Refusal>(&Found))
    return *Why;
  const Nest &Chosen = std::get<Nest>(Found);
  if (auto Why = tiedBy(*Chosen.Outer, Loops))
    return *Why;
  FlattenPlan Plan{Chosen.Inner->getHeader(), Chosen.Skipped, {}, Options};
  if (const auto Said = requestAt(*Chosen.Inner, *Chosen.Outer)) {
    Plan.Options = cantFail(parseFlattenOptions(Said->Parameters, Options));
    Plan.Options.Occupancy &= !Said->AtAnyCost;
  }
  if (Plan.Options.Ahead && Chosen.Skipped.Work) {
    analysis::AnalysisManagers Analyses;
    auto Ahead = planAhead(*Chosen.Outer, Chosen.Skipped, Dominance,
                           Analyses.Functions.getResult<AAManager>(F));
    if (const auto *Why = std::get_if<Refusal>(&Ahead))
      return *Why;
    Plan.Ahead = std::get<AheadPlan>(std::move(Ahead));
  }
  return Plan;
}

} // namespace reconverge::remedies::flatten
