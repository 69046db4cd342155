//===- remedies/flatten/Remedy.cpp - Flattening, for the rest -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/flatten/Forecast.h"
#include "remedies/flatten/Refusals.h"
#include "remedies/flatten/Rewrite.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-flatten";

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseFlattenOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, flatten::Name))
    return std::nullopt;
  const auto Planned = flatten::planFlatten(F, *Options);
  if (const auto *Why = std::get_if<Refusal>(&Planned)) {
    reportMissed(Remarks, PassName, "not flattened",
                 *F.getEntryBlock().getTerminator(), *Why);
    return std::nullopt;
  }
  const auto &Plan = std::get<flatten::FlattenPlan>(Planned);
  Remarks.emit([&] {
    return OptimizationRemark(PassName, "Flattened",
                              Plan.Header->getTerminator()->getDebugLoc(),
                              Plan.Header)
           << "flattened: lanes that are through with the inner loop go on in "
              "the outer one, once "
           << ore::NV("Threshold", Plan.Options.Threshold) << " of 32 are";
  });
  flatten::rewrite(Plan, F);
  return asBefore(true);
}

const Remedy flatten::Itself = {
    .Name = flatten::Name,
    .Does = flatten::Does,
    .Parameters = flatten::Parameters,
    .Refusals = flatten::refuse::All,
    .Advice = "flatten its loops",
    .PriceOf = "votes and stops",
    .RegroupsBlock = false,
    .BoundAt = flatten::boundAt,
    .Guess = flatten::guess,
    .Check =
        [](StringRef Text) { return parseFlattenOptions(Text).takeError(); },
    .Apply = apply};

} // namespace reconverge::remedies
