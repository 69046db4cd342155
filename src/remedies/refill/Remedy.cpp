//===- remedies/refill/Remedy.cpp - Refilling, for the rest ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/refill/Forecast.h"
#include "remedies/refill/Refill.h"
#include "remedies/refill/Refusals.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-refill";

static void report(Function &F, const Refilled &Made) {
  const RefillOptions &Options = Made.Options;
  OptimizationRemarkEmitter Remarks(&F);
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Refilled", Made.Where,
                              &F.getEntryBlock());
    Remark << "refilled: lanes that are through take the next of "
           << ore::NV("Items", Options.sliceOf() * 32) << " items a warp, once "
           << ore::NV("Threshold", Options.Threshold) << " are idle";
    if (Made.Prologue)
      Remark << "; each block first runs what stands before the last barrier";
    return Remark << Made.Registers;
  });
  for (const Refusal &Why : Made.Others)
    reportMissed(Remarks, PassName, "not refilled",
                 *F.getEntryBlock().getTerminator(), Why);
}

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseRefillOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, refill::Name))
    return std::nullopt;
  Options->CountRegisters = Services.CountRegisters;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  PlanOr<Refilled> Made = refillKernel(F, *Options); // F may be gone
  if (auto *Now = std::get_if<Refilled>(&Made)) {
    report(*M.getFunction(Name), *Now);
    return std::move(Now->Launch);
  }
  reportMissed(Remarks, PassName, "not refilled",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

const Remedy refill::Itself = {
    .Name = refill::Name,
    .Does = refill::Does,
    .Parameters = refill::Parameters,
    .Refusals = refill::refuse::All,
    .Advice = "refill its lanes",
    .PriceOf = "votes and stops",
    .RegroupsBlock = false,
    .BoundAt = refill::boundAt,
    .Guess = refill::guess,
    .Check =
        [](StringRef Text) { return parseRefillOptions(Text).takeError(); },
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Threads; },
    .Foresee = refill::foresee,
    .ChangesLaunch = true};

} // namespace reconverge::remedies
