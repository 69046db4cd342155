//===- remedies/reorder_blocks/Reorder.cpp - Blocks in another order ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU starts thread blocks by their numbers and gives each multiprocessor
// another when one is through (model/Schedule.cpp). If the last ones take
// longest, a few multiprocessors work on them while the others have nothing
// left. Those that take longest go first, then, and short ones fill the end:
// R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM Journal on
// Applied Mathematics 17 (1969).
//
// order=reversed, for kernels of which later thread blocks do more:
//
//   k<<<grid, block>>>(args), in which blockIdx = gridDim - 1 - blockIdx
//
// in each dimension, which reverses the order of the numbers. It costs an
// instruction or two.
//
// order=last, where only a launch tells. Some launches take the time,
//
//   costs = scratch of 4 bytes a block, zeros
//   k$timed$before<<<grid, block>>>(args, costs)     as it is, and, at each return:
//     if it is lane 0: costs[block] = max(costs[block], clock - clock at the entry)
//   index = blocks, sorted by descending cost        common/Sort.cu
//
// and those after them go by it:
//
//   k<<<blocks, block>>>(args, index, blocks, grid, block)
//
//   k: run as block number index[number of the block] of <<<grid, block>>>
//
// order=slice, where what blocks will do can be known before:
//
//   costs = scratch of 4 bytes a block
//   k$costs$before<<<blocks / 256, 256>>>(args, costs, ...)    BlockCost.cpp
//   index = blocks, sorted by descending cost
//   k<<<blocks, block>>>(args, index, blocks, grid, block)
//
// When times are taken again, launch/Orders.h says. Clocks are of 32 bits: of a
// block that takes longer, some 2 s, the time is too short, and the order poor.
//
// Why right: each thread block runs once, whole, and nothing but its number ties
// it to its place (common/Items.h); an index is a permutation whatever the costs
// are. None waits for another, so that each ends whatever runs beside it. Trials
// prove that none needs what another leaves.
//
//===----------------------------------------------------------------------===//

#include "remedies/reorder_blocks/Reorder.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"
#include "core/Remedied.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Loops.h"
#include "remedies/common/Redirection.h"
#include "remedies/common/Requests.h"
#include "remedies/common/Slice.h"
#include "remedies/common/Sort.h"
#include "remedies/reorder_blocks/BlockCost.h"
#include "remedies/reorder_blocks/Refusals.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::remedies::reorder_blocks;

namespace reconverge::remedies {

/// \p Kernel and the functions that it can call.
static SetVector<Function *> reachedFrom(Function &Kernel) {
  SetVector<Function *> All;
  All.insert(&Kernel);
  for (size_t Next = 0; Next != All.size(); ++Next)
    for (Instruction &I : instructions(*All[Next]))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *F = Call->getCalledFunction(); F && !F->isDeclaration())
          All.insert(F);
  return All;
}

/// Why no thread block may begin before one of a lower number; none if it may.
static std::optional<Refusal> waits(Function &Kernel) {
  for (Function *F : reachedFrom(Kernel)) {
    DominatorTree Dominance(*F);
    const LoopInfo Loops(Dominance);
    if (const Instruction *I = waitsFor(*F, Loops))
      return refusal(refuse::Waits, *I);
  }
  return std::nullopt;
}

static constexpr Intrinsic::ID GridSize[] = {
    Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
    Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
    Intrinsic::nvvm_read_ptx_sreg_nctaid_z};

static std::optional<unsigned> indexRead(const CallBase &Read) {
  return analysis::blockIndexDimension(
      cast<IntrinsicInst>(Read).getIntrinsicID());
}

static void reverse(const BlocksPlan &Plan, const ReorderOptions &Options) {
  for (CallBase *Read : Plan.Reads) {
    const std::optional<unsigned> Dimension = indexRead(*Read);
    if (!Dimension)
      continue;
    IRBuilder<> B(Read->getNextNode());
    B.SetCurrentDebugLocation(Read->getDebugLoc());
    Value *Size = B.CreateIntrinsic(GridSize[*Dimension], {}, {});
    Value *Last = B.CreateSub(Size, B.getInt32(1));
    auto *Reversed = cast<Instruction>(B.CreateSub(Last, Read));
    Value *Now = Reversed;
    if (Options.PlantedBug)
      Now = B.CreateAnd(Now, B.getInt32(~1u));
    Read->replaceUsesWithIf(
        Now, [&](const Use &U) { return U.getUser() != Reversed; });
  }
}

