//===- remedies/meld/Meld.cpp - Control-flow melding ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where both sides of a divergent branch hold similar code, a warp that splits
// runs that code twice. Melding makes it one:
//
//   if (c) { x = a[i] + 1; s[j] = x; }        p = c ? &a[i] : &b[k];
//   else   { y = b[k] + 2; s[l] = y; }   ->   v = *p + (c ? 1 : 2);
//                                             s[c ? j : l] = v;
//
//   1. Simplify.cpp   one edge into and out of every if and loop
//   2. Structure.cpp  each arm as a sequence of instructions and regions
//   3. Legality.cpp   what an arm must not hold; a plan or a refusal
//      Alignment.cpp  which items go together, and what that saves
//      Matching.cpp   which instructions can be one
//   4. Rewrite.cpp    the melded code
//   5. again from 1., innermost branches first, until no plan is left
//   6. Polish.cpp     LLVM's passes for what has become visible
//
// Where several branches decide between two arms, or where LLVM has merged the
// tails of both sides, Unshare.cpp makes two arms of that, and Exclusive.cpp of
// two ifs of which no lane takes both; if they do not meld either, it is
// undone.
//
// A divergent switch is tried as a chain of branches: its cases meld pair by
// pair, the last two first. If nothing of the function melds, it gets its old
// body back.
//
// It ends: each round takes away one two-way branch that is no guard, and makes
// no new one.
//
// Paper: C. Saumya, K. Sundararajah, M. Kulkarni, "CFM: SIMT Thread Divergence
// Reduction by Melding Similar Control-Flow Regions in GPGPU Programs".
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Meld.h"

#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "remedies/meld/Exclusive.h"
#include "remedies/meld/Legality.h"
#include "remedies/meld/Refusals.h"
#include "remedies/meld/Rewrite.h"
#include "remedies/meld/Simplify.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"

#include <cmath>

using namespace llvm;
using namespace reconverge::remedies::meld;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-meld";

/// On a branch whose sides share code, when copying that has been tried.
static constexpr StringLiteral TriedKind = "rc.tried";

namespace {

/// The analyses of a function whose regions are simple.
struct Facts {
  explicit Facts(Function &F)
      : Uniformity((simplifyRegions(F), analysis::computeUniformity(F))),
        Dominance(F) {
    Cycles.compute(F);
  }
  operator FunctionFacts() const { return {Dominance, Uniformity, Cycles}; }

  analysis::UniformityResult Uniformity;
  analysis::PostDominance Dominance;
  CycleInfo Cycles;
};

class FunctionMelder {
public:
  FunctionMelder(Function &F, const MeldOptions &Options,
                 OptimizationRemarkEmitter &Remarks)
      : F(F), Options(Options), Remarks(Remarks) {}

  MeldResult run();

private:
  bool mayHaveCandidates() const;
  void lowerSwitches();
  enum class Outcome { Melded, Tried, Nothing };
  Outcome meldOne(bool Report);
  bool meldUnshared(BasicBlock &BB, const BasicBlock &Join);
  Outcome meldExclusive(BasicBlock &BB, const Facts &Now);
  bool meldNow(BasicBlock &BB);
  void carryOut(const MeldPlan &Plan);
  void forgetTried() {
    for (BasicBlock &BB : F)
      BB.getTerminator()->setMetadata(TriedKind, nullptr);
  }
  bool isSkipped(const BasicBlock &BB) const {
    auto Number = analysis::branchNumber(BB);
    return Number && is_contained(Options.Skipped, *Number);
  }
  bool isChosen(const BasicBlock &BB) const {
    auto Number = analysis::branchNumber(BB);
    return !isSkipped(BB) &&
           (Options.Branches.empty() ||
            (Number && is_contained(Options.Branches, *Number)));
  }

  Function &F;
  const MeldOptions &Options;
  OptimizationRemarkEmitter &Remarks;
  MeldResult Result;
};
} // namespace

bool FunctionMelder::mayHaveCandidates() const {
  const auto Uniformity = analysis::computeUniformity(F);
  return any_of(F, [&](const BasicBlock &BB) {
    return Uniformity.isDivergentBranch(BB) &&
           !BB.getTerminator()->getMetadata(GuardKind) &&
           (isChosen(BB) || isSkipped(BB));
  });
}

void FunctionMelder::lowerSwitches() {
  const auto Uniformity = analysis::computeUniformity(F);
  SmallVector<SwitchInst *, 4> Switches;
  for (BasicBlock &BB : F)
    if (auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator()))
      if (Uniformity.isDivergentBranch(BB) && isChosen(BB))
        Switches.push_back(Switch);
  for (SwitchInst *Switch : Switches)
    lowerSwitch(*Switch);
}

void FunctionMelder::carryOut(const MeldPlan &Plan) {
  BasicBlock &BB = *Plan.Branch;
  const DebugLoc Where = BB.getTerminator()->getDebugLoc();
  if (auto Number = analysis::branchNumber(BB)) {
    MeldResult::Share &S = Result.ByBranch[*Number];
    S.Before = std::max(S.Before, S.Saved + Plan.Before);
    S.Saved += Plan.Code.Saved;
    S.Extra += Plan.Code.Extra;
  }
  rewrite(Plan, Options);
  ++Result.Branches;
  Result.Instructions += Plan.Melded;
  Result.Saved += Plan.Code.Saved;
  Remarks.emit([&] {
    return OptimizationRemark(PassName, "Melded", Where, &BB)
           << "melded: " << ore::NV("Instructions", Plan.Melded)
           << " instructions of both sides became one, about "
           << ore::NV("Saved", unsigned(std::lround(Plan.Code.Saved))) << " of "
           << ore::NV("Before", unsigned(std::lround(Plan.Before)))
           << " issue slots saved";
  });
}

