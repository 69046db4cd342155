//===- remedies/refill/Remedy.cpp - Refilling, for the rest ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/ItemRefusals.h"
#include "remedies/refill/Refill.h"
#include "remedies/refill/Refusals.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-refill";

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &Services,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseRefillOptions(Parameters);
  if (!Options)
    return Options.takeError();
  Options->CountRegisters = Services.CountRegisters;
  PlanOr<Refilled> Made = refillKernel(F, *Options);
  if (auto *Now = std::get_if<Refilled>(&Made))
    return std::move(Now->Launch);
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
    .PriceOf = "taking items",
    .RegroupsBlock = false,
    .BoundAt = [](const KernelProfile &, const KernelCost &,
                  uint32_t) -> BranchBound { return {}; },
    .Guess = [](const KernelProfile &) -> std::vector<std::string> {
      return {};
    },
    .Check = checkBy<parseRefillOptions>,
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Threads; },
    .ChangesLaunch = true};

} // namespace reconverge::remedies