//===----------------------------------------------------------------------===//
// By the time that they took
//===----------------------------------------------------------------------===//

/// In front of \p Return: lane 0 of a warp adds the time since \p Begin, a clock
/// of 32 bits, to \p Cost, which has the longest of its block.
static void takeTime(ReturnInst *Return, Value *Begin, Value *Cost) {
  IRBuilder<> B(Return);
  Value *Lane = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  Value *IsFirst = B.CreateICmpEQ(Lane, B.getInt32(0));
  B.SetInsertPoint(
      SplitBlockAndInsertIfThen(IsFirst, Return, /*Unreachable=*/false));
  Value *End = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_clock, {}, {});
  B.CreateAtomicRMW(AtomicRMWInst::UMax, Cost, B.CreateSub(End, Begin),
                    MaybeAlign(4), AtomicOrdering::Monotonic);
}

/// A copy of \p Kernel, with a parameter more: of each block, the longest time
/// of a warp in cycles.
static Function &makeTimed(Function &Kernel) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Kernel, Map);
  Copy->setName(Kernel.getName() + "$timed" + HelperSuffix);
  analysis::copyAnnotations(Kernel, *Copy);
  Function &F = addParameters(
      *Copy, {PointerType::getUnqual(Kernel.getContext())}, {"costs"});
  F.removeFnAttr(Attribute::Memory); // it writes the costs
  SmallVector<ReturnInst *> Returns;
  for (BasicBlock &BB : F)
    if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
      Returns.push_back(Return);
  IRBuilder<> B(splitEntry(F));
  Value *Costs = B.CreateAddrSpaceCast(
      F.getArg(unsigned(F.arg_size()) - 1),
      PointerType::get(F.getContext(), analysis::GlobalSpace));
  Value *Cost = B.CreateGEP(B.getInt32Ty(), Costs, readBlock(B));
  Value *Begin = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_clock, {}, {});
  for (ReturnInst *Return : Returns)
    takeTime(Return, Begin, Cost);
  return F;
}

static constexpr uint64_t MostBlockThreads = 1024;
/// Sort.cu counts in 32 bits.
static constexpr uint64_t MostItems = uint64_t(1) << 31;

/// Scratch of both orders by cost.
enum : uint32_t { Costs, Keys, Ids, Counts, Totals };

/// A recipe without steps.
static Recipe recipeByCost(const ReorderOptions &Options) {
  const LaunchAmount Words = {LaunchAmount::Blocks, 4};
  const uint64_t LeastBlocks =
      std::max<uint64_t>(Options.Least / MostBlockThreads, 1);
  Recipe R;
  R.LeastThreads = Options.Least;
  R.MostThreads = MostItems;
  R.Scratch = {{Words, /*Zeroed=*/true},
               {Words},
               {Words},
               {sorting::countsOf(LaunchAmount::Blocks, LeastBlocks)},
               {sorting::totals()}};
  return R;
}

static std::vector<RecipeArgument> withCosts(const Function &Kernel) {
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != Kernel.arg_size(); ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  Arguments.push_back(sorting::scratch(Costs));
  return Arguments;
}

/// Adds the steps that make an index of the costs.
static void addOrder(Recipe &R, Function &Kernel) {
  const LaunchAmount Blocks = {LaunchAmount::Blocks};
  SmallVector<StringRef, 4> Names(std::begin(sorting::Passes),
                                  std::end(sorting::Passes));
  Names.push_back("longest_first");
  sorting::link(Kernel, Names);
  R.Steps.push_back(
      sorting::step(Kernel, "longest_first",
                    extentOf({LaunchAmount::Blocks, 1, sorting::Threads}),
                    {sorting::scratch(Costs),
                     sorting::scratch(Keys),
                     {RecipeArgument::Amount, 0, Blocks}}));
  sorting::addPasses(R, Kernel,
                     {.Of = LaunchAmount::Blocks,
                      .Keys = Keys,
                      .Ids = {Ids, Ids},
                      .Sorted = Keys,
                      .Counts = Counts,
                      .Totals = Totals},
                     sorting::DigitBits);
}

