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

static Moved moves(StringRef Parameters) {
  auto Options = parsePermuteOptions(Parameters);
  if (Options)
    return Options->WholeBlocks ? Moved::Blocks : Moved::Threads;
  consumeError(Options.takeError()); // Check says so
  return Moved::Nothing;
}

/// Two memberships at random, and one that is as far from the program's as can
/// be: neighbours stay neighbours, and all else is the other way round.
static std::vector<std::string> proofsOf(Moved What) {
  const std::string Unit = What == Moved::Blocks ? ";unit=block" : "";
  return {"seed=1" + Unit, "seed=2" + Unit, "order=reversed" + Unit};
}

const Remedy permute::Itself = {.Name = permute::Name,
                                .Does = permute::Does,
                                .Parameters = permute::Parameters,
                                .Refusals = {},
                                .Advice = "permute its threads",
                                .PriceOf = "",
                                .RegroupsBlock = false,
                                .BoundAt = nullptr,
                                .Guess = nullptr,
                                .Check = checkBy<parsePermuteOptions>,
                                .Apply = apply,
                                .Moves = moves,
                                .ProofsOf = proofsOf,
                                .ChangesLaunch = true};

} // namespace reconverge::remedies
