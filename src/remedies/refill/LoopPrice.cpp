//===- remedies/refill/LoopPrice.cpp - What a refilled loop would cost ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that a refilled loop would cost, in issue slots, from counts of the kernel
// as it is. Of the loop, over all executions:
//
//   N      items; the launch has N / launches
//   P      rounds that lanes make, n lanes that leave: m = P / n rounds each
//   s(b)   slots of one execution of block b, p(b) its lanes a round, L / P
//   T, R   the threshold, rounds from one vote to the next
//   J      items that there are for each lane at least
//   I      lanes that are idle when a warp stops: T, and half of those that
//          leave from one vote to the next, I = min(32, T + R (32 - T) / 2m)
//   A      lanes at work, 32 - I / 2
//   r      rounds of warps, P / A (1 + (R - 1) / 2m): who is through waits for
//          the vote
//
//   loop    r sum of s(b) e(b, A)       e: executions a round, below
//   votes   r (12 / R), and 3 r to count rounds if R > 1
//   stops   72 n / I                    taking items
//   rest    n / I sum of s(b) e(b, I), at least as now: what I lanes run, from
//           the loop to the loop
//   end     w / (N / 32) times (the loop as it is - loop)
//
// The end: when there are no items left, each of the w warps that run waits for
// its last lanes, as every warp does in the original. With the counter, as many
// run as fit on the device at once, or as leaves J items for each lane.
//
// Executions of a block in a round of k lanes. Lanes of the original are the
// fewer, the longer its warps have run, so that they seldom take all sides of a
// branch in the loop; full warps do. For lanes that decide on their own,
//
//   x(p, k) = 1 - (1 - p)^k   if p < 1: some lane comes there
//             p H(k)          else: the most rounds of k lanes in an inner loop
//                             (geometric; H is the harmonic number)
//
// In the original k lanes run for a time of 1 / k (geometric again), which gives
// x a mean. Between that and p, which is what lanes do that decide alike, lie
// the executions that were counted; as far as they lie from p is e from p:
//
//   e(b, A) = p + c (x(p, A) - p),   c = (counted - p) / (mean of x - p)
//
// Of the rest, a round is what lanes run from the loop to the loop, of which full
// warps made one after the other; so x in c is that of 32. Where a loop around the
// refilled one comes to it in a part of its rounds only, lanes are through at
// different times: that loop takes as much longer as the last of I lanes waits
// longer than one of them (geometric, once more).
//
// A block that was executed more than once a round is in an inner loop, though
// p < 1: few lanes enter that loop, and stay in it. There c is above 1. A block
// that was not is executed once a round at most.
//
// On a CPU, a launch that does not fill the GPU is taken for a small example of
// one that fills it many times: that many items each lane has with any J, and J is
// one, for else launches of a real size would leave most of the GPU idle. But where
// one does, or ran on a GPU, and with J items a lane too few warps would be left to
// hide the latencies of the loop, the price rises by as much.
//
// 12, 3 and 72 are machine instructions of what the pass emits, by ptxas. The
// loop is that of greatest gain less least price; gain is what idles at its exits
// (their selves, model/Slots.cpp), and price all beyond what is left then.
//
// Where a branch in a loop skips some work, the rounds without it can be such a
// loop (common/Skips.cpp). Then the self of that branch comes back, P are the lanes that
// come to it, n those that work, and the loop is the smallest around the work,
// without it. The work takes 32 / I times what full warps would need. A lane that
// leaves the loop waits for a stop, too, and there are n / I of them: so of o
// lanes that enter the loop, E = I o / n run the rest together, or one, and o / E
// times. Such rounds are guessed beside a loop, for counts do not tell which is
// better.
//
// Kernels that use shared memory are taken where it is written before the
// loop: then each block that is launched may write it once, in front of its items
// (common/BlockPrologue.h), in blocks of the program's size, and the blocks that
// do so are no part of the rest. Whether that can be is not known of a profile:
// the pass may refuse. Rounds that skip work are left out there.
//
//===----------------------------------------------------------------------===//

