//===- remedies/refill/Forecast.cpp - What refilling should gain ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What idles at a loop's exits comes back: the selves of its exit branches
// (model/Slots.cpp). What that costs follows from four numbers of the counts,
// over all executions:
//
//   F   issue slots of the loop's blocks, if warps were full
//   O   those of all other code
//   P   rounds that lanes make, n lanes that leave: m = P / n rounds each
//   I   lanes that are idle when a warp stops: about threshold T, and half of
//       those that leave in one round, I = min(32, T + 16 / m)
//
//   R   rounds from one vote to the next
//
//   price(T, R) = (F + V) (1 / (1 - I / 64) - 1)  lanes wait: I / 2 on average
//               + V                               votes: P / 32 (10 / R), and
//                                                 P / 32 * 3 to count if R > 1
//               + n (R - 1) / 2 F / P             lanes wait for the vote
//               + O (32 / I - 1)                  the rest runs with I lanes
//               + 64 n / I                        taking items, each stop
//
// 10, 3 and 64 are instructions of what the pass emits. The loop is that of
// greatest gain less least price, and so is the branch that skips work; both are
// guessed, for instructions alone do not tell which is better.
//
// Where a branch in a loop skips some work, the rounds without it can be such a
// loop (Skips.cpp). Then the selves of that branch come back, P are the lanes
// that come to it, n those that work, F the loop's other blocks. Which loop a
// branch is in is not known of a profile: it is taken to have all blocks that
// are in some loop.
//
// Kernels that use shared memory are left out: the pass refuses them.
//
// The counter comes first: it was the faster source for most of what was
// measured. Slices: a warp's last items leave its lanes idle one by one, which a long slice
// makes up for; but so few warps as long slices leave do not fill a GPU. So a
// slice is as long as leaves PlentyOfWarps of them.
//
// Limitation: instructions alone are counted. Lanes in different rounds may ask
// for memory that lies further apart.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/Forecast.h"

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace llvm;

