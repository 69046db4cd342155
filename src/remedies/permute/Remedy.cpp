//===- remedies/permute/Remedy.cpp - Permuting, for the rest --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// It gives nothing back, so that it is no candidate and no advice: who wants it
// asks for it.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Remedy.h"
#include "remedies/common/ItemRefusals.h"
#include "remedies/permute/Permute.h"

#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

static Expected<std::optional<Recipe>>
apply(Function &F, StringRef Parameters, const Services &,
      OptimizationRemarkEmitter &Remarks) {
  auto Options = parsePermuteOptions(Parameters);
  if (!Options)
    return Options.takeError();
  PlanOr<Recipe> Made = permuteKernel(F, *Options);
  if (auto *Launch = std::get_if<Recipe>(&Made))
    return std::move(*Launch);
  reportMissed(Remarks, "reconverge-permute", "not permuted",
               *F.getEntryBlock().getTerminator(), std::get<Refusal>(Made));
  return std::nullopt;
}

const Remedy permute::Itself = {
    .Name = permute::Name,
    .Does = permute::Does,
    .Parameters = permute::Parameters,
    .Refusals = {},
    .Advice = "permute its threads",
    .PriceOf = "",
    .RegroupsBlock = false,
    .BoundAt = [](const KernelProfile &, const KernelCost &,
                  uint32_t) -> BranchBound { return {}; },
    .Guess = [](const KernelProfile &) -> std::vector<std::string> {
      return {};
    },
    .Check = checkBy<parsePermuteOptions>,
    .Apply = apply,
    .ChangesLaunch = true};

} // namespace reconverge::remedies
