//===- remedies/flatten/Forecast.cpp - What flattening may gain -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From counts of the kernel as it is, of an inner loop:
//
//   gain    what idles at its exits (their selves, model/Slots.cpp)
//   n       times that a lane comes to it: lanes that leave it, over lanes that
//           enter the outermost loop around it
//   r       rounds that full warps would make of it, lanes' rounds / 32
//   I       lanes that go on together: min(32, 8 + 16 / m), of m rounds each
//   rest    32 / I times what full warps would need for the rest of the loop
//           around it, less what it needs now; at least 0
//   price   gain / sqrt(n) + 14 r + rest
//
// A lane waits at the end for the one with the largest sum over n rounds of the
// outer loop. Of n numbers that do not depend on one another the sum grows as n,
// what it differs by as sqrt(n). 14 are machine instructions of a vote and the
// two branches at it. I is as in refill/Forecast.cpp: the warp goes on once 8
// lanes wait, the threshold that is tried first, and half of those that leave in
// one round. The loop is that of greatest gain less price.
//
// The loop around is the smallest that a branch leaves, or the outermost.
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

static constexpr double SlotsOfVote = 14, Threshold = 8;

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

/// The blocks of the loop around the one of \p Inner, without it.
static std::vector<uint32_t> restAround(const KernelProfile &K,
                                        ArrayRef<uint32_t> Inner) {
  const auto &Entries = K.Info.Blocks[Inner.front()].Entries;
  std::vector<uint32_t> Around;
  for (uint32_t B = 0; B != K.Info.Blocks.size(); ++B)
    if (K.Info.Blocks[B].Entries == Entries)
      Around.push_back(B);
  for (const BranchInfo &Branch : K.Info.Branches)
    if (Branch.Kind == BranchKind::LoopExit &&
        Branch.Region.size() > Inner.size() &&
        Branch.Region.size() < Around.size() &&
        all_of(Inner, [&](uint32_t B) { return model::inRegion(Branch, B); }))
      Around = Branch.Region;
  erase_if(Around, [&](uint32_t B) { return is_contained(Inner, B); });
  return Around;
}

/// What it costs that \p Together lanes of a warp run \p Blocks, not as many as
/// now.
static double priceOfRest(const model::KernelSlots &Slots,
                          ArrayRef<uint32_t> Blocks, double Together) {
  const KernelProfile &K = Slots.kernel();
  double Now = 0, Lanes = 0;
  for (uint32_t B : Blocks) {
    Now += Slots.slotsOf(B) * double(K.Blocks[B].Warps);
    Lanes += Slots.slotsOf(B) * double(K.Blocks[B].Lanes);
  }
  return std::max(Lanes / Together - Now, 0.0);
}

static std::optional<LoopGain> bestLoop(const model::KernelSlots &Slots,
                                        ArrayRef<double> Self) {
  const KernelProfile &K = Slots.kernel();
  return remedies::bestLoop(
      K, Self,
      [&](ArrayRef<uint32_t> Exits, double Gain,
          double Rounds) -> std::optional<double> {
        const double Times = timesOf(K, Exits);
        if (Times <= 1)
          return std::nullopt;
        double Leaving = 0;
        for (uint32_t B : Exits)
          Leaving += leaving(K, B);
        const double Together =
            std::min<double>(K.WarpSize, Threshold + 16 * Leaving / Rounds);
        return std::min(
            SlotsOfVote * Rounds / K.WarpSize + Gain / std::sqrt(Times) +
                priceOfRest(
                    Slots, restAround(K, K.Info.Branches[Exits.front()].Region),
                    Together),
            Gain);
      });
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  if (K.Info.Branches[Branch].Kind != BranchKind::LoopExit)
    return {};
  const std::vector<double> Self = selfSlots(Cost);
  return boundOf(bestLoop(model::KernelSlots(K), Self), Self, Branch);
}

std::vector<std::string> guess(const KernelProfile &K) {
  const model::KernelSlots Slots(K);
  const auto Best = bestLoop(Slots, Slots.self());
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
