//===- remedies/flatten/Flatten.cpp - One loop of two ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrite.cpp says how. Where somebody can count a kernel's registers, it is done
// to a copy first, and refused if fewer warps would fit on a multiprocessor. A
// function that is no kernel has no registers of its own.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Flatten.h"

#include "analysis/device/Annotations.h"
#include "remedies/common/WarpCost.h"
#include "remedies/flatten/Refusals.h"
#include "remedies/flatten/Rewrite.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace reconverge::remedies::flatten;

namespace reconverge::remedies {

static void apply(Function &F, const FlattenPlan &Plan) {
  rewrite(Plan, F);
  if (Plan.Options.Registers && analysis::isKernel(F))
    analysis::setRegisterLimit(F, Plan.Options.Registers);
}

static WarpCost priceOf(const Function &F, const FlattenOptions &Options) {
  if (!analysis::isKernel(F))
    return {};
  const unsigned Block = usualBlock(F);
  return warpCost(F, Options.CountRegisters, Block, Block, [&](Function &Copy) {
    apply(Copy, std::get<FlattenPlan>(planFlatten(Copy, Options)));
  });
}

PlanOr<Flattened> flattenFunction(Function &F, const FlattenOptions &Options) {
  auto Planned = planFlatten(F, Options);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  auto &Plan = std::get<FlattenPlan>(Planned);
  const WarpCost Price = priceOf(F, Options);
  const Instruction &Start = *Plan.Header->getTerminator();
  if (!Price.allows(Plan.Options.Occupancy, Plan.Options.Registers))
    return refusal(refuse::Registers, Start, Price.Text);
  Flattened Made{Start.getDebugLoc(), Plan.Options,
                 Price.note(Plan.Options.Registers),
                 Plan.Skipped.Work != nullptr, Plan.Ahead.has_value()};
  apply(F, Plan);
  return Made;
}

} // namespace reconverge::remedies
