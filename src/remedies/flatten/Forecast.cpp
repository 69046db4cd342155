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
#include "remedies/common/LoopGain.h"
#include "remedies/common/WarpCost.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;

namespace reconverge::remedies::flatten {

static constexpr double SlotsOfVote = 14;

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
  return remedies::bestLoop(
      K, Self,
      [&](ArrayRef<uint32_t> Exits, double Gain,
          double Rounds) -> std::optional<double> {
        const double Times = timesOf(K, Exits);
        if (Times <= 1)
          return std::nullopt;
        return std::min(
            SlotsOfVote * Rounds / K.WarpSize + Gain / std::sqrt(Times), Gain);
      });
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  if (K.Info.Branches[Branch].Kind != BranchKind::LoopExit)
    return {};
  const std::vector<double> Self = selfSlots(Cost);
  return boundOf(bestLoop(K, Self), Self, Branch);
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