namespace reconverge::remedies::refill {

static constexpr std::array<unsigned, 4> Thresholds = {1, 4, 8, 16};
/// Where rounds skip work, which is worth being done by many.
static constexpr std::array<unsigned, 3> ThresholdsOfSkips = {8, 16, 24};
static constexpr std::array<unsigned, 2> RoundsOfVote = {1, 4};
static constexpr double SlotsOfVote = 10, SlotsOfCount = 3, SlotsOfStop = 64;
static constexpr uint64_t PlentyOfWarps = 16384;

namespace {
struct Way {
  double Price;
  unsigned Threshold, Rounds;
  auto operator<=>(const Way &) const = default;
  std::string text() const {
    return "threshold=" + std::to_string(Threshold) +
           (Rounds > 1 ? ";rounds=" + std::to_string(Rounds) : "");
  }
};

/// A loop that lanes leave at different times.
struct LoopGain {
  /// Position of the branch where most lanes part.
  uint32_t Exit = 0;
  double Gain = 0;
  std::vector<Way> Ways; ///< cheapest first
  double net() const { return Gain - Ways.front().Price; }
};
} // namespace

/// Lanes that branch \p B sends out of its loop.
static double leaving(const KernelProfile &K, uint32_t B) {
  const BranchInfo &Info = K.Info.Branches[B];
  const std::vector<uint64_t> &To = K.Branches[B].LanesTo;
  double Out = 0, Least = To.empty() ? 0 : double(To[0]);
  bool Known = false;
  for (size_t S = 0; S != To.size(); ++S) {
    Least = std::min(Least, double(To[S]));
    if (!model::inRegion(Info, Info.Successors[S])) {
      Out += double(To[S]);
      Known = true;
    }
  }
  return Known ? Out : Least; // else both sides have code before they meet
}

static double price(unsigned Threshold, unsigned RoundsOfVote, double Loop,
                    double Rest, double Rounds, double Leaving) {
  const double PerRound = 32 * Leaving / Rounds;
  const double Idle = std::min(32.0, Threshold + PerRound / 2);
  const double Votes =
      Rounds / 32 *
      (SlotsOfVote / RoundsOfVote + (RoundsOfVote > 1 ? SlotsOfCount : 0));
  return (Loop + Votes) * (1 / (1 - Idle / 64) - 1) + Votes +
         Leaving * (RoundsOfVote - 1) / 2 * Loop / Rounds +
         Rest * (32 / Idle - 1) + SlotsOfStop * Leaving / Idle;
}

/// All ways, for a loop of so many slots.
static void findWays(LoopGain &G, ArrayRef<unsigned> Thresholds,
                     const model::KernelSlots &Slots, double Loop,
                     double Rounds, double Leaving) {
  const double Rest = std::max(Slots.full() - Loop, 0.0);
  for (unsigned T : Thresholds)
    for (unsigned R : RoundsOfVote)
      G.Ways.push_back({price(T, R, Loop, Rest, Rounds, Leaving), T, R});
  std::ranges::sort(G.Ways);
}

/// Of the loop that \p Exits, which have one region, leave.
static std::optional<LoopGain> gainOf(const model::KernelSlots &Slots,
                                      ArrayRef<uint32_t> Exits,
                                      ArrayRef<double> Self) {
  const KernelProfile &K = Slots.kernel();
  LoopGain G;
  double Rounds = 0, Leaving = 0, Most = -1, Loop = 0;
  for (uint32_t B : Exits) {
    double Passing = 0;
    for (uint64_t To : K.Branches[B].LanesTo)
      Passing += double(To);
    Rounds = std::max(Rounds, Passing);
    Leaving += leaving(K, B);
    G.Gain += Self[B];
    if (Self[B] > Most)
      G.Exit = B;
    Most = std::max(Most, Self[B]);
  }
  if (Leaving <= 0 || G.Gain <= 0)
    return std::nullopt;
  for (uint32_t Block : K.Info.Branches[Exits.front()].Region)
    Loop += Slots.lanes(Block) * double(K.Blocks[Block].Lanes);
  findWays(G, Thresholds, Slots, Loop, Rounds, Leaving);
  return G;
}

/// Of the rounds that skip what is behind branch \p B, in a loop.
static std::optional<LoopGain> gainOfSkips(const model::KernelSlots &Slots,
                                           uint32_t B, double Self) {
  const KernelProfile &K = Slots.kernel();
  const BranchInfo &Info = K.Info.Branches[B];
  if (Info.Kind != BranchKind::If ||
      K.Info.Blocks[Info.Block].Entries.empty() || !K.Branches[B].Splits)
    return std::nullopt;
  LoopGain G;
  G.Exit = B;
  G.Gain = Self;
  double Rounds = 0, Working = 0, Loop = 0;
  for (size_t S = 0; S != Info.Successors.size(); ++S) {
    const double Lanes = double(K.Branches[B].LanesTo[S]);
    Rounds += Lanes;
    Working += model::inRegion(Info, Info.Successors[S]) ? Lanes : 0;
  }
  for (uint32_t Block = 0; Block != K.Info.Blocks.size(); ++Block)
    if (!K.Info.Blocks[Block].Entries.empty() && !model::inRegion(Info, Block))
      Loop += Slots.lanes(Block) * double(K.Blocks[Block].Lanes);
  if (Working <= 0 || Self <= 0)
    return std::nullopt;
  findWays(G, ThresholdsOfSkips, Slots, Loop, Rounds, Working);
  return G;
}

static bool usesShared(const KernelProfile &K) {
  return K.Info.StaticShared || any_of(K.Shapes, [](const LaunchShape &S) {
           return S.DynamicShared != 0;
         });
}

static void keepBetter(std::optional<LoopGain> &Best,
                       std::optional<LoopGain> Here) {
  if (Here && Here->net() > (Best ? Best->net() : 0))
    Best = std::move(Here);
}

/// \p Self: slots, of each branch.
static std::optional<LoopGain> bestLoop(const model::KernelSlots &Slots,
                                        ArrayRef<double> Self) {
  const KernelProfile &K = Slots.kernel();
  const std::vector<BranchInfo> &All = K.Info.Branches;
  std::optional<LoopGain> Best;
  if (usesShared(K))
    return Best;
  SmallVector<uint32_t> Exits;
  for (uint32_t B = 0; B != All.size(); ++B)
    if (All[B].Kind == BranchKind::LoopExit && K.Branches[B].Splits)
      Exits.push_back(B);
  // Those of one loop have one region.
  std::ranges::sort(Exits, {},
                    [&](uint32_t B) { return std::pair(All[B].Region, B); });
  for (ArrayRef<uint32_t> Left = Exits; !Left.empty();) {
    const ArrayRef<uint32_t> OfOne = Left.take_while(
        [&](uint32_t B) { return All[B].Region == All[Left.front()].Region; });
    keepBetter(Best, gainOf(Slots, OfOne, Self));
    Left = Left.drop_front(OfOne.size());
  }
  return Best;
}

/// \p Self: slots, of each branch.
static std::optional<LoopGain> bestSkip(const model::KernelSlots &Slots,
                                        ArrayRef<double> Self) {
  std::optional<LoopGain> Best;
  if (!usesShared(Slots.kernel()))
    for (uint32_t B = 0; B != Self.size(); ++B)
      keepBetter(Best, gainOfSkips(Slots, B, Self[B]));
  return Best;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  const BranchKind Kind = K.Info.Branches[Branch].Kind;
  if (Kind != BranchKind::LoopExit && Kind != BranchKind::If)
    return {};
  std::vector<double> Self;
  for (const BranchCost &C : Cost.Branches)
    Self.push_back(C.SelfSlots);
  const model::KernelSlots Slots(K);
  const auto Best =
      Kind == BranchKind::If ? bestSkip(Slots, Self) : bestLoop(Slots, Self);
  if (!Best || Best->Exit != Branch)
    return {};
  return {Best->Gain, Best->Ways.front().Price};
}

static unsigned sliceFor(const KernelProfile &K) {
  const uint64_t Threads = K.Threads / std::max<uint64_t>(K.Launches, 1);
  unsigned Slice = 128;
  while (Slice > 4 && Threads / (32 * Slice) < PlentyOfWarps)
    Slice /= 2;
  return Slice;
}

std::vector<std::string> guess(const KernelProfile &K) {
  const model::KernelSlots Slots(K);
  const std::vector<double> Self = Slots.self();
  const std::string Slice = ";slice=" + std::to_string(sliceFor(K));
  const std::string Counter = ";source=counter;slice=1";
  std::vector<std::string> All;
  for (const auto &Best : {bestLoop(Slots, Self), bestSkip(Slots, Self)}) {
    if (!Best)
      continue;
    const std::string Where =
        ";branch=" + std::to_string(K.Info.Branches[Best->Exit].Id);
    const std::string First = Best->Ways[0].text(),
                      Second = Best->Ways[1].text();
    All.insert(All.end(), {First + Counter + Where, First + Slice + Where,
                           Second + Counter + Where});
  }
  return All;
}

} // namespace reconverge::remedies::refill
