//===- remedies/collect/Forecast.cpp - What collecting should gain --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block vectors say what regrouping the threads of a block gives back at a
// branch, R; at most all that idles in its region comes back, C. A block of V
// of the program's has V times as many threads to choose from, and as many warps
// that are not full; but where a block's threads agree, so may those of the next:
//
//   gain(V)  = R + (C - R) (1 - 1/V) R/C
//   price(V) = W (12 + 35 / V              W warps' items sorted and taken
//                 + bits (32 + 12 / V))    bits that tell the ways apart
//              + D                         what decides runs twice
//
// once for the kernel. The numbers are instructions of what the pass emits, in
// blocks of 256, counted for 1, 2, 3, 4 and 8 paths of a switch and for two, four
// and eight items: with four items 41 a warp of items with one path, 71 with two,
// 100 with four, 135 with eight. What is divided by V a thread does once. Of two
// ways at a branch it is not known whether one has no work, which costs 41, or
// both have, which costs 71: one bit lies between. D is the code before the first
// branch that parts.
//
// Of a loop over the grid the iterations are items. A thread's vector says
// nothing of one, but each block has V times its threads of them, of which each
// path leaves half a warp that is not full: R is C less that.
//
// Which branches: as Legality.cpp has it, as far as counts tell. Those on the
// thread's number alone, which it leaves out unless told, where regrouping there
// gives back LeastById of the kernel: borders of an image, not `i < n`.
//
// V: four, then eight, then two, of hand-written forms the order in which most
// were fastest (docs/remap-results.md). But a launch should still fill a GPU:
// where it would not with V, V is left out. Two is always there.
//
// Limitation: memory is the model's (model/Forecast.cpp), as it was before: that
// items of a warp lie further apart is not foreseen. Nor are writes or loops
// before the branch; Apply says so then.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Forecast.h"

#include "model/Model.h"
#include "model/Slots.h"
#include "remedies/collect/Options.h"
#include "remedies/common/Counted.h"
#include "remedies/common/WarpCost.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies::collect {

/// What an instruction may count at most, in a loop.
static constexpr uint64_t LoopWeight = 8;
static constexpr double LeastById = 0.02;
static constexpr double PerItem = 12, PerThread = 35, BitPerItem = 32,
                        BitPerThread = 12;
/// Warps that may keep a large GPU busy: eight on each of 132 multiprocessors.
/// With 15 on each, eight items a thread were the best of cvp.
static constexpr uint64_t WarpsOfGpu = 1056;
static constexpr unsigned WarpSize = 32;

/// Whether an item's path may be its way at branch \p B.
static bool canPart(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t B) {
  const BranchInfo &Branch = K.Info.Branches[B];
  if (Branch.Kind == BranchKind::LoopExit || usesShared(K) ||
      (isByThread(Branch) &&
       Cost.Branches[B].RecoverSlots.InBlock < LeastById * Cost.Slots))
    return false;
  uint64_t Controlled = 0;
  for (uint32_t Block : Branch.Region)
    Controlled += K.Info.Blocks[Block].Instructions;
  return Controlled * LoopWeight >= CollectOptions().Threshold &&
         none_of(K.Info.Branches, [&](const BranchInfo &Other) {
           return Other.Kind == BranchKind::LoopExit && !Other.EndsGridLoop &&
                  model::inRegion(Other, Branch.Block);
         });
}

static SmallVector<uint32_t, 8> partingOf(const KernelProfile &K,
                                          const KernelCost &Cost) {
  SmallVector<uint32_t, 8> All;
  for (uint32_t B = 0; B != K.Branches.size(); ++B)
    if (K.Branches[B].Splits && canPart(K, Cost, B))
      All.push_back(B);
  return All;
}

/// Instructions of warps, of the whole kernel.
static double priceOf(const KernelProfile &K, ArrayRef<uint32_t> Parting) {
  const CollectOptions Usual;
  uint64_t Paths = 1;
  uint32_t First = UINT32_MAX;
  for (uint32_t B : Parting) {
    Paths += K.Info.Branches[B].Successors.size() - 1;
    First = std::min(First, K.Info.Branches[B].Block);
  }
  double Decides = 0;
  for (uint32_t B = 0; B <= First; ++B)
    Decides += double(K.Blocks[B].Warps) * K.Info.Blocks[B].Instructions;
  const unsigned Bits = Log2_64_Ceil(std::min<uint64_t>(Paths, Usual.Paths));
  return double(itemsOf(K)) / WarpSize *
             (PerItem + PerThread / Usual.Items +
              Bits * (BitPerItem + BitPerThread / Usual.Items)) +
         Decides;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  const auto Parting = partingOf(K, Cost);
  if (!is_contained(Parting, Branch))
    return {};
  const BranchCost &Here = Cost.Branches[Branch];
  if (Here.LossSlots <= 0)
    return {};
  double Block = Here.RecoverSlots.InBlock;
  if (endOfGridLoop(K)) {
    const double Items = double(CollectOptions().Items * largestBlock(K)),
                 Part = double(K.Info.Branches[Branch].Successors.size()) *
                        WarpSize / 2;
    Block = Here.LossSlots * (1 - std::min(1.0, Part / Items));
  }
  const double More =
      (Here.LossSlots - Block) * (1 - 1.0 / CollectOptions().Items);
  BranchBound Bound{Block + More * Block / Here.LossSlots, 0};
  const auto Best = std::ranges::max_element(Parting, {}, [&](uint32_t B) {
    return Cost.Branches[B].RecoverSlots.InBlock;
  });
  if (Branch == *Best)
    Bound.Price = priceOf(K, Parting) * Cost.Slots /
                  double(std::max<uint64_t>(Cost.WarpInstructions, 1));
  return Bound;
}

std::vector<std::string> guess(const KernelProfile &K) {
  return guess(K, model::costOf(K));
}

std::vector<std::string> guess(const KernelProfile &K, const KernelCost &Cost) {
  const auto Parting = partingOf(K, Cost);
  if (Parting.empty())
    return {};
  const uint64_t Most = largestBlock(K);
  const std::string Threads =
      Most > WarpSize
          ? ";threads=" + std::to_string(std::max<uint64_t>(Most, 64))
          : "";
  const auto IsByThread = [&](uint32_t B) {
    return isByThread(K.Info.Branches[B]);
  };
  const bool ById = any_of(Parting, IsByThread),
             ByData = !all_of(Parting, IsByThread);
  const uint64_t Warps =
      itemsOf(K) / std::max<uint64_t>(K.Launches, 1) / WarpSize;
  std::vector<std::string> All;
  for (unsigned Items : {4u, 8u, 2u}) {
    const std::string Of = "items=" + std::to_string(Items) + Threads;
    if (Items != 2 && Warps / Items < WarpsOfGpu)
      continue;
    All.push_back(Of + (ById ? ";ids=1" : ""));
    if (ById && ByData && Items != 8)
      All.push_back(Of);
  }
  addLimited(All, registersAsBefore(K, Most, Most));
  return All;
}

} // namespace reconverge::remedies::collect
