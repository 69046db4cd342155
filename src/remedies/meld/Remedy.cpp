//===- remedies/meld/Remedy.cpp - Melding, for the rest of the project ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/meld/Forecast.h"
#include "remedies/meld/Meld.h"
#include "remedies/meld/Refusals.h"

using namespace llvm;

namespace reconverge::remedies {

/// Share of a branch's warps that must split for melding to look at it.
static constexpr double LeastSplits = 0.02;

static bool hasSides(const BranchInfo &Branch) {
  return Branch.Kind == BranchKind::IfElse || Branch.Kind == BranchKind::Switch;
}

/// Lanes that idle are all that melding can fill.
static BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                           uint32_t Branch) {
  return {hasSides(K.Info.Branches[Branch]) ? Cost.Branches[Branch].SelfSlots
                                            : 0};
}

/// Branches with two sides that hardly split warps are to be left alone.
static std::vector<std::string> guess(const KernelProfile &Seen) {
  std::string Skipped;
  for (auto [Info, Counts] : zip(Seen.Info.Branches, Seen.Branches))
    if (hasSides(Info) &&
        double(Counts.Splits) < LeastSplits * double(Counts.Warps))
      Skipped +=
          (Skipped.empty() ? "skip=" : ";skip=") + std::to_string(Info.Id);
  return {Skipped, Skipped.empty() ? "threshold=0" : "threshold=0;" + Skipped};
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseMeldOptions(Parameters);
  if (!Options)
    return Options.takeError();
  return asBefore(meldFunction(F, *Options, Remarks).Branches != 0);
}

const Remedy meld::Itself = {.Name = meld::Name,
                             .Does = meld::Does,
                             .Parameters = meld::Parameters,
                             .Refusals = meld::refuse::All,
                             .Advice = "meld its sides",
                             .PriceOf = "",
                             .RegroupsBlock = false,
                             .BoundAt = boundAt,
                             .Guess = guess,
                             .Check = checkBy<parseMeldOptions>,
                             .Apply = apply,
                             .Foresee = meld::foresee};

} // namespace reconverge::remedies
