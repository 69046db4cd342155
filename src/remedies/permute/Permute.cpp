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

static RecipeStep::Extent inBlocksOf(uint64_t Threads) {
  return {/*OfProgram=*/false, {LaunchAmount::Threads, 1, Threads}};
}
static RecipeStep::Extent constant(uint64_t Number) {
  return {/*OfProgram=*/false, {LaunchAmount::One, Number, 1}};
}

/// What is launched: \p Order, then \p Kernel, which has so many parameters of
/// the program's, the index, the number of threads, and six sizes.
static Recipe recipeOf(const Function &Order, const Function &Kernel,
                       unsigned OfProgram, unsigned Block) {
  const RecipeArgument Index = {RecipeArgument::Scratch, 0};
  const RecipeArgument Threads = {
      RecipeArgument::Amount, 0, {LaunchAmount::Threads}};
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  Arguments.push_back(Index);
  Arguments.push_back(Threads);
  for (unsigned I = 0; I != 6; ++I)
    Arguments.push_back({RecipeArgument::Dimension, I});
  Recipe R;
  R.MostThreads = uint64_t(1) << 32; // an element of the index has 4 bytes
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, /*Zeroed=*/false}};
  R.Steps = {{.Kernel = Order.getName().str(),
              .Helper = true,
              .Grid = inBlocksOf(OrderBlock),
              .Block = constant(OrderBlock),
              .DynamicShared = false,
              .Arguments = {Index, Threads}},
             {.Kernel = Kernel.getName().str(),
              .Grid = inBlocksOf(Block),
              .Block = constant(Block),
              .Arguments = std::move(Arguments)}};
  return R;
}

/// Where the kernel finds out which thread it is: in front of all of its code,
/// but behind what takes its frame.
static Instruction *splitEntry(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  Instruction *First = &*Entry.getFirstNonPHIOrDbgOrAlloca();
  BasicBlock *Body = Entry.splitBasicBlock(First->getIterator(), "body");
  // Allocas behind other code have to stay in the entry.
  for (Instruction &I : make_early_inc_range(*Body))
    if (auto *Frame = dyn_cast<AllocaInst>(&I);
        Frame && isa<ConstantInt>(Frame->getArraySize()))
      Frame->moveBefore(Entry.getTerminator());
  return Entry.getTerminator();
}

PlanOr<Recipe> permuteKernel(Function &Kernel, const PermuteOptions &Options) {
  PlanOr<ItemsPlan> Planned = planItems(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  // Blocks no larger than the registers of its launch bounds allow.
  const unsigned Bound = analysis::launchBound(Kernel);
  const unsigned Block = Bound ? std::min(Options.Block, Bound) : Options.Block;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &Order =
      makeOrderKernel(Kernel, Kernel.getName() + HelperSuffix, Options);
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  Function &F = addParameters(
      Kernel, {PointerType::getUnqual(C), I64, I32, I32, I32, I32, I32, I32},
      {"index", "threads", "grid.x", "grid.y", "grid.z", "block.x", "block.y",
       "block.z"});
  analysis::setLaunchBound(F, Bound ? Block : 0);
  Instruction *At = splitEntry(F);
  IRBuilder<> B(At);
  Value *Place = readItem(B), *Threads = F.getArg(OfProgram + 1);
  Instruction *Leave = SplitBlockAndInsertIfThen(
      B.CreateICmpUGE(Place, Threads), At, /*Unreachable=*/true);
  ReturnInst::Create(C, Leave->getParent());
  Leave->eraseFromParent();
  B.SetInsertPoint(At);
  Value *Index = B.CreateAddrSpaceCast(
      F.getArg(OfProgram), PointerType::get(C, analysis::GlobalSpace));
  Value *Item = B.CreateZExt(
      B.CreateLoad(B.getInt32Ty(), B.CreateGEP(B.getInt32Ty(), Index, Place)),
      I64);
  becomeItem(std::get<ItemsPlan>(Planned), Item,
             launchFromParameters(F, OfProgram + 2), B);
  return recipeOf(Order, F, OfProgram, Block);
}

} // namespace reconverge::remedies
