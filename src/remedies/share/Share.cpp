//===- remedies/share/Share.cpp - A loop dealt out over lanes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrite.cpp says how. Where somebody can count a kernel's registers, it is done
// to a copy first, and refused if fewer warps would fit on a multiprocessor. A
// function that is no kernel has no registers of its own.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Share.h"

#include "analysis/device/Annotations.h"
#include "remedies/common/WarpCost.h"
#include "remedies/share/Refusals.h"
#include "remedies/share/Rewrite.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace reconverge::remedies::share;

namespace reconverge::remedies {

static void apply(Function &F, const SharePlan &Plan) {
  rewrite(Plan, F);
  if (Plan.Options.Registers && analysis::isKernel(F))
    analysis::setRegisterLimit(F, Plan.Options.Registers);
}

static WarpCost priceOf(const Function &F, const ShareOptions &Options) {
  if (!analysis::isKernel(F))
    return {};
  const unsigned Block = usualBlock(F);
  return warpCost(F, Options.CountRegisters, Block, Block, [&](Function &Copy) {
    apply(Copy, std::get<SharePlan>(planShare(Copy, Options)));
  });
}

PlanOr<Shared> shareFunction(Function &F, const ShareOptions &Options) {
  auto Planned = planShare(F, Options);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  auto &Plan = std::get<SharePlan>(Planned);
  const WarpCost Price = priceOf(F, Options);
  const Instruction &Start = *Plan.Header->getTerminator();
  if (!Price.allows(Plan.Options.Occupancy, Plan.Options.Registers))
    return refusal(refuse::Registers, Start, Price.Text);
  Shared Made{Start.getDebugLoc(), Plan.Options,
              Price.note(Plan.Options.Registers)};
  apply(F, Plan);
  return Made;
}

} // namespace reconverge::remedies
