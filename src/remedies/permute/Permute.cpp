//===- remedies/permute/Permute.cpp - Threads in another order ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(args)
//
//     index = scratch of 4 bytes a thread
//     k$before<<<threads / 256, 256>>>(index, threads)
//     k<<<threads / 128, 128>>>(args, index, threads, grid, block)
//
//   k: place = number of the thread in this launch; leave if place >= threads
//      run as thread number index[place] of <<<grid, block>>>
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

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "core/Remedied.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"
#include "remedies/permute/Order.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::remedies {

/// Threads of the blocks that fill the index.
static constexpr uint64_t OrderBlock = 256;

/// What changes places, as the number of it in a launch.
static LaunchAmount unitsOf(const PermuteOptions &Options, uint64_t Per = 1) {
  return {Options.WholeBlocks ? LaunchAmount::Blocks : LaunchAmount::Threads, 1,
          Per};
}

static RecipeStep::Extent extent(LaunchAmount A) {
  return {/*OfProgram=*/false, A};
}
static RecipeStep::Extent constant(uint64_t Number) {
  return extent({LaunchAmount::One, Number, 1});
}

/// What is launched: \p Order, then \p Kernel, which has so many parameters of
/// the program's, the index, the number of units, and six sizes. \p Block:
/// threads of a block, if it has not the program's blocks.
static Recipe recipeOf(const Function &Order, const Function &Kernel,
                       unsigned OfProgram, const PermuteOptions &Options,
                       unsigned Block) {
  const RecipeArgument Index = {RecipeArgument::Scratch, 0};
  const RecipeArgument Units = {RecipeArgument::Amount, 0, unitsOf(Options)};
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  Arguments.push_back(Index);
  Arguments.push_back(Units);
  for (unsigned I = 0; I != 6; ++I)
    Arguments.push_back({RecipeArgument::Dimension, I});
  const bool Whole = Options.WholeBlocks;
  Recipe R;
  R.MostThreads = uint64_t(1) << 32; // an element of the index has 4 bytes
  R.Scratch = {{{unitsOf(Options).Of, 4, 1}, /*Zeroed=*/false}};
  R.Steps = {{.Kernel = Order.getName().str(),
              .Helper = true,
              .Grid = extent(unitsOf(Options, OrderBlock)),
              .Block = constant(OrderBlock),
              .DynamicShared = false,
              .Arguments = {Index, Units}},
             {.Kernel = Kernel.getName().str(),
              .Grid = extent(unitsOf(Options, Whole ? 1 : Block)),
              .Block = Whole ? RecipeStep::Extent() : constant(Block),
              .Arguments = std::move(Arguments)}};
  return R;
}

/// Returns from the kernel in front of \p At where \p Condition holds.
static void leaveIf(Value *Condition, Instruction *At) {
  Instruction *Leave =
      SplitBlockAndInsertIfThen(Condition, At, /*Unreachable=*/true);
  ReturnInst::Create(At->getContext(), Leave->getParent());
  Leave->eraseFromParent();
}

/// The unit that runs at \p Place, by \p Index: i64.
static Value *unitAt(IRBuilder<> &B, Value *Index, Value *Place) {
  Value *InGlobal = B.CreateAddrSpaceCast(
      Index, PointerType::get(B.getContext(), analysis::GlobalSpace));
  Type *Element = B.getInt32Ty();
  return B.CreateZExt(
      B.CreateLoad(Element, B.CreateGEP(Element, InGlobal, Place)),
      B.getInt64Ty());
}

/// \p Kernel with what recipeOf passes to it.
static Function &withParameters(Function &Kernel) {
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  return addParameters(
      Kernel, {PointerType::getUnqual(C), I64, I32, I32, I32, I32, I32, I32},
      {"index", "units", "grid.x", "grid.y", "grid.z", "block.x", "block.y",
       "block.z"});
}

static PlanOr<Recipe> permuteThreads(Function &Kernel,
                                     const PermuteOptions &Options) {
  PlanOr<ItemsPlan> Planned = planItems(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  // Blocks no larger than the registers of its launch bounds allow.
  const unsigned Bound = analysis::launchBound(Kernel);
  const unsigned Block = Bound ? std::min(Options.Block, Bound) : Options.Block;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &Order =
      makeOrderKernel(Kernel, Kernel.getName() + HelperSuffix, Options);
  Function &F = withParameters(Kernel);
  analysis::setLaunchBound(F, Bound ? Block : 0);
  Instruction *At = splitEntry(F);
  IRBuilder<> B(At);
  Value *Place = readItem(B);
  leaveIf(B.CreateICmpUGE(Place, F.getArg(OfProgram + 1)), At);
  B.SetInsertPoint(At);
  becomeItem(std::get<ItemsPlan>(Planned),
             unitAt(B, F.getArg(OfProgram), Place),
             launchFromParameters(F, OfProgram + 2), B);
  return recipeOf(Order, F, OfProgram, Options, Block);
}

static PlanOr<Recipe> permuteBlocks(Function &Kernel,
                                    const PermuteOptions &Options) {
  PlanOr<BlocksPlan> Planned = planBlocks(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &Order =
      makeOrderKernel(Kernel, Kernel.getName() + HelperSuffix, Options);
  Function &F = withParameters(Kernel);
  IRBuilder<> B(splitEntry(F));
  Value *Place = readBlock(B);
  becomeBlock(std::get<BlocksPlan>(Planned),
              unitAt(B, F.getArg(OfProgram), Place),
              launchFromParameters(F, OfProgram + 2), B);
  return recipeOf(Order, F, OfProgram, Options, 0);
}

PlanOr<Recipe> permuteKernel(Function &Kernel, const PermuteOptions &Options) {
  return Options.WholeBlocks ? permuteBlocks(Kernel, Options)
                             : permuteThreads(Kernel, Options);
}

} // namespace reconverge::remedies
