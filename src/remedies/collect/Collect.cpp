//===- remedies/collect/Collect.cpp - Items by path -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(args)
//
//     k<<<blocks / items, block>>>(args, blocks, grid)
//
// A block does the work of `items` blocks of the program's, of the same shape.
// First it finds out which way each of their threads will go, by the code before
// the branches that part them (Legality.cpp); sorts them by that in shared
// memory (Sort.cpp); and then its warps take 32 of one path at a time, as they
// get free, and run the kernel as it was for each (Rewrite.cpp).
//
// An item of a short path (it writes a 0) is done in the first step. What a warp
// takes has one path, so the branches that made it are not decided again.
//
// Launches of blocks that are not of whole warps, or larger than was planned for,
// take the kernel as it was. So do those of more dimensions than one, if the
// kernel asks for one alone: it need not take numbers apart then.
//
// A kernel that is one loop over the grid has an item an iteration
// (common/Straight.h).
//
// Where somebody can count registers, all of this is done to a copy first, and
// refused if fewer warps would fit on a multiprocessor.
//
// The device library's block_collect is the same by hand (docs/collect.md).
//
// Limitation: what the code that decides has computed for later, it computes
// again.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Collect.h"

#include "analysis/device/Annotations.h"
#include "remedies/collect/Refusals.h"
#include "remedies/collect/Rewrite.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Straight.h"
#include "remedies/common/WarpCost.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies {

/// Rewrite.cpp counts blocks in 32 bits.
static constexpr uint64_t MostItems = uint64_t(1) << 31;

/// What is launched: \p Kernel, which has so many parameters of the program's.
static Recipe recipeOf(const Function &Kernel, unsigned OfProgram,
                       const collect::CollectPlan &Plan) {
  RecipeStep Step;
  Step.Kernel = Kernel.getName().str();
  Step.Grid = {/*OfProgram=*/false,
               {LaunchAmount::Blocks, 1, Plan.Options.Items}};
  for (unsigned I = 0; I != OfProgram; ++I)
    Step.Arguments.push_back({RecipeArgument::Program, I});
  Step.Arguments.push_back(
      {RecipeArgument::Amount, 0, {LaunchAmount::Blocks, 1, 1}});
  for (unsigned D : {0u, 1u, 2u})
    Step.Arguments.push_back({RecipeArgument::Dimension, D});
  Recipe R;
  R.MostThreads = MostItems;
  R.MostBlockThreads = Plan.Threads;
  R.WholeWarps = true;
  R.OneDimension = Plan.OneDimension;
  R.Steps = {std::move(Step)};
  return R;
}

/// Of the kernel that \p Plan is of, which then is gone.
static Collected apply(Function &Kernel, const collect::CollectPlan &Plan) {
  Collected Made;
  Made.Paths = Plan.Deciding.Paths;
  Made.Threads = Plan.Threads;
  Made.Where = Plan.Branch->getDebugLoc();
  Made.Options = Plan.Options;
  Made.Others = Plan.Others;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Type *I32 = Type::getInt32Ty(Kernel.getContext());
  Function &F = addParameters(
      Kernel, {Type::getInt64Ty(Kernel.getContext()), I32, I32, I32},
      {"blocks", "grid.x", "grid.y", "grid.z"});
  Made.SharedBytes = collect::rewrite(Plan, F, OfProgram);
  if (Plan.Options.Registers)
    analysis::setRegisterLimit(F, Plan.Options.Registers);
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
  Made.Launch = recipeOf(F, OfProgram, Plan);
  return Made;
}

PlanOr<Collected> collectKernel(Function &Kernel,
                                const CollectOptions &Options) {
  const auto Trips = straighten(Kernel, [&](Function &Copy) {
    return std::holds_alternative<collect::CollectPlan>(
        collect::planCollect(Copy, Options));
  });
  auto Planned = collect::planCollect(Kernel, Options);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  auto &Plan = std::get<collect::CollectPlan>(Planned);
  const WarpCost Cost =
      warpCost(Kernel, Options.CountRegisters, Plan.Threads, Plan.Threads,
               [&](Function &Copy) {
                 apply(Copy, std::get<collect::CollectPlan>(
                                 collect::planCollect(Copy, Options)));
               });
  if (!Cost.allows(Plan.Options.Occupancy, Plan.Options.Registers))
    return refusal(collect::refuse::Warps, *Plan.Branch, Cost.Text);
  Collected Made = apply(Kernel, Plan);
  Made.Launch.Trips = Trips;
  Made.Warps = Cost.note(Plan.Options.Registers);
  return Made;
}

} // namespace reconverge::remedies
