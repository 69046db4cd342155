//===- remedies/reorder_blocks/Remedy.cpp - Reordering, for the rest ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Remedy.h"

#include "remedies/common/Requests.h"
#include "remedies/reorder_blocks/Forecast.h"
#include "remedies/reorder_blocks/Refusals.h"
#include "remedies/reorder_blocks/Reorder.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-reorder-blocks";

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parseReorderOptions(Parameters);
  if (!Options)
    return Options.takeError();
  if (Options->Marked && !isAskedFor(F, reorder_blocks::Name))
    return std::nullopt;
  PlanOr<Recipe> Made = reorderBlocks(F, *Options);
  if (auto *Launch = std::get_if<Recipe>(&Made))
    return std::move(*Launch);
  reportMissed(Remarks, PassName, "blocks not reordered",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

const Remedy reorder_blocks::Itself = {
    .Name = reorder_blocks::Name,
    .Does = reorder_blocks::Does,
    .Parameters = reorder_blocks::Parameters,
    .Refusals = reorder_blocks::refuse::All,
    .Advice = "start its long thread blocks first",
    .PriceOf = "",
    .RegroupsBlock = false,
    .BoundAt = nullptr,
    .Guess = nullptr,
    .Check =
        [](StringRef Text) { return parseReorderOptions(Text).takeError(); },
    .Apply = apply,
    .Moves = [](StringRef) { return Moved::Blocks; },
    .GuessBySchedule = reorder_blocks::guess,
    .ChangesLaunch = true};

} // namespace reconverge::remedies
