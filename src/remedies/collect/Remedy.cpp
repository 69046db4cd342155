//===- remedies/collect/Remedy.cpp - Collecting, for the rest -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/collect/Collect.h"
#include "remedies/collect/Forecast.h"
#include "remedies/collect/Refusals.h"
#include "remedies/common/Requests.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-collect";

static void report(Function &F, const Collected &Made) {
  OptimizationRemarkEmitter Remarks(&F);
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Collected", Made.Where,
                              &F.getEntryBlock());
    Remark << "collected: " << std::to_string(Made.Paths) << " paths, "
           << std::to_string(Made.Options.Items) << " items a thread, "
           << std::to_string(Made.SharedBytes)
           << " bytes of shared memory, blocks of up to "
           << std::to_string(Made.Threads) << " threads";
    return Remark << Made.Warps;
  });
  for (const Refusal &Why : Made.Others)
    reportMissed(Remarks, PassName, "not collected",
                 *F.getEntryBlock().getTerminator(), Why);
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseCollectOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, collect::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  PlanOr<Collected> Made = collectKernel(F, *Options); // F may be gone
  if (auto *Now = std::get_if<Collected>(&Made)) {
    report(*M.getFunction(Name), *Now);
    return std::move(Now->Launch);
  }
  reportMissed(Remarks, PassName, "not collected",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

const Remedy collect::Itself = {
    .Name = collect::Name,
    .Does = collect::Does,
    .Parameters = collect::Parameters,
    .Refusals = collect::refuse::All,
    .Advice = "collect its items by path",
    .PriceOf = "sorting",
    .RegroupsBlock = true,
    .BoundAt = collect::boundAt,
    .Guess = collect::guess,
    .Check =
        [](StringRef Text) { return parseCollectOptions(Text).takeError(); },
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Threads; },
    .ChangesLaunch = true};

} // namespace reconverge::remedies
