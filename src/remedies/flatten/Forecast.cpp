//===- remedies/flatten/Forecast.cpp - What flattening may gain -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From counts of the kernel as it is. Of an inner loop M, which is one whose
// blocks are some of those of another loop:
//
//   gain    what idles at its exits (their selves, model/Slots.cpp)
//   r       rounds that warps make of it with all lanes at work, lanes' rounds
//           / 32
//   votes   14 r
//
// 14 are machine instructions of a vote and the two branches at it, as they are
// emitted. The loop is that of greatest gain less votes.
//
// Limitation: gain is an upper bound. A lane waits at the end for the lane with
// the largest sum over its outer rounds, of which counts of blocks do not tell;
// and few lanes run the rest of the outer loop together. Trials do tell.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Forecast.h"

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace reconverge::remedies::flatten {

static constexpr double SlotsOfVote = 14;

namespace {
struct LoopGain {
  std::vector<uint32_t> Exits; ///< positions of branches
  uint32_t Exit = 0;           ///< of them, where most idles
  double Gain = 0, Price = 0;  ///< slots
  double net() const { return Gain - Price; }
};
} // namespace

/// There is a loop around the one whose blocks \p Region has.
static bool isInner(const KernelProfile &K, ArrayRef<uint32_t> Region) {
  return any_of(K.Info.Branches, [&](const BranchInfo &Around) {
    return Around.Kind == BranchKind::LoopExit &&
           Around.Region.size() > Region.size() &&
           all_of(Region, [&](uint32_t Block) {
             return is_contained(Around.Region, Block);
           });
  });
}

static std::optional<LoopGain> bestLoop(const KernelProfile &K,
                                        ArrayRef<double> Self) {
  const std::vector<BranchInfo> &All = K.Info.Branches;
  SmallVector<uint32_t> Exits;
  for (uint32_t B = 0; B != All.size(); ++B)
    if (All[B].Kind == BranchKind::LoopExit && K.Branches[B].Splits)
      Exits.push_back(B);
  // Those of one loop have one region.
  std::ranges::sort(Exits, {},
                    [&](uint32_t B) { return std::pair(All[B].Region, B); });
  std::optional<LoopGain> Best;
  for (ArrayRef<uint32_t> Left = Exits; !Left.empty();) {
    const ArrayRef<uint32_t> OfOne = Left.take_while(
        [&](uint32_t B) { return All[B].Region == All[Left.front()].Region; });
    Left = Left.drop_front(OfOne.size());
    if (!isInner(K, All[OfOne.front()].Region))
      continue;
    LoopGain Here;
    Here.Exits = OfOne.vec();
    Here.Exit = *std::ranges::max_element(OfOne, {},
                                          [&](uint32_t B) { return Self[B]; });
    double Rounds = 0; // of lanes
    for (uint32_t B : OfOne) {
      Here.Gain += Self[B];
      Rounds = std::max(Rounds, double(K.Blocks[All[B].Block].Lanes));
    }
    Here.Price = std::min(SlotsOfVote * Rounds / K.WarpSize, Here.Gain);
    if (Here.net() > (Best ? Best->net() : 0))
      Best = std::move(Here);
  }
  return Best;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  if (K.Info.Branches[Branch].Kind != BranchKind::LoopExit)
    return {};
  std::vector<double> Self;
  for (const BranchCost &C : Cost.Branches)
    Self.push_back(C.SelfSlots);
  const auto Best = bestLoop(K, Self);
  if (!Best || !is_contained(Best->Exits, Branch))
    return {};
  return {Self[Branch], Best->Price * Self[Branch] / Best->Gain};
}

std::vector<std::string> guess(const KernelProfile &K) {
  const auto Best = bestLoop(K, model::KernelSlots(K).self());
  if (!Best)
    return {};
  const std::string Where =
      ";branch=" + std::to_string(K.Info.Branches[Best->Exit].Id);
  return {"threshold=8" + Where, "threshold=1" + Where,
          "threshold=8;rounds=4" + Where, "threshold=16" + Where};
}

} // namespace reconverge::remedies::flatten
