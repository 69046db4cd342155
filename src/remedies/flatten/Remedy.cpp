//===- remedies/flatten/Remedy.cpp - Flattening, for the rest -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/flatten/Flatten.h"
#include "remedies/flatten/Forecast.h"
#include "remedies/flatten/Refusals.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-flatten";

static std::string howOf(const Flattened &Now) {
  if (Now.Ahead)
    return "lanes find out which of 32 rounds have work, and then do it";
  const std::string Of = std::to_string(Now.Options.Threshold) + " of 32 ";
  if (Now.Skips)
    return "lanes go on past rounds that skip work, and do it together, " +
           (Now.Options.Threshold ? "once " + Of + "have some"
                                  : std::string("at once"));
  return "lanes that are through with the inner loop go on in the outer one, " +
         (Now.Options.Threshold ? "once " + Of + "are"
                                : std::string("at once"));
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseFlattenOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, flatten::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  const auto Made = flattenFunction(F, *Options);
  if (const auto *Why = std::get_if<Refusal>(&Made)) {
    reportMissed(Remarks, PassName, "not flattened",
                 *F.getEntryBlock().getTerminator(), *Why);
    return std::nullopt;
  }
  const auto &Now = std::get<Flattened>(Made);
  Remarks.emit([&] {
    return OptimizationRemark(PassName, "Flattened", Now.Where,
                              &F.getEntryBlock())
           << "flattened: " << howOf(Now) << Now.Registers;
  });
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
    .Apply = apply,
    .Foresee = flatten::foresee};

} // namespace reconverge::remedies