/// Adds the step that runs \p Kernel, whose place another takes, by the index.
static void addKernel(Recipe &R, Function &Kernel, const BlocksPlan &Plan,
                      const ReorderOptions &Options) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  const LaunchAmount Blocks = {LaunchAmount::Blocks};
  const uint64_t Per = Options.PlantedBug ? 2 : 1;
  Function &F = redirectBlocks(Kernel, Plan);
  R.Steps.push_back({.Kernel = F.getName().str(),
                     .Grid = extentOf({LaunchAmount::Blocks, 1, Per}),
                     .Block = {},
                     .Arguments = redirectedArguments(
                         OfProgram, sorting::scratch(Ids), Blocks)});
}

static Recipe byLast(Function &Kernel, const BlocksPlan &Plan,
                     const ReorderOptions &Options) {
  Recipe R = recipeByCost(Options);
  R.Reuse.emplace().Renewed = true;
  R.Scratch[Ids].Kept = true;
  RecipeStep &Timed = R.Steps.emplace_back();
  Timed.Kernel = makeTimed(Kernel).getName().str();
  Timed.Arguments = withCosts(Kernel);
  addOrder(R, Kernel);
  for (RecipeStep &Step : R.Steps)
    Step.When = RecipeStep::Making;
  addKernel(R, Kernel, Plan, Options);
  R.Steps.back().When = RecipeStep::Reusing;
  return R;
}

static PlanOr<Recipe> bySlice(Function &Kernel, const BlocksPlan &Plan,
                              const ReorderOptions &Options) {
  if (Plan.Exits)
    return refusal(sliced::Exit, *Kernel.getEntryBlock().getTerminator());
  PlanOr<CostKernel> Made =
      makeCostKernel(Kernel, Kernel.getName() + "$costs" + HelperSuffix);
  if (const auto *Why = std::get_if<Refusal>(&Made))
    return *Why;
  const CostKernel &Cost = std::get<CostKernel>(Made);
  Recipe R = recipeByCost(Options);
  RecipeStep &First = R.Steps.emplace_back();
  First.Kernel = Cost.Kernel->getName().str();
  First.Helper = true;
  First.Arguments = withCosts(Kernel);
  if (Cost.ForWhole) {
    const unsigned Block = blockWithin(*Cost.Kernel, 256);
    First.Grid = extentOf({LaunchAmount::Blocks, 1, Block});
    First.Block = constantExtent(Block);
    First.DynamicShared = false;
    for (RecipeArgument A : placeArguments({LaunchAmount::Blocks}))
      First.Arguments.push_back(A);
  }
  R.Scratch[Costs].Zeroed = !Cost.ForWhole;
  addOrder(R, Kernel);
  addKernel(R, Kernel, Plan, Options);
  return R;
}

PlanOr<Recipe> reorderBlocks(Function &Kernel, const ReorderOptions &Given) {
  ReorderOptions Options = Given;
  if (const auto Said = requestOf(Kernel, Name)) {
    if (!Said->On)
      return refusal(refuse::Off, *Kernel.getEntryBlock().getTerminator());
    Options = cantFail(parseReorderOptions(Said->Parameters, Options));
  }
  PlanOr<BlocksPlan> Planned = planBlocks(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const BlocksPlan &Plan = std::get<BlocksPlan>(Planned);
  if (none_of(Plan.Reads,
              [](const CallBase *Read) { return indexRead(*Read); }))
    return refusal(refuse::NoIndex, *Kernel.getEntryBlock().getTerminator());
  if (auto Why = waits(Kernel))
    return *Why;
  if (Options.Order == BlockOrder::Last)
    return byLast(Kernel, Plan, Options);
  if (Options.Order == BlockOrder::Slice)
    return bySlice(Kernel, Plan, Options);
  reverse(Plan, Options);
  Recipe R;
  RecipeStep &Step = R.Steps.emplace_back();
  Step.Kernel = Kernel.getName().str();
  for (unsigned I = 0; I != Kernel.arg_size(); ++I)
    Step.Arguments.push_back({RecipeArgument::Program, I});
  return R;
}

} // namespace reconverge::remedies
