//===- remedies/flatten/Forecast.cpp - What flattening may gain -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From counts of the kernel as it is, of an inner loop:
//
//   gain    what idles at its exits (their selves, model/Slots.cpp)
//   P, n    lanes that make a round of it, and that leave it; m = P / n rounds
//           each time
//   t       times that a lane comes to it: n over lanes that enter the outermost
//           loop around it
//   T, R    the threshold, rounds from one vote to the next; T = 0: no votes
//   I       lanes that go on together: T + R (32 - T) / 2m, from 1 to 32
//   A       lanes that make rounds meanwhile: 32 - I / 2
//   r       rounds of warps, P / A (1 + (R - 1) / 2m)
//   price   gain / sqrt(t)
//           + r (9 / R), without votes r (5 / R), and 3 r to count rounds if
//           R > 1
//           + r times a warp's round of it, less what full warps would need
//           + 32 / I times what full warps would need for the rest of the loop
//           around it, less what it needs now; at least 0
//
// A lane waits at the end for the one with the largest sum over t rounds of the
// outer loop. Of t numbers that do not depend on one another the sum grows as t,
// what it differs by as sqrt(t). 9 and 5 are machine instructions of a vote, or of
// going on without, and the branches at it. The loop is that of greatest gain less
// least price.
//
// Without votes lanes are taken to come together after R rounds, which a GPU does
// not owe them.
//
// From the same counts, of a branch by which rounds skip some work:
//
//   gain    what idles at the branch itself, but no more than in that work: what
//           idles in the other arm stays
//   P, n    lanes that run a round of the loop, and that work; m = P / n rounds
//           for each
//   T, R    the threshold, rounds from one vote to the next
//   I       lanes that work together: min(32, T + R (32 - T) / 2m)
//   A       lanes that make rounds meanwhile: 32 - I / 2
//   r       rounds of warps, P / A (1 + (R - 1) / 2m)
//   price   r (9 / R), and 3 r to count rounds if R > 1
//           + 32 / I times what full warps would need for the work, less that
//           + r times a warp's round without the work, less what that takes now
//           + 30 n / I for stops
//
// And if they are looked ahead, in groups of 32 rounds of warps, p = n / P:
//
//   D       rounds of a group with work: that of 32 lanes with the most, of
//           32 p on average, 32 p + 2.07 sqrt(32 p (1 - p)), 32 at most
//   price   4 in each round, to note it
//           + D (a round with its work + 8) in each group, less what full warps
//           would need for the work
//
// 2.07 is by how much the largest of 32 normal numbers lies above the mean, in
// standard deviations.
//
// Lanes in different rounds ask for memory that lies further apart: for a sector a
// lane (common/Mixing.h), but where the address hangs on no round of the two loops.
// Of a loop with votes that is so of all accesses in it, for 32 - I / 2 lanes; of
// one that is looked ahead of those in the work, for 32 (32 p) / D lanes.
//
// Of the thresholds and rounds below those with the least price are tried, and
// the best with another threshold: how often a lane comes to the loop, and waits
// at its end, is not known.
//
//===----------------------------------------------------------------------===//

#include "remedies/flatten/Forecast.h"

#include "model/Slots.h"
#include "remedies/common/CountedLoops.h"
#include "remedies/common/LoopGain.h"
#include "remedies/common/Mixing.h"
#include "remedies/common/WarpCost.h"
#include "remedies/flatten/Legality.h"
#include "remedies/flatten/Rewrite.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;

