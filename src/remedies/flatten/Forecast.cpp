//===- remedies/flatten/Forecast.cpp - What flattening may gain -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From counts of the kernel as it is, of an inner loop:
//
//   gain    what idles at its exits (their selves, model/Slots.cpp)
//   n       times that a lane comes to it: lanes that leave it, over lanes that
//           enter the outermost loop around it
//   r       rounds that full warps would make of it, lanes' rounds / 32
//   price   gain / sqrt(n) + 14 r
//
// A lane waits at the end for the one with the largest sum over n rounds of the
// outer loop. Of n numbers that do not depend on one another the sum grows as n,
// what it differs by as sqrt(n). 14 are machine instructions of a vote and the
// two branches at it. The loop is that of greatest gain less price.
//
// Limitation: few lanes run the rest of the outer loop together, which counts of
// blocks do not tell. Trials do.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Forecast.h"

#include "model/Slots.h"
#include "remedies/common/Counted.h"
#include "remedies/common/WarpCost.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
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

/// How often a lane comes to the loop that \p Exits leave; at most once: there
/// is nothing to go on with.
static double timesOf(const KernelProfile &K, ArrayRef<uint32_t> Exits) {
  double Out = 0, In = 0;
  for (uint32_t B : Exits)
    Out += leaving(K, B);
  for (uint32_t Entry : K.Info.Blocks[K.Info.Branches[Exits[0]].Block].Entries)
    In += double(K.Blocks[Entry].Lanes);
  return In > 0 ? Out / In : 0;
}

static std::optional<LoopGain> bestLoop(const KernelProfile &K,
                                        ArrayRef<double> Self) {
  std::optional<LoopGain> Best;
  for (const std::vector<uint32_t> &OfOne : loopExits(K)) {
    const double Times = timesOf(K, OfOne);
    if (Times <= 1)
      continue;
    LoopGain Here;
    Here.Exits = OfOne;
    Here.Exit = *std::ranges::max_element(OfOne, {},
                                          [&](uint32_t B) { return Self[B]; });
    double Rounds = 0; // of lanes
    for (uint32_t B : OfOne) {
      Here.Gain += Self[B];
      Rounds =
          std::max(Rounds, double(K.Blocks[K.Info.Branches[B].Block].Lanes));
    }
    Here.Price = std::min(SlotsOfVote * Rounds / K.WarpSize +
                              Here.Gain / std::sqrt(Times),
                          Here.Gain);
    if (Here.net() > (Best ? Best->net() : 0))
      Best = std::move(Here);
  }
  return Best;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  if (K.Info.Branches[Branch].Kind != BranchKind::LoopExit)
    return {};
  const std::vector<double> Self = selfSlots(Cost);
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
  std::vector<std::string> All = {"threshold=8;rounds=4" + Where,
                                  "threshold=0;rounds=4" + Where,
                                  "threshold=8" + Where, "threshold=0" + Where};
  const uint64_t Block = largestBlock(K);
  addLimited(All, registersAsBefore(K, Block, Block));
  return All;
}

} // namespace reconverge::remedies::flatten
