//===- remedies/share/Remedy.cpp - Sharing, for the rest ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/share/Forecast.h"
#include "remedies/share/Refusals.h"
#include "remedies/share/Share.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-share";

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseShareOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, share::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  const auto Made = shareFunction(F, *Options);
  if (const auto *Why = std::get_if<Refusal>(&Made)) {
    reportMissed(Remarks, PassName, "not shared",
                 *F.getEntryBlock().getTerminator(), *Why);
    return std::nullopt;
  }
  const auto &Now = std::get<Shared>(Made);
  Remarks.emit([&] {
    return OptimizationRemark(PassName, "Shared", Now.Where, &F.getEntryBlock())
           << "shared: lanes of a warp run the loop's iterations together"
           << Now.Registers;
  });
  return asBefore(true);
}

const Remedy share::Itself = {
    .Name = share::Name,
    .Does = share::Does,
    .Parameters = share::Parameters,
    .Refusals = share::refuse::All,
    .Advice = "share its iterations",
    .PriceOf = "dealing them out",
    .RegroupsBlock = false,
    .BoundAt = share::boundAt,
    .Guess = share::guess,
    .Check = [](StringRef Text) { return parseShareOptions(Text).takeError(); },
    .Apply = apply,
    .Foresee = share::foresee};

} // namespace reconverge::remedies