/// Melds the arms of \p BB, which has just been given its shape, if they do.
bool FunctionMelder::meldNow(BasicBlock &BB) {
  const Facts Now(F);
  if (!isCandidate(BB, Now))
    return false;
  auto Decision = planMeld(BB, Now, Options);
  const auto *Plan = std::get_if<MeldPlan>(&Decision);
  if (Plan)
    carryOut(*Plan);
  return Plan;
}

static void markTried(BasicBlock &BB) {
  BB.getTerminator()->setMetadata(TriedKind, MDNode::get(BB.getContext(), {}));
}

/// Tries \p BB, whose sides share code, in the ways of Unshare.cpp. If none of
/// them melds, the function is as it was but for a mark on the branch. Either
/// way all its blocks are new.
bool FunctionMelder::meldUnshared(BasicBlock &BB, const BasicBlock &Join) {
  markTried(BB);
  // Blocks are known by their places once they have been restored.
  const auto At = std::distance(F.begin(), BB.getIterator()),
             JoinAt =
                 std::distance(std::as_const(F).begin(), Join.getIterator());
  for (bool Gather : {true, false}) {
    BasicBlock &Branch = *std::next(F.begin(), At);
    BasicBlock &End = *std::next(F.begin(), JoinAt);
    Backup Shared(F);
    BasicBlock *New = Gather                     ? gatherDecision(Branch, End)
                      : unshareArms(Branch, End) ? &Branch
                                                 : nullptr;
    if (New && meldNow(*New))
      return true;
    Shared.restore();
  }
  return false;
}

/// The same of \p BB and the if after it, which no lane takes as well
/// (Exclusive.cpp). Nothing happens, not even a mark, if there is none.
FunctionMelder::Outcome FunctionMelder::meldExclusive(BasicBlock &BB,
                                                      const Facts &Now) {
  if (BB.getTerminator()->getMetadata(TriedKind) ||
      !Now.Uniformity.isDivergentBranch(BB))
    return Outcome::Nothing;
  auto Ifs = findExclusiveIfs(BB, Now.Dominance);
  if (!Ifs)
    return Outcome::Nothing;
  markTried(BB);
  Backup Apart(F);
  makeTwoArms(*Ifs);
  if (meldNow(BB))
    return Outcome::Melded;
  Apart.restore();
  return Outcome::Tried;
}

/// Melds the first branch, innermost first, that can be.
FunctionMelder::Outcome FunctionMelder::meldOne(bool Report) {
  const Facts Now(F);
  const Instruction *OneArmed = nullptr; // the last seen comes first in F
  bool Reported = false;
  auto Miss = [&](const Instruction &Term, const Refusal &Why) {
    reportMissed(Remarks, PassName, "not melded", Term, Why);
    Reported = true;
  };
  for (BasicBlock *BB : post_order(&F)) {
    Instruction &Term = *BB->getTerminator();
    const bool Candidate = isCandidate(*BB, Now);
    if (Report && isSkipped(*BB) && (Candidate || isa<SwitchInst>(Term)))
      Miss(Term, refusal(refuse::HardlySplits, Term));
    if (!isChosen(*BB))
      continue;
    if (!Candidate) {
      if (Now.Uniformity.isDivergentBranch(*BB) && !Term.getMetadata(GuardKind))
        OneArmed = &Term;
      if (Outcome Was = Report ? Outcome::Nothing : meldExclusive(*BB, Now);
          Was != Outcome::Nothing)
        return Was;
      continue;
    }
    auto Decision = planMeld(*BB, Now, Options);
    const auto *Why = std::get_if<Refusal>(&Decision);
    if (!Why) {
      carryOut(std::get<MeldPlan>(Decision));
      return Outcome::Melded;
    }
    if (Report)
      Miss(Term, *Why);
    else if (Why->Kind == &refuse::SharedCode && !Term.getMetadata(TriedKind))
      return meldUnshared(*BB, *Now.Dominance.immediate(*BB)) ? Outcome::Melded
                                                              : Outcome::Tried;
  }
  if (Report && OneArmed && !Reported && !Result.Branches)
    Miss(*OneArmed, refusal(refuse::OneArm, *OneArmed));
  return Outcome::Nothing;
}

MeldResult FunctionMelder::run() {
  if (!mayHaveCandidates())
    return Result;
  if (any_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); })) {
    reportMissed(Remarks, PassName, "not melded", *F.begin()->getTerminator(),
                 refusal(refuse::Exception, *F.begin()->getTerminator()));
    return Result;
  }
  Backup Old(F);
  lowerSwitches();
  while (true) {
    const Outcome Was = meldOne(/*Report=*/false);
    if (Was == Outcome::Nothing)
      break;
    if (Was == Outcome::Melded) { // what was tried may do now
      forgetTried();
      cleanUp(F);
    }
  }
  meldOne(/*Report=*/true); // what is left is what the user hears of
  if (!Result.Branches) {
    Old.restore();
    return Result;
  }
  forgetTried();
  cleanUp(F);
  if (Options.Polish)
    polish(F);
  return Result;
}

MeldResult meldFunction(Function &F, const MeldOptions &Options,
                        OptimizationRemarkEmitter &Remarks) {
  return FunctionMelder(F, Options, Remarks).run();
}

} // namespace reconverge::remedies
