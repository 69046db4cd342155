//===- remedies/permute/Permute.cpp - Threads in another order ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(args)
//
//     index = scratch of 4 bytes a thread
//     k$before<<<threads / 256, 256>>>(index, threads)
//     k<<<threads / 128, 128>>>(args, index, threads, grid, block)
//
// There is no k$before, and the index is memory that stays, where a file gives
// the order (order=given).
//
//   k: place = number of the thread in this launch; leave if place >= threads
//      run as thread number index[place] of <<<grid, block>>>
//
// At random and reversed, the iterations of a kernel that is one loop over the
// grid change places (common/Straight.h): a proof for those that hand them out.
//
// Whole blocks change places in the same way, in a grid of as many blocks in
// one dimension; a kernel may then use shared memory and barriers.
//
// It makes no kernel faster. It shows whether one may be permuted at all: which
// threads share a warp and a block is different with each seed, and results
// must not be (docs/permute.md). And it is what the indirection itself costs,
// which every remedy that hands out threads by an index pays.
//
// Why right: the index is a permutation of all threads (Order.cpp), each is run
// once, and nothing but its numbers ties a thread to its place (Items.h).
//
//===----------------------------------------------------------------------===//

#include "remedies/permute/Permute.h"

#include "core/Remedied.h"
#include "remedies/common/Redirection.h"
#include "remedies/common/Straight.h"
#include "remedies/permute/Order.h"

#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::remedies {

/// Threads of the blocks that fill the index.
static constexpr uint64_t OrderBlock = 256;

/// What changes places, as the number of it in a launch.
static LaunchAmount unitsOf(const PermuteOptions &Options, uint64_t Per = 1) {
  return {Options.WholeBlocks ? LaunchAmount::Blocks : LaunchAmount::Threads, 1,
          Per};
}

/// What is launched: \p Order, if it is not null, then \p Kernel, which has so
/// many parameters of the program's, the index, the number of units, and six
/// sizes. \p Block: threads of a block, if it has not the program's blocks.
static Recipe recipeOf(const Function *Order, const Function &Kernel,
                       unsigned OfProgram, const PermuteOptions &Options,
                       unsigned Block) {
  const RecipeArgument Index = {RecipeArgument::Scratch, 0};
  const RecipeArgument Units = {RecipeArgument::Amount, 0, unitsOf(Options)};
  const bool Whole = Options.WholeBlocks;
  Recipe R;
  R.MostThreads = uint64_t(1) << 32; // an element of the index has 4 bytes
  R.Scratch = {{.Bytes = {unitsOf(Options).Of, 4, 1}, .Given = !Order}};
  if (Order)
    R.Steps.push_back({.Kernel = Order->getName().str(),
                       .Helper = true,
                       .Grid = extentOf(unitsOf(Options, OrderBlock)),
                       .Block = constantExtent(OrderBlock),
                       .DynamicShared = false,
                       .Arguments = {Index, Units}});
  R.Steps.push_back(
      {.Kernel = Kernel.getName().str(),
       .Grid = extentOf(unitsOf(Options, Whole ? 1 : Block)),
       .Block = Whole ? RecipeStep::Extent() : constantExtent(Block),
       .Arguments = redirectedArguments(OfProgram, Index, unitsOf(Options))});
  return R;
}

/// Beside \p Kernel; null where no kernel makes the order.
static Function *orderKernelOf(Function &Kernel,
                               const PermuteOptions &Options) {
  return Options.Order == ItemOrder::Given
             ? nullptr
             : &makeOrderKernel(Kernel, Kernel.getName() + HelperSuffix,
                                Options);
}

static PlanOr<Recipe> permuteThreads(Function &Kernel,
                                     const PermuteOptions &Options) {
  std::optional<TripCount> Trips;
  if (Options.Order == ItemOrder::Random ||
      Options.Order == ItemOrder::Reversed)
    Trips = straighten(Kernel, [](Function &Copy) {
      return std::holds_alternative<ItemsPlan>(planItems(Copy));
    });
  PlanOr<ItemsPlan> Planned = planItems(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const unsigned Block = blockWithin(Kernel, Options.Block);
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function *Order = orderKernelOf(Kernel, Options);
  Function &F = redirectThreads(Kernel, std::get<ItemsPlan>(Planned), Block);
  Recipe Made = recipeOf(Order, F, OfProgram, Options, Block);
  Made.Trips = std::move(Trips);
  return Made;
}

static PlanOr<Recipe> permuteBlocks(Function &Kernel,
                                    const PermuteOptions &Options) {
  PlanOr<BlocksPlan> Planned = planBlocks(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function *Order = orderKernelOf(Kernel, Options);
  Function &F = redirectBlocks(Kernel, std::get<BlocksPlan>(Planned));
  return recipeOf(Order, F, OfProgram, Options, 0);
}

PlanOr<Recipe> permuteKernel(Function &Kernel, const PermuteOptions &Options) {
  return Options.WholeBlocks ? permuteBlocks(Kernel, Options)
                             : permuteThreads(Kernel, Options);
}

} // namespace reconverge::remedies