#include "remedies/refill/LoopPrice.h"

#include "core/Recipe.h"
#include "remedies/common/Counted.h"
#include "remedies/common/CountedLoops.h"
#include "remedies/common/Occupancy.h"
#include "remedies/refill/Machine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace llvm;

namespace reconverge::remedies::refill {

static constexpr std::array<unsigned, 4> Thresholds = {1, 4, 8, 16};
/// Where rounds skip work, which is worth being done by many.
static constexpr std::array<unsigned, 3> ThresholdsOfSkips = {8, 16, 24};
static constexpr std::array<unsigned, 2> RoundsOfVote = {1, 4};
static constexpr std::array<unsigned, 4> ItemsOfLane = {1, 2, 4, 16};
static constexpr double SlotsOfVote = 12, SlotsOfCount = 3, SlotsOfStop = 72;
static constexpr unsigned UsualThreads = 128;

namespace {
/// A loop that lanes leave at different times, and all around it.
struct LoopCounts {
  double Rounds = 0, Leaving = 0;      ///< lanes
  double Out = 0;                      ///< of those leaving, to the rest
  double Loop = 0, Rest = 0;           ///< slots as it is
  double Work = 0, FullWork = 0;       ///< of what rounds skip
  double Once = 0;                     ///< of what blocks do before their items
  std::vector<uint32_t> Blocks, Apart; ///< of the loop; of neither it nor rest
  uint32_t Header = 0;                 ///< the block that most lanes came to
};

/// A block of it, with what does not hang on how many lanes make a round.
struct BlockOfRound {
  double Slots = 0; ///< s of the banner
  double P = 0;
  double Share = 0; ///< c
  double Most = 0;  ///< executions of a round
};
using Round = std::vector<BlockOfRound>;

/// The rest, run by lanes that leave the loop, until they come to it again.
struct RestOfLanes {
  Round Around, Other; ///< in a loop around it, and in none
  double Entering = 1; ///< how often a round of the loop around comes to it
};
} // namespace

static double harmonic(double K) { return std::log(K) + 0.5772 + 0.5 / K; }

/// x(p, k) of the banner.
static double executions(double P, double K) {
  return P < 1 ? 1 - std::pow(1 - P, K) : P * harmonic(K);
}

/// Its mean over a warp's time in the original.
static double meanExecutions(double P) {
  double Sum = 0, Time = 0;
  for (unsigned K = 1; K <= WarpSize; ++K) {
    Sum += executions(P, K) / K;
    Time += 1.0 / K;
  }
  return Sum / Time;
}

static Round roundOf(const model::KernelSlots &Slots, const LoopCounts &C) {
  const std::vector<BlockCounts> &Counts = Slots.kernel().Blocks;
  Round Blocks;
  for (uint32_t Block : C.Blocks) {
    const double P = double(Counts[Block].Lanes) / C.Rounds,
                 Counted = double(Counts[Block].Warps) /
                           double(Counts[C.Header].Warps),
                 Alone = meanExecutions(P) - P;
    Blocks.push_back({Slots.slotsOf(Block), P,
                      Alone > 0 ? std::max((Counted - P) / Alone, 0.0) : 0,
                      P < 1 && Counted <= 1 ? 1 : HUGE_VAL});
  }
  return Blocks;
}

/// Slots of a round of \p Lanes lanes.
static double slotsOfRound(const Round &Of, double Lanes) {
  double Sum = 0;
  for (const BlockOfRound &B : Of)
    Sum += B.Slots *
           std::min(B.P + B.Share * std::max(executions(B.P, Lanes) - B.P, 0.0),
                    B.Most);
  return Sum;
}

/// What the lanes of \p C that leave run, each once.
static RestOfLanes restOf(const model::KernelSlots &Slots,
                          const LoopCounts &C) {
  const KernelProfile &K = Slots.kernel();
  const std::vector<uint32_t> Outer = loopAround(K.Info, C.Blocks);
  RestOfLanes Rest;
  double Rounds = 0; // of the loop around
  for (uint32_t Block = 0; Block != K.Info.Blocks.size(); ++Block) {
    if (is_contained(C.Blocks, Block) || is_contained(C.Apart, Block))
      continue;
    const double P = double(K.Blocks[Block].Lanes) / C.Out,
                 Counted = double(K.Blocks[Block].Warps) * WarpSize / C.Out,
                 Alone = executions(P, WarpSize) - P;
    const BlockOfRound Of = {
        Slots.slotsOf(Block), P,
        Alone > 0 ? std::max((Counted - P) / Alone, 0.0) : 0, HUGE_VAL};
    const bool IsAround = is_contained(Outer, Block);
    (IsAround ? Rest.Around : Rest.Other).push_back(Of);
    if (IsAround)
      Rounds = std::max(Rounds, double(K.Blocks[Block].Lanes));
  }
  if (Rounds > 0)
    Rest.Entering = std::min(C.Out / Rounds, 1.0);
  return Rest;
}

/// Rounds that the last of \p Lanes makes until something comes that does in a
/// round with probability \p P, over what one makes on average.
static double longestWait(double P, double Lanes) {
  double Rounds = 0, More = 1; // of a lane, after so many rounds
  for (unsigned J = 0; J != 1000 && More > 1e-4; ++J) {
    Rounds += 1 - std::pow(1 - More, Lanes);
    More *= 1 - P;
  }
  return Rounds * P;
}

uint64_t threadsOfBlock(const KernelProfile &K) {
  return usesShared(K) ? std::max<uint64_t>(largestBlock(K), WarpSize)
                       : UsualThreads;
}

/// Warps of \p K that a GPU runs at once.
static double residentWarps(const KernelProfile &K) {
  uint64_t Shared = 0;
  for (const LaunchShape &S : K.Shapes)
    Shared = std::max(Shared, S.DynamicShared);
  const uint64_t Threads = threadsOfBlock(K);
  return Multiprocessors * double(Threads) / WarpSize *
         blocksOn(processorFor(90),
                  {Threads, K.Info.StaticShared + Shared, K.Info.Registers});
}

/// Of a launch, on average.
static double warpsOf(const KernelProfile &K) {
  return double(K.Threads) / WarpSize /
         double(std::max<uint64_t>(K.Launches, 1));
}

/// Whether the launches stand for larger ones: on a CPU, where they do not fill
/// the GPU.
static bool isExample(const KernelProfile &K) {
  return !K.OnGpu && warpsOf(K) < residentWarps(K);
}

/// Warps that keep a GPU busy in the loop: while one waits for its chains of
/// instructions, the others issue theirs.
static double warpsToFill(const model::KernelSlots &Slots,
                          const LoopCounts &C) {
  const KernelProfile &K = Slots.kernel();
  double Path = 0;
  for (uint32_t Block : C.Blocks)
    Path += K.Info.Blocks[Block].Path * double(K.Blocks[Block].Warps);
  return Schedulers * std::clamp(Path / C.Loop, FewWarps, ManyWarps);
}

/// Lanes that are idle when a warp stops, if each makes \p OfLane rounds.
static double idleAtStop(const Way &W, double OfLane) {
  return std::min<double>(WarpSize, W.Threshold + W.Rounds *
                                                      (WarpSize - W.Threshold) /
                                                      (2 * OfLane));
}

double Way::lanesAtWork(double OfLane) const {
  return WarpSize - idleAtStop(*this, OfLane) / 2;
}

/// All slots of the kernel, refilled as \p W says.
static double slotsWith(const Way &W, const model::KernelSlots &Slots,
                        const LoopCounts &C, const Round &Of,
                        const RestOfLanes &Else) {
  const KernelProfile &K = Slots.kernel();
  const double OfLane = C.Rounds / C.Leaving;
  const double Idle = idleAtStop(W, OfLane);
  const double AtWork = W.lanesAtWork(OfLane);
  const double Rounds = C.Rounds / AtWork * (1 + (W.Rounds - 1) / (2 * OfLane));
  const double Loop = Rounds * slotsOfRound(Of, AtWork);
  const double Votes =
      Rounds * (SlotsOfVote / W.Rounds + (W.Rounds > 1 ? SlotsOfCount : 0));
  const double Stops = SlotsOfStop * C.Leaving / Idle;
  const double Out = std::max(Idle * C.Out / C.Leaving, 1.0);
  const double RestOfOne =
      slotsOfRound(Else.Other, Out) +
      slotsOfRound(Else.Around, Out) * longestWait(Else.Entering, Out);
  const double Rest =
      std::max(C.Out / Out * RestOfOne, C.Rest) + C.FullWork * WarpSize / Idle;
  const double Warps = warpsOf(K);
  const double Enough = warpsToFill(Slots, C);
  const bool IsWhole = !isExample(K);
  const double Room = IsWhole ? residentWarps(K) : Warps / ItemsOfExample;
  const double Run = std::min(Room, Warps / W.Items);
  const double End = Run / Warps * std::max(C.Loop - Loop, 0.0);
  const double Thinner =
      IsWhole ? std::max(std::min({Room, Enough, Warps}) / Run, 1.0) : 1;
  return (Loop + Votes + Stops + Rest + End) * Thinner;
}

/// Of the loop of \p C, whose slots are still to be counted, by any of
/// \p Thresholds; \p G has its gain. Nothing if there is none.
static std::optional<LoopGain> priced(LoopGain G, LoopCounts C,
                                      const model::KernelSlots &Slots,
                                      ArrayRef<unsigned> Thresholds) {
  const KernelProfile &K = Slots.kernel();
  if (C.Leaving <= 0 || G.Gain <= 0)
    return std::nullopt;
  for (uint32_t Block : C.Blocks)
    C.Loop += Slots.slotsOf(Block) * double(K.Blocks[Block].Warps);
  C.Rest = std::max(Slots.all() - C.Loop - C.Work - C.Once, 0.0);
  const Round Of = roundOf(Slots, C);
  const RestOfLanes Rest = restOf(Slots, C);
  for (unsigned T : Thresholds)
    for (unsigned R : RoundsOfVote)
      for (unsigned J : isExample(K) ? ArrayRef(ItemsOfLane).take_front()
                                     : ArrayRef(ItemsOfLane)) {
        Way &W = G.Ways.emplace_back(Way{0, T, R, J});
        W.Slots = slotsWith(W, Slots, C, Of, Rest);
      }
  std::ranges::sort(G.Ways);
  G.Price = std::max(G.Ways.front().Slots - (Slots.all() - G.Gain), 0.0);
  G.Blocks = std::move(C.Blocks);
  G.OfLane = C.Rounds / C.Leaving;
  return G;
}

/// Counts in \p C the blocks that fill shared memory, with their loops; false if
/// there are none, or others.
static bool countPrologue(const model::KernelSlots &Slots, LoopCounts &C) {
  const KernelInfo &Info = Slots.kernel().Info;
  std::vector<bool> Fills(Info.Blocks.size());
  const uint32_t First = *std::ranges::min_element(C.Blocks);
  const auto &OfLoop = Info.Blocks[First].Entries;
  for (const AccessInfo &A : Info.Accesses)
    if (A.Space == MemorySpace::Shared && A.Use != MemoryUse::Load) {
      const auto &Entries = Info.Blocks[A.Block].Entries;
      // In the loop or one around it, or behind.
      if (A.Block >= First || (!Entries.empty() && Entries == OfLoop))
        return false;
      for (uint32_t B = 0; B != Info.Blocks.size(); ++B)
        if (B == A.Block ||
            (!Entries.empty() && Info.Blocks[B].Entries == Entries))
          Fills[B] = true;
    }
  for (uint32_t B = 0; B != Info.Blocks.size(); ++B)
    if (Fills[B] && !is_contained(C.Blocks, B)) {
      const BlockCounts &Counts = Slots.kernel().Blocks[B];
      C.Once += Slots.slotsOf(B) * double(Counts.Warps);
      C.Apart.push_back(B);
    }
  return is_contained(Fills, true);
}

/// Of the loop that \p Exits, which have one region, leave.
static std::optional<LoopGain> gainOf(const model::KernelSlots &Slots,
                                      ArrayRef<uint32_t> Exits,
                                      ArrayRef<double> Self) {
  const KernelProfile &K = Slots.kernel();
  LoopGain G;
  G.Exits = Exits.vec();
  LoopCounts C;
  C.Blocks = K.Info.Branches[Exits.front()].Region;
  if (usesShared(K) && !countPrologue(Slots, C))
    return std::nullopt;
  double Most = -1;
  for (uint32_t B : Exits) {
    double Passing = 0;
    for (uint64_t To : K.Branches[B].LanesTo)
      Passing += double(To);
    if (Passing > C.Rounds) {
      C.Rounds = Passing;
      C.Header = K.Info.Branches[B].Block;
    }
    C.Leaving += leaving(K, B);
    C.Out = C.Leaving;
    G.Gain += Self[B];
    if (Self[B] > Most)
      G.Exit = B;
    Most = std::max(Most, Self[B]);
  }
  return priced(std::move(G), std::move(C), Slots, Thresholds);
}

/// Of the rounds that skip what is behind branch \p B, in a loop.
static std::optional<LoopGain> gainOfSkips(const model::KernelSlots &Slots,
                                           uint32_t B, double Self) {
  const KernelProfile &K = Slots.kernel();
  const auto Skipped = skipOf(K, B);
  if (!Skipped)
    return std::nullopt;
  LoopGain G;
  G.Exits = {B};
  G.Exit = B;
  G.Gain = Self;
  LoopCounts C;
  C.Leaving = Skipped->Working;
  const std::vector<uint32_t> Loop = loopAround(K.Info, Skipped->Work);
  for (uint32_t Block : Loop)
    if (!is_contained(Skipped->Work, Block))
      C.Blocks.push_back(Block);
  if (C.Blocks.empty())
    return std::nullopt; // the work leads out of the loop
  for (uint32_t Block : Skipped->Work) {
    C.Work += Slots.slotsOf(Block) * double(K.Blocks[Block].Warps);
    C.FullWork += Slots.lanes(Block) * double(K.Blocks[Block].Lanes);
  }
  const double In = entering(K, Loop); // 0: not known
  C.Out = In > 0 ? std::min(In, C.Leaving) : C.Leaving;
  C.Apart = Skipped->Work;
  C.Header = roundBlock(K, K.Info.Branches[B].Block, C.Blocks);
  C.Rounds = double(K.Blocks[C.Header].Lanes);
  std::optional<LoopGain> Priced =
      priced(std::move(G), std::move(C), Slots, ThresholdsOfSkips);
  if (Priced)
    append_range(Priced->Blocks, Skipped->Work);
  return Priced;
}

static void keepBetter(std::optional<LoopGain> &Best,
                       std::optional<LoopGain> Here) {
  if (Here && Here->net() > (Best ? Best->net() : 0))
    Best = std::move(Here);
}

std::optional<LoopGain> bestLoop(const model::KernelSlots &Slots,
                                 ArrayRef<double> Self) {
  const KernelProfile &K = Slots.kernel();
  std::optional<LoopGain> Best;
  for (const std::vector<uint32_t> &OfOne : loopExits(K))
    keepBetter(Best, gainOf(Slots, OfOne, Self));
  return Best;
}

std::optional<LoopGain> bestSkip(const model::KernelSlots &Slots,
                                 ArrayRef<double> Self) {
  std::optional<LoopGain> Best;
  if (!usesShared(Slots.kernel()))
    for (uint32_t B = 0; B != Self.size(); ++B)
      keepBetter(Best, gainOfSkips(Slots, B, Self[B]));
  return Best;
}

} // namespace reconverge::remedies::refill
