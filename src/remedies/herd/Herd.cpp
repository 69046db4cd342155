//===- remedies/herd/Herd.cpp - As most lanes want ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether anything may be herded is asked of a copy, as loops are brought into
// their canonical form first: what is refused stays as it is. Where somebody can
// count a kernel's registers, another copy is changed, and all is refused if
// fewer warps would fit on a multiprocessor.
//
// A kernel that counts who is dropped gets a parameter for that, and a recipe
// that keeps what it counts from launch to launch.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Herd.h"

#include "analysis/device/Annotations.h"
#include "remedies/common/HiddenParameters.h"
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

/// What is launched: \p Kernel, whose last parameter is where it counts.
static Recipe countedLaunch(const Function &Kernel,
                            const HerdOptions &Options) {
  RecipeStep Step;
  Step.Kernel = Kernel.getName().str();
  for (unsigned I = 0; I + 1 != Kernel.arg_size(); ++I)
    Step.Arguments.push_back({RecipeArgument::Program, I});
  Step.Arguments.push_back({RecipeArgument::Scratch, 0});
  Recipe R;
  R.MostThreads = UINT32_MAX; // what one launch counts is told modulo 2^32
  R.Scratch = {{{LaunchAmount::One, 4, 1}, /*Zeroed=*/true, /*Kept=*/true}};
  R.Stop = {
      0, {LaunchAmount::Threads, *Options.Stop, 1000000}, Options.Recheck};
  R.Steps = {std::move(Step)};
  return R;
}

/// Gives lanes 0 where they have no value, as nobody needs one. Some that are
/// dropped may now come to where it is asked for, and have the same each time.
static void fillLacks(Function &F) {
  for (BasicBlock &BB : F)
    for (PHINode &Phi : BB.phis())
      for (Use &In : Phi.incoming_values())
        if (isa<UndefValue>(In.get()))
          In.set(Constant::getNullValue(Phi.getType()));
}

/// Of the kernel, which may be another object afterwards.
static Recipe apply(Function &Kernel, const HerdOptions &Options) {
  Function &F =
      Options.Stop
          ? addParameters(Kernel, {PointerType::getUnqual(Kernel.getContext())},
                          {"dropped"})
          : Kernel;
  canonicalize(F);
  const HerdPlan Plan = planHerd(F, Options);
  fillLacks(F);
  rewrite(Plan, F, Options.Stop ? F.getArg(F.arg_size() - 1) : nullptr);
  if (Options.Registers)
    analysis::setRegisterLimit(F, Options.Registers);
  return Options.Stop ? countedLaunch(F, Options) : Recipe();
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
  Made.Launch = apply(F, Options);
  return Made;
}

} // namespace reconverge::remedies
