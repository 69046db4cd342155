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
// Why right: each thread block runs once, whole, and nothing but its number ties
// it to its place (common/Items.h). None waits for another, so that each ends
// whatever runs beside it. Trials prove that none needs what another leaves.
//
//===----------------------------------------------------------------------===//

#include "remedies/reorder_blocks/Reorder.h"

#include "analysis/device/Intrinsics.h"
#include "remedies/common/Items.h"
#include "remedies/common/Loops.h"
#include "remedies/reorder_blocks/Refusals.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

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

PlanOr<Recipe> reorderBlocks(Function &Kernel, const ReorderOptions &Options) {
  PlanOr<BlocksPlan> Planned = planBlocks(Kernel);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  const BlocksPlan &Plan = std::get<BlocksPlan>(Planned);
  if (none_of(Plan.Reads,
              [](const CallBase *Read) { return indexRead(*Read); }))
    return refusal(refuse::NoIndex, *Kernel.getEntryBlock().getTerminator());
  if (auto Why = waits(Kernel))
    return *Why;
  reverse(Plan, Options);
  Recipe R;
  RecipeStep &Step = R.Steps.emplace_back();
  Step.Kernel = Kernel.getName().str();
  for (unsigned I = 0; I != Kernel.arg_size(); ++I)
    Step.Arguments.push_back({RecipeArgument::Program, I});
  return R;
}

} // namespace reconverge::remedies
