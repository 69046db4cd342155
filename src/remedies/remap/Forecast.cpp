//===- remedies/remap/Forecast.cpp - What a remapping gives back ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass remaps a copy of the kernel, so which branches get a round, by which
// algorithm and of what state is known; the rest are counts. Of one round:
//
//   gives back  at each branch that it serves what sorting each thread block's
//               threads saves (RecoverSlots.InBlock), no more than its self
//   is run by   W warps: those that come to its branches, or all of the kernel
//               if threads that had left come along
//   moves       where the algorithm finds something to do. With m = splits / W,
//               of the n warps of a thread block so many are mixed: more than
//               one for `automatic`, and any for the others:
//
//                 1 - (1 - m)^n - n m (1 - m)^(n-1),   1 - (1 - m)^n
//
// With g groups less one, w words of state and p parts of `data_group_indexing`
// (n 32 / neighbours) a warp pays, in issue slots:
//
//                 vote            moving, besides
//   automatic     60 + 25 g       60 + 25 g + 12 w
//     blocks of   60 + 15 b       60 + 10 b + 8 n / 4 + 12 w, with b = log2(g + 1)
//     one size
//   head_or_tail  60 + 25 g       25 g + 12 w
//   data_group    120 + 25 g      314 + 25 g + 12 w + p (16 + 16.6 g)
//
// The last goes around a loop over all parts and then through the neighbourhood:
// a block of 256 threads pays 836 slots for two groups and 2695 for nine more
// than by `automatic`. head_or_tail with more than two groups is that, which
// is why it loses where threads leave before the branch.
//
// The numbers are what kernels with rounds issued more or less on an H200
// (h200/optimize.json, original and variant: lbm, mg, pb, cvp, gdt, contact,
// pol and xslookup), besides what came back; no time is in them. Those of blocks
// of one size are automatic's as PTX has fewer instructions (133 for 226 of seven
// groups). Wavefronts are those of the words, written once and read once, and of
// the counts.
//
// Chains: none is taken to get shorter (SlotShare.cpp), though fewer warps are on
// each path, and a round adds its barriers. That is chosen, not derived: forecasts
// with chains that get shorter as slots do were further off (docs/time.md).
//
// Limitation: threads that move apart from their neighbours ask for more sectors
// behind the arms, and loads that a barrier makes wait for one another
// (xslookup) take longer: neither is forecast. Blocks all of whose warps go one
// way, but not the same, move by the paper's algorithms; they are left out.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Forecast.h"

#include "model/Model.h"
#include "remedies/remap/Remap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace reconverge::remedies::remap {

RoundCost costOf(const RoundMade &Round, double Warps) {
  const double Counted = Round.Groups - 1, Words = Round.Words;
  RoundCost Cost;
  if (Round.MovesPath) {
    const double Bits = std::ceil(std::log2(Round.Groups)),
                 Read = std::ceil(Warps / 4);
    Cost.Vote = {60 + 15 * Bits, 150, 1};
    Cost.Move = {60 + 10 * Bits + 8 * Read + 12 * Words, 250, Read + 2 * Words};
    return Cost;
  }
  Cost.Vote = {60 + 25 * Counted, 150, Counted};
  Cost.Move = {60 + 25 * Counted + 12 * Words, 250, Counted + 2 * Words};
  switch (Round.Algorithm) {
  case RemapAlgorithm::Automatic:
  case RemapAlgorithm::WarpAggregated:
    break;
  case RemapAlgorithm::HeadOrTail: // no sum
    Cost.Move.Slots -= 60;
    break;
  case RemapAlgorithm::DataGroupIndexing: {
    const double Parts = std::ceil(32 * Warps / Round.Neighbours);
    Cost.Vote.Slots += 60;
    Cost.Vote.PathCycles += 200;
    Cost.Vote.Wavefronts += 14;
    Cost.Move.Slots += 254 + Parts * (16 + 16.6 * Counted);
    Cost.Move.PathCycles += 400 + 60 * Parts;
    Cost.Move.Wavefronts += Parts * Counted + 15;
    break;
  }
  }
  return Cost;
}

static void add(AddedWork &Sum, const AddedWork &Of, double Times) {
  Sum.Slots += Times * Of.Slots;
  Sum.PathCycles += Times * Of.PathCycles;
  Sum.Wavefronts += Times * Of.Wavefronts;
}

/// The share of thread blocks of \p Warps warps in which something moves if
/// \p Mixed of the warps have threads on several paths.
static double moving(RemapAlgorithm By, double Mixed, double Warps) {
  const double None = std::pow(1 - Mixed, Warps);
  if (By != RemapAlgorithm::Automatic)
    return 1 - None;
  return 1 - None - Warps * Mixed * std::pow(1 - Mixed, Warps - 1);
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  auto Options = parseRemapOptions(Parameters);
  if (!Options) {
    consumeError(Options.takeError());
    F.IsRefused = true;
    return F;
  }
  const Rounds Made = makeRounds(Copy, *Options);
  F.IsRefused = Made.All.empty();
  const KernelCost Cost = model::costOf(Seen);
  F.Slots.resize(Seen.Branches.size());
  F.Added.emplace();
  F.Added->StaticShared = Made.SharedBytes;
  F.Added->ChainsStay = true;
  double Threads = 0;
  for (const LaunchShape &S : Seen.Shapes)
    Threads = std::max(Threads, double(S.blockThreads()));
  const double Warps = std::ceil(Threads / Seen.WarpSize);
  for (const RoundMade &Round : Made.All) {
    if (Round.Exact ? Threads != Round.Threads : Threads > Round.Threads)
      continue; // such blocks skip it
    double Come = Round.HasExits ? double(Seen.WarpsRun) : 0, Split = 0;
    for (auto [B, Info] : enumerate(Seen.Info.Branches)) {
      if (!is_contained(Round.Branches, Info.Id))
        continue;
      const BranchCounts &Counts = Seen.Branches[B];
      F.Slots[B] = std::min(Cost.Branches[B].RecoverSlots.InBlock,
                            Cost.Branches[B].SelfSlots);
      Split = std::max(Split, double(Counts.Splits));
      Come = std::max(Come, double(Counts.Warps));
    }
    const RoundCost Each = costOf(Round, Warps);
    add(*F.Added, Each.Vote, Come);
    const double Mixed = Come > 0 ? std::min(1.0, Split / Come) : 0;
    add(*F.Added, Each.Move, Come * moving(Round.Algorithm, Mixed, Warps));
  }
  return F;
}

} // namespace reconverge::remedies::remap
