//===- remedies/refill/Refill.cpp - Lanes take the next item --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the number of a loop's rounds hangs on the data, a warp makes as many as
// its slowest lane, and the others wait. Here a lane that is through takes the
// next thread's work instead:
//
//   k: prologue                   k: for (;;) {
//      while (c)          ->            if (as many lanes are idle as is worth
//        body                               a stop)
//      epilogue                           those run the epilogue, take an item
//                                         and run its prologue
//                                       if (all are dead) return
//                                       others: if (c) body
//                                     }
//
//   k<<<grid, block>>>(args)
//
//     source=counter   counter = scratch of 4 bytes, zeroed
//                      k<<<as many as fit, or as there is work for, 128>>>(
//                          args, threads, grid, block, counter)
//     source=slice     k<<<threads / (slice * 128), 128>>>(
//                          args, threads, grid, block)
//
// A thread of the program's launch is an item (common/Items.h). A warp has a
// slice of them: so many for each of its lanes, one behind the other, and which
// lane gets the next is settled by votes. With a counter, it takes another slice
// when it is through with one, until there are none.
//
// Where shared memory is filled before the last barrier (common/BlockPrologue.h),
// blocks have the program's shape instead of 128 threads, and each does that
// once, before its warps take items.
//
//   1. Legality.cpp  which loop; a plan, or a refusal
//                    (or the rounds of one that skip some work, common/Skips.h)
//   2. Prologue.cpp  what an item begins with
//   3. Values.cpp    what a waiting lane keeps
//   4. Rewrite.cpp   the edges, and why the result is right
//      Rounds.cpp    where a warp meets
//   5. here          registers, the recipe
//
// An inner loop can be the one that is refilled: all code from one of its exits
// to its next entry, be it the rest of the outer loop's round, the epilogue or
// the next item's prologue, is what a lane runs in between. So the nest becomes
// one loop, in which lanes are in different rounds of the outer one.
//
// Registers: where somebody can count them, all of this is done to a copy first,
// and refused if fewer warps would fit on a multiprocessor.
//
// Limitation: loops nested in the one that is refilled part lanes as before. And
// items whose prologue or epilogue outweighs the loop pay for running these with
// few lanes: the profile decides (Forecast.cpp).
//
// Papers: T. Aila, S. Laine, "Understanding the Efficiency of Ray Traversal on
// GPUs", HPG 2009 (persistent warps that fetch work); for flattened nests,
// R. v. Hanxleden, K. Kennedy, "Relaxing SIMD Control Flow Constraints using
// Loop Transformations", PLDI 1992.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Refill.h"

#include "analysis/device/Annotations.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/WarpCost.h"
#include "remedies/refill/Refusals.h"
#include "remedies/refill/Rewrite.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

using namespace llvm;
using namespace reconverge::remedies::refill;

