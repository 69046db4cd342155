//===- remedies/refill/Forecast.cpp - What refilling should gain ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the loop, or the rounds that skip work, of which LoopPrice.cpp says that
// they gain most.
//
// The counter was the faster source for what was measured. All warps ask one
// address, which serves about one of them a cycle: where slices of one item a
// lane would be asked for more often than every CyclesOfSlice, they are longer.
// Slices of their own are tried as long as leaves PlentyOfWarps of them.
//
// Lanes in different rounds, of different items, ask for memory that lies further
// apart: each access in the loop, and in work that its rounds skip, for a sector a
// lane (common/Mixing.h), but for those that go to one address whatever the round of
// this loop; in loops inside it lanes are in step as before. What goes to one
// address in each round, as a table that all threads read from its start, is read
// at as many places as fit in m rounds.
//
// A thread block touches what it did before, and what of that the first cache
// keeps is for the model to say.
//
// Limitation: accesses around the loop move apart, too, though less: as many
// items as there are idle lanes lie side by side.
//===----------------------------------------------------------------------===//

#include "remedies/refill/Forecast.h"

#include "remedies/common/Counted.h"
#include "remedies/common/Mixing.h"
#include "remedies/common/WarpCost.h"
#include "remedies/refill/Legality.h"
#include "remedies/refill/LoopPrice.h"
#include "remedies/refill/Machine.h"
#include "remedies/refill/Options.h"
#include "remedies/refill/Refill.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace llvm;

namespace reconverge::remedies::refill {

static constexpr uint64_t PlentyOfWarps = 16384;
static constexpr double CyclesOfSlice = 8;

BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch) {
  const BranchKind Kind = K.Info.Branches[Branch].Kind;
  if (Kind != BranchKind::LoopExit && Kind != BranchKind::If)
    return {};
  const std::vector<double> Self = selfSlots(Cost);
  const model::KernelSlots Slots(K);
  const auto Best =
      Kind == BranchKind::If ? bestSkip(Slots, Self) : bestLoop(Slots, Self);
  if (!Best || !is_contained(Best->Exits, Branch))
    return {};
  // Each exit has its part, so that none has more than it wastes.
  return {Self[Branch], Best->Price * Self[Branch] / Best->Gain};
}

/// Items of a slice of its own for each warp.
static unsigned longSlice(double Threads) {
  unsigned Slice = 128;
  while (Slice > 4 && Threads / (WarpSize * Slice) < PlentyOfWarps)
    Slice /= 2;
  return Slice;
}

/// Of a slice from the counter, if the kernel takes \p Slots of all its warps.
static unsigned shortSlice(double Threads, double Slots) {
  const double CyclesOfOne = Slots / Schedulers / (Threads / WarpSize);
  unsigned Slice = 1;
  while (Slice < 16 && CyclesOfOne * Slice < CyclesOfSlice)
    Slice *= 2;
  return Slice;
}

/// What is worth a trial of \p Best, a loop or rounds that skip work.
static std::vector<std::string> waysOf(const LoopGain &Best,
                                       const KernelProfile &K) {
  const std::string Where =
      ";branch=" + std::to_string(K.Info.Branches[Best.Exit].Id);
  const double Threads =
      double(K.Threads) / double(std::max<uint64_t>(K.Launches, 1));
  auto Counted = [&](const Way &W) {
    const unsigned Slice = shortSlice(double(K.Threads), W.Slots);
    return W.text() + (W.Items > 1 ? ";items=" + std::to_string(W.Items) : "") +
           (Slice > 1 ? ";slice=" + std::to_string(Slice) : "") + Where;
  };
  const Way &First = Best.Ways.front();
  // Another threshold or number of rounds.
  const Way &Second = *find_if(Best.Ways, [&](const Way &W) {
    return W.Items == First.Items && &W != &First;
  });
  std::vector<std::string> Ways = {Counted(First), Counted(Second)};
  const unsigned Slice = longSlice(Threads);
  // A small example of a larger launch does not say how much larger.
  if (Threads / (WarpSize * Slice) >= Schedulers * FewWarps)
    Ways.push_back(First.text() +
                   ";source=slice;slice=" + std::to_string(Slice) + Where);
  return Ways;
}

std::vector<std::string> guess(const KernelProfile &K) {
  const model::KernelSlots Slots(K);
  const std::vector<double> Self = Slots.self();
  const uint64_t Block = largestBlock(K);
  const std::string Limit =
      registersAsBefore(K, Block, std::min(Block, threadsOfBlock(K)));
  std::vector<std::string> All;
  for (const auto &Best : {bestLoop(Slots, Self), bestSkip(Slots, Self)}) {
    if (!Best)
      continue;
    std::vector<std::string> Ways = waysOf(*Best, K);
    addLimited(Ways, Limit);
    append_range(All, Ways);
  }
  return All;
}

/// The way of \p Best that \p Options say; its best where they say none of its.
static const Way &wayOf(const LoopGain &Best, const RefillOptions &Options) {
  const auto Found = find_if(Best.Ways, [&](const Way &W) {
    return W.Threshold == Options.Threshold && W.Rounds == Options.Rounds &&
           (Options.Source == ItemSource::Slice || W.Items == Options.Items);
  });
  return Found == Best.Ways.end() ? Best.Ways.front() : *Found;
}

Foreseen foresee(Function &Copy, const KernelProfile &Seen,
                 StringRef Parameters) {
  Foreseen F;
  const model::KernelSlots Slots(Seen);
  const std::vector<double> Self = Slots.self();
  F.Slots.resize(Self.size());
  auto Options = parseRefillOptions(Parameters);
  if (!Options) {
    consumeError(Options.takeError()); // Check says so
    F.IsRefused = true;
    return F;
  }
  auto Best = bestLoop(Slots, Self);
  if (auto Skip = bestSkip(Slots, Self);
      Skip && Options->Branch &&
      Seen.Info.Branches[Skip->Exit].Id == *Options->Branch)
    Best = std::move(Skip);
  const PlanOr<RefillPlan> Planned = planRefill(Copy, *Options);
  const auto *Plan = std::get_if<RefillPlan>(&Planned);
  if (!Best || !Plan) {
    F.IsRefused = true;
    return F;
  }
  const CommonAddresses Common = commonAddresses(Copy, Plan->Header);
  F.IsRefused = std::holds_alternative<Refusal>(refillKernel(Copy, *Options));
  if (F.IsRefused)
    return F;
  for (uint32_t B : Best->Exits)
    F.Slots[B] = Self[B];
  const Way &W = wayOf(*Best, *Options);
  const double Lanes = W.lanesAtWork(Best->OfLane);
  F.Added = mixed(Seen, Lanes, [&](const AccessInfo &A, const LaneSectors &S) {
    if (!is_contained(Best->Blocks, A.Block) ||
        Common.InAnyRound.contains(A.Id))
      return S.Now;
    if (Common.InStep.contains(A.Id))
      return distinct(Lanes, Best->OfLane * A.Bytes / SectorBytes) / Lanes;
    return S.Most;
  });
  F.Added->Slots = std::max(0.0, W.Slots - (Slots.all() - Best->Gain));
  return F;
}

} // namespace reconverge::remedies::refill