namespace reconverge::remedies::flatten {

static constexpr double SlotsOfVote = 9, SlotsOfMerge = 5, SlotsOfCount = 3;
// Threshold and rounds. Without votes in each round of hardware that need not
// bring lanes together, of five nests none was faster than with four.
static constexpr std::pair<unsigned, unsigned> WaysOfNest[] = {
    {8, 4}, {0, 4}, {8, 1}};
// Where rounds skip some work.
static constexpr double SlotsOfStop = 30, SlotsOfNote = 4, SlotsOfHit = 8,
                        GroupOfRounds = 32;
static constexpr unsigned Thresholds[] = {8, 16, 24},
                          RoundsOfVote[] = {1, 4, 8};

namespace {
/// Blocks whose lanes are in different rounds, and how many those are in a warp.
struct Apart {
  std::vector<uint32_t> Blocks;
  double Lanes = 0;
};

/// How often a warp stops where rounds skip some work.
struct Stops {
  double Price;  ///< slots
  double AtWork; ///< lanes
  unsigned Threshold, Rounds;
  auto operator<=>(const Stops &) const = default;
  std::string text() const {
    return "threshold=" + std::to_string(Threshold) +
           (Rounds > 1 ? ";rounds=" + std::to_string(Rounds) : "");
  }
};
struct SkipGain : LoopGain {
  std::vector<Stops> Ways;          ///< cheapest first
  double Ahead = 0;                 ///< price of looking ahead
  double AheadAtWork = 0;           ///< lanes in the work then
  std::vector<uint32_t> Work, Rest; ///< blocks of the loop
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

/// The blocks of the loop around \p Inner, without it.
static std::vector<uint32_t> restAround(const KernelProfile &K,
                                        ArrayRef<uint32_t> Inner) {
  std::vector<uint32_t> Around = loopAround(K.Info, Inner);
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

namespace {
/// Of an inner loop that some exits leave.
struct NestCounts {
  double Rounds = 0, Leaving = 0;   ///< lanes
  double WarpRounds = 0;            ///< of warps, as it is
  double Times = 0;                 ///< that a lane comes to it
  double Gain = 0;                  ///< slots that idle at the exits
  double Inner = 0, FullInner = 0;  ///< slots as it is, and in full warps
  std::vector<uint32_t> Loop, Rest; ///< blocks of it, and around it
};
} // namespace

static NestCounts nestOf(const model::KernelSlots &Slots,
                         ArrayRef<uint32_t> Exits, double Gain) {
  const KernelProfile &K = Slots.kernel();
  NestCounts C;
  C.Gain = Gain;
  C.Times = timesOf(K, Exits);
  C.Loop = K.Info.Branches[Exits.front()].Region;
  C.Rest = restAround(K, C.Loop);
  for (uint32_t B : Exits) {
    C.Leaving += leaving(K, B);
    const BlockCounts &At = K.Blocks[K.Info.Branches[B].Block];
    C.Rounds = std::max(C.Rounds, double(At.Lanes));
    C.WarpRounds = std::max(C.WarpRounds, double(At.Warps));
  }
  for (uint32_t B : C.Loop) {
    C.Inner += Slots.slotsOf(B) * double(K.Blocks[B].Warps);
    C.FullInner += Slots.lanes(B) * double(K.Blocks[B].Lanes);
  }
  return C;
}

/// A way to merge the loops of \p C.
static Stops mergedBy(const model::KernelSlots &Slots, const NestCounts &C,
                      unsigned Threshold, unsigned RoundsOfVote) {
  const double WarpSize = Slots.kernel().WarpSize;
  const double OfLane = C.Rounds / C.Leaving;
  const double Together = std::clamp(
      Threshold + RoundsOfVote * (WarpSize - Threshold) / (2 * OfLane), 1.0,
      WarpSize);
  const double AtWork = WarpSize - Together / 2;
  const double Rounds =
      C.Rounds / AtWork * (1 + (RoundsOfVote - 1) / (2 * OfLane));
  const double Price =
      C.Gain / std::sqrt(C.Times) +
      Rounds * ((Threshold ? SlotsOfVote : SlotsOfMerge) / RoundsOfVote +
                (RoundsOfVote > 1 ? SlotsOfCount : 0)) +
      std::max(Rounds * C.Inner / C.WarpRounds - C.FullInner, 0.0) +
      priceOfRest(Slots, C.Rest, Together);
  return {Price, AtWork, Threshold, RoundsOfVote};
}

static std::optional<LoopGain> bestLoop(const model::KernelSlots &Slots,
                                        ArrayRef<double> Self) {
  return remedies::bestLoop(
      Slots.kernel(), Self,
      [&](ArrayRef<uint32_t> Exits, double Gain,
          double) -> std::optional<double> {
        const NestCounts C = nestOf(Slots, Exits, Gain);
        if (C.Times <= 1)
          return std::nullopt;
        double Least = Gain;
        for (auto [Threshold, Rounds] : WaysOfNest)
          Least = std::min(Least, mergedBy(Slots, C, Threshold, Rounds).Price);
        return Least;
      });
}

namespace {
/// Of a branch by which rounds skip some work.
struct SkipCounts {
  double Rounds = 0, Working = 0; ///< lanes
  double FullWork = 0;            ///< slots of the work, in full warps
  double Search = 0;              ///< of the other code of its loop, as it is
  double SearchOfRound = 0;       ///< the same, of a warp and round
  double WorkOfRound = 0;         ///< of a warp that does the work
};
} // namespace

/// A way to vote.
static Stops stopsOf(const SkipCounts &C, double WarpSize, unsigned Threshold,
                     unsigned RoundsOfVote) {
  const double OfLane = C.Rounds / C.Working;
  const double Together =
      std::min(WarpSize, Threshold + RoundsOfVote * (WarpSize - Threshold) /
                                         (2 * OfLane));
  const double AtWork = WarpSize - Together / 2;
  const double Rounds =
      C.Rounds / AtWork * (1 + (RoundsOfVote - 1) / (2 * OfLane));
  const double Price = Rounds * (SlotsOfVote / RoundsOfVote +
                                 (RoundsOfVote > 1 ? SlotsOfCount : 0)) +
                       C.FullWork * (WarpSize / Together - 1) +
                       std::max(Rounds * C.SearchOfRound - C.Search, 0.0) +
                       SlotsOfStop * C.Working / Together;
  return {Price, AtWork, Threshold, RoundsOfVote};
}

/// Hits in a group of rounds: of a lane, and of the one that has most.
struct Hits {
  double Mean, Most;
};
static Hits hitsOf(const SkipCounts &C) {
  const double Mean = GroupOfRounds * C.Working / C.Rounds;
  return {Mean,
          std::min(Mean + 2.07 * std::sqrt(Mean * (1 - C.Working / C.Rounds)),
                   GroupOfRounds)};
}

static double priceOfAhead(const SkipCounts &C, double Rounds) {
  return SlotsOfNote * Rounds +
         Rounds / GroupOfRounds * hitsOf(C).Most *
             (C.SearchOfRound + C.WorkOfRound + SlotsOfHit) -
         C.FullWork;
}

/// Of the rounds of a loop that skip what is behind branch \p B.
static std::optional<SkipGain> gainOfSkips(const model::KernelSlots &Slots,
                                           uint32_t B, double Self) {
  const KernelProfile &K = Slots.kernel();
  const auto Skipped = skipOf(K, B);
  if (!Skipped)
    return std::nullopt;
  const BranchInfo &Info = K.Info.Branches[B];
  SkipCounts C;
  C.Working = Skipped->Working;
  double Working = 0; // warps
  for (uint32_t Block : Skipped->Work) {
    if (is_contained(Info.Successors, Block))
      Working = double(K.Blocks[Block].Warps);
    C.WorkOfRound += Slots.slotsOf(Block) * double(K.Blocks[Block].Warps);
    C.FullWork += Slots.lanes(Block) * double(K.Blocks[Block].Lanes);
  }
  const std::vector<uint32_t> Rest = restAround(K, Skipped->Work);
  for (uint32_t Block : Rest)
    C.Search += Slots.slotsOf(Block) * double(K.Blocks[Block].Warps);
  const BlockCounts &Round = K.Blocks[roundBlock(K, Info.Block, Rest)];
  C.Rounds = double(Round.Lanes);
  C.SearchOfRound = C.Search / double(Round.Warps);
  SkipGain G;
  G.Exits = {B};
  G.Exit = B;
  G.Gain = std::min(Self, C.WorkOfRound - C.FullWork);
  C.WorkOfRound /= Working;
  for (unsigned T : Thresholds)
    for (unsigned R : RoundsOfVote)
      G.Ways.push_back(stopsOf(C, K.WarpSize, T, R));
  std::ranges::sort(G.Ways);
  G.Ahead = std::max(priceOfAhead(C, double(Round.Warps)), 0.0);
  G.AheadAtWork = K.WarpSize * hitsOf(C).Mean / hitsOf(C).Most;
  G.Work = Skipped->Work;
  G.Rest = Rest;
  G.Price = std::min(G.Ways.front().Price, G.Ahead);
  return G;
}

static std::optional<SkipGain> bestSkip(const model::KernelSlots &Slots,
                                        ArrayRef<double> Self) {
  std::optional<SkipGain> Best;
  for (uint32_t B = 0; B != Self.size(); ++B)
    if (auto Here = gainOfSkips(Slots, B, Self[B]);
        Here && Here->net() > (Best ? Best->net() : 0))
      Best = std::move(Here);
  return Best;
}

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  const BranchKind Kind = K.Info.Branches[Branch].Kind;
  const std::vector<double> Self = selfSlots(Cost);
  const model::KernelSlots Slots(K);
  if (Kind == BranchKind::If)
    return boundOf(bestSkip(Slots, Self), Self, Branch);
  if (Kind == BranchKind::LoopExit)
    return boundOf(bestLoop(Slots, Self), Self, Branch);
  return {};
}

std::vector<std::string> guess(const KernelProfile &K) {
  const model::KernelSlots Slots(K);
  const std::vector<double> Self = Slots.self();
  const uint64_t Block = largestBlock(K);
  std::vector<std::string> All;
  auto Add = [&](std::vector<std::string> Ways, uint32_t Exit) {
    for (std::string &Way : Ways)
      Way += ";branch=" + std::to_string(K.Info.Branches[Exit].Id);
    addLimited(Ways, registersAsBefore(K, Block, Block));
    append_range(All, Ways);
  };
  if (const auto Best = bestLoop(Slots, Self))
    Add(
        [] {
          std::vector<std::string> Ways;
          for (auto [Threshold, Rounds] : WaysOfNest)
            Ways.push_back(Stops{0, 0, Threshold, Rounds}.text());
          return Ways;
        }(),
        Best->Exit);
  if (const auto Best = bestSkip(Slots, Self)) {
    const Stops &First = Best->Ways.front(),
                &Other = *find_if(Best->Ways, [&](const Stops &Each) {
                  return Each.Threshold != First.Threshold;
                });
    Add({"ahead=1", First.text(), Other.text()}, Best->Exit);
  }
  return All;
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  const model::KernelSlots Slots(Seen);
  const std::vector<double> Self = Slots.self();
  F.Slots.resize(Self.size());
  const FlattenOptions Options = cantFail(parseFlattenOptions(Parameters));
  std::optional<LoopGain> Best = bestLoop(Slots, Self);
  Apart Moved;
  if (auto Skip = bestSkip(Slots, Self);
      Skip && Options.Branch == Seen.Info.Branches[Skip->Exit].Id) {
    Moved.Blocks = Skip->Work;
    if (Options.Ahead) {
      Skip->Price = Skip->Ahead;
      Moved.Lanes = Skip->AheadAtWork;
    } else {
      const auto Way = find_if(Skip->Ways, [&](const Stops &Each) {
        return Each.Threshold == Options.Threshold &&
               Each.Rounds == Options.Rounds;
      });
      Skip->Price = Way->Price;
      Moved.Lanes = Way->AtWork;
      append_range(Moved.Blocks, Skip->Rest);
    }
    Best = std::move(Skip);
  } else if (Best) {
    const NestCounts C = nestOf(Slots, Best->Exits, Best->Gain);
    const Stops Way = mergedBy(Slots, C, Options.Threshold, Options.Rounds);
    Best->Price = Way.Price;
    Moved = {C.Loop, Way.AtWork};
    append_range(Moved.Blocks, C.Rest);
  }
  const PlanOr<FlattenPlan> Planned = planFlatten(Copy, Options);
  const auto *Plan = std::get_if<FlattenPlan>(&Planned);
  F.IsRefused = !Best || !Plan;
  if (F.IsRefused)
    return F;
  const auto Same =
      sameInRounds(Copy, *Plan->Header, Plan->Skipped.Work ? 1 : 2);
  rewrite(*Plan, Copy);
  for (uint32_t B : Best->Exits)
    F.Slots[B] = Self[B];
  F.Added =
      mixed(Seen, Moved.Lanes, [&](const AccessInfo &A, const LaneSectors &S) {
        const bool Stays =
            !is_contained(Moved.Blocks, A.Block) || Same.contains(A.Id);
        return Stays ? S.Now : S.Most;
      });
  F.Added->Slots = Best->Price;
  return F;
}

} // namespace reconverge::remedies::flatten