namespace reconverge::remedies {

static constexpr unsigned WarpSize = 32;
/// Rounds.cpp counts in 32 bits.
static constexpr uint64_t MostItems = uint64_t(1) << 31;

static RecipeStep::Extent extent(LaunchAmount A) {
  return {/*OfProgram=*/false, A};
}

/// What is launched: \p Kernel, which has so many parameters of the program's.
static Recipe recipeOf(const Function &Kernel, unsigned OfProgram,
                       const RefillOptions &Options, unsigned Block,
                       bool Prologue) {
  const bool Counts = Options.Source == ItemSource::Counter;
  const uint32_t Slice = Options.sliceOf(),
                 OfLane = Counts ? std::max(Slice, Options.Items) : Slice;
  const LaunchAmount Shares =
      Prologue
          ? LaunchAmount{LaunchAmount::Blocks, 1, OfLane}
          : LaunchAmount{LaunchAmount::Threads, 1, uint64_t(OfLane) * Block};
  RecipeStep Step;
  Step.Kernel = Kernel.getName().str();
  if (!Prologue)
    Step.Block = extent({LaunchAmount::One, Block, 1});
  Step.Grid = extent(Shares);
  for (unsigned I = 0; I != OfProgram; ++I)
    Step.Arguments.push_back({RecipeArgument::Program, I});
  Step.Arguments.push_back(
      {RecipeArgument::Amount, 0, {LaunchAmount::Threads, 1, 1}});
  for (unsigned I = 0; I != 6; ++I)
    Step.Arguments.push_back({RecipeArgument::Dimension, I});
  Recipe R;
  R.MostThreads = MostItems;
  R.WholeWarps = Prologue;
  if (Counts) {
    Step.Grid = extent({LaunchAmount::Resident, 1, 1});
    Step.Grid.Most = Shares;
    Step.Arguments.push_back({RecipeArgument::Scratch, 0});
    R.Scratch = {{{LaunchAmount::One, 4, 1}, /*Zeroed=*/true}};
  }
  R.Steps = {std::move(Step)};
  return R;
}

/// \p Kernel with what recipeOf passes to it.
static Function &withParameters(Function &Kernel, ItemSource Source) {
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C);
  SmallVector<Type *> Types{Type::getInt64Ty(C), I32, I32, I32, I32, I32, I32};
  SmallVector<StringRef> Names{"items",   "grid.x",  "grid.y", "grid.z",
                               "block.x", "block.y", "block.z"};
  if (Source == ItemSource::Counter) {
    Types.push_back(PointerType::getUnqual(C));
    Names.push_back("counter");
  }
  return addParameters(Kernel, Types, Names);
}

/// Threads of the blocks that are launched: whole warps, in blocks no larger
/// than the registers of launch bounds allow.
static unsigned blockOf(const Function &Kernel, const RefillOptions &Options) {
  const unsigned Bound = analysis::launchBound(Kernel);
  return Bound ? std::min(Options.Block,
                          std::max(Bound / WarpSize * WarpSize, WarpSize))
               : Options.Block;
}

/// Of the kernel that \p Plan is of, which then is gone.
static Recipe apply(Function &Kernel, const RefillPlan &Plan) {
  const RefillOptions &Options = Plan.Options;
  const bool Prologue{Plan.Prologue};
  const unsigned Block = blockOf(Kernel, Options);
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function *Taken = takePrologue(Plan.Prologue, Kernel);
  Function &F = withParameters(Kernel, Options.Source);
  if (!Prologue)
    analysis::setLaunchBound(F, analysis::launchBound(F) ? Block : 0);
  rewrite(Plan, F, OfProgram, Options);
  putPrologue(Taken, F, launchFromParameters(F, OfProgram + 1));
  if (Options.Registers)
    analysis::setRegisterLimit(F, Options.Registers);
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
  return recipeOf(F, OfProgram, Options, Block, Prologue);
}

PlanOr<Refilled> refillKernel(Function &Kernel, const RefillOptions &Options) {
  PlanOr<RefillPlan> Planned = planRefill(Kernel, Options);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  RefillPlan &Plan = std::get<RefillPlan>(Planned);
  const WarpCost Price = warpCost(
      Kernel, Options.CountRegisters, usualBlock(Kernel),
      Plan.Prologue ? usualBlock(Kernel) : blockOf(Kernel, Plan.Options),
      [&](Function &Copy) {
        apply(Copy, std::get<RefillPlan>(planRefill(Copy, Options)));
      });
  if (!Price.allows(Plan.Options.Occupancy, Plan.Options.Registers))
    return refusal(refuse::Registers, *Plan.Header->getTerminator(),
                   Price.Text);
  Refilled Made;
  Made.Registers = Price.note(Plan.Options.Registers);
  Made.Where = Plan.Header->getTerminator()->getDebugLoc();
  Made.Prologue = bool(Plan.Prologue);
  Made.Launch = apply(Kernel, Plan);
  Made.Options = Plan.Options;
  Made.Others = Plan.Others;
  return Made;
}

} // namespace reconverge::remedies
