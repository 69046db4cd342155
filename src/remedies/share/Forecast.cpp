//===- remedies/share/Forecast.cpp - What sharing may gain ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From counts of the kernel as it is, of a loop:
//
//   gain    what idles at its exits (their selves, model/Slots.cpp)
//   r       rounds that full warps would make of it, lanes' rounds / 32
//   v       times that full warps come to it, lanes that leave it / 32
//   price   26 r + 40 v
//
// 26 are the owner of an iteration and some words of what it needs, 40 the sums
// of the lanes' counts and the choice (Weights.cpp). The loop is that of greatest
// gain less price. The code says whether it may be shared, and what a step of
// its chain takes. Of these a round has as many as a lane has iterations in it:
// at most 32, or as many as the warp makes rounds now each time that it comes.
//
// Limitation: lanes that are not at the loop are taken to help. Where they are in
// another round of a loop around it, they do not, and it runs as it is.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Forecast.h"

#include "model/Slots.h"
#include "remedies/common/LoopGain.h"
#include "remedies/common/WarpCost.h"
#include "remedies/share/Legality.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace reconverge::remedies::share {

static constexpr double SlotsOfRound = 26, SlotsOfVisit = 40;

static std::optional<LoopGain> bestLoop(const KernelProfile &K,
                                        ArrayRef<double> Self) {
  return remedies::bestLoop(
      K, Self,
      [&](ArrayRef<uint32_t> Exits, double,
          double Rounds) -> std::optional<double> {
        double Visits = 0; // of lanes
        for (uint32_t B : Exits)
          Visits += leaving(K, B);
        return (SlotsOfRound * Rounds + SlotsOfVisit * Visits) / K.WarpSize;
      });
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  if (K.Info.Branches[Branch].Kind != BranchKind::LoopExit)
    return {};
  const std::vector<double> Self = selfSlots(Cost);
  return boundOf(bestLoop(K, Self), Self, Branch);
}

/// Steps of the chain of the loop that \p Exits leave, one of them \p At.
static double stepsOf(const KernelProfile &K, ArrayRef<uint32_t> Exits,
                      const BranchInfo &At) {
  double Visits = 0; // of lanes
  for (uint32_t B : Exits)
    Visits += leaving(K, B);
  const BlockCounts &Made = K.Blocks[At.Block];
  const double Longest =
      double(Made.Warps) / std::max(Visits / K.WarpSize, 1.0);
  return double(Made.Lanes) / K.WarpSize *
         std::min(Longest, double(K.WarpSize));
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  auto Given = parseShareOptions(Parameters);
  if (!Given) {
    consumeError(Given.takeError()); // Check says so
    F.IsRefused = true;
    return F;
  }
  const std::vector<double> Self = model::KernelSlots(Seen).self();
  std::vector<double> &Back = F.Slots;
  Back.resize(Self.size());
  const auto IsNamed = [&](uint32_t B) {
    return Seen.Info.Branches[B].Id == Given->Branch;
  };
  for (const std::vector<uint32_t> &OfOne : loopExits(Seen)) {
    if (Given->Branch && none_of(OfOne, IsNamed))
      continue;
    for (uint32_t B : OfOne) {
      const BranchInfo &Info = Seen.Info.Branches[B];
      ShareOptions Options;
      Options.Threshold = 0;
      Options.Branch = Info.Id;
      const auto Planned = planShare(Copy, Options);
      if (const auto *Plan = std::get_if<SharePlan>(&Planned))
        Back[B] = std::max(0., Self[B] - double(Plan->By.Step) *
                                             stepsOf(Seen, OfOne, Info));
    }
  }
  return F;
}

std::vector<std::string> guess(const KernelProfile &K) {
  const auto Best = bestLoop(K, model::KernelSlots(K).self());
  if (!Best)
    return {};
  const std::string Where =
      ";branch=" + std::to_string(K.Info.Branches[Best->Exit].Id);
  // Always: of a kernel that waits for memory, instructions do not tell. The
  // last: another loop, if this may not be shared.
  std::vector<std::string> All = {"threshold=100" + Where,
                                  "threshold=0" + Where, "threshold=100"};
  const uint64_t Block = largestBlock(K);
  addLimited(All, registersAsBefore(K, Block, Block));
  return All;
}

} // namespace reconverge::remedies::share
