//===- remedies/herd/Herd.cpp - As most lanes want ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether anything may be herded is asked of a copy, as loops are brought into
// their canonical form first: what is refused stays as it is. Where somebody can
// count a kernel's registers, another copy is changed, and all is refused if
// fewer warps would fit on a multiprocessor.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Herd.h"

#include "analysis/device/Annotations.h"
#include "remedies/common/WarpCost.h"
#include "remedies/herd/Masks.h"
#include "remedies/herd/Refusals.h"
#include "remedies/herd/Rewrite.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::remedies::herd;

namespace reconverge::remedies {

static Herded planOnCopy(const Function &F, HerdOptions &Options) {
  const std::unique_ptr<Module> Copy = CloneModule(*F.getParent());
  Function &Of = *Copy->getFunction(F.getName());
  canonicalize(Of);
  const HerdPlan Plan = planHerd(Of, Options);
  Herded Made;
  Made.Others = Plan.Others;
  Made.ReachesMemory = Plan.ReachesMemory;
  for (const HerdPoint &P : Plan.Points) {
    Made.Branches.push_back({P.Branch->getTerminator()->getDebugLoc(),
                             P.Header != nullptr, P.Options});
    Options.Occupancy &= P.Options.Occupancy;
  }
  return Made;
}

static void apply(Function &F, const HerdOptions &Options) {
  canonicalize(F);
  rewrite(planHerd(F, Options), F);
  if (Options.Registers)
    analysis::setRegisterLimit(F, Options.Registers);
}

Herded herdFunction(Function &F, const HerdOptions &Given) {
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  Herded Made;
  if (!analysis::isKernel(F)) {
    Made.Others = {refusal(refuse::Function, Start)};
    return Made;
  }
  HerdOptions Options = Given;
  Made = planOnCopy(F, Options);
  if (Made.Branches.empty())
    return Made;
  const unsigned Block = usualBlock(F);
  const WarpCost Price =
      warpCost(F, Options.CountRegisters, Block, Block,
               [&](Function &Copy) { apply(Copy, Options); });
  if (!Price.allows(Options.Occupancy, Options.Registers)) {
    Made.Branches.clear();
    Made.Others = {refusal(refuse::Registers, Start, Price.Text)};
    return Made;
  }
  Made.Registers = Price.note(Options.Registers);
  apply(F, Options);
  return Made;
}

} // namespace reconverge::remedies
