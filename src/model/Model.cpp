//===- model/Model.cpp - What divergence costs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over a kernel and over each branch's region of what Slots.cpp says of a
// block; its banner has the formulas. SlotShare.cpp makes shares of the slots.
// What the branches of one place in the source come to together is Places.cpp.
//
// Shares are of time where the accesses of the run were counted: of what the
// kernel waits for, instructions alone say too little.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "model/Demand.h"
#include "model/Places.h"
#include "model/SlotShare.h"
#include "model/Slots.h"
#include "model/Time.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace reconverge::model {

/// Adds what regrouping gives back in \p Block.
static void addGain(Recoverable &Sum, const KernelSlots &In, size_t Block) {
  const RegroupedCounts &R = In.kernel().Regrouped;
  Sum.InWarp += In.gain(R.InWarp, Block);
  Sum.InBlock += In.gain(R.InBlock, Block);
  Sum.InGrid += In.gain(R.InGrid, Block);
}

/// No less than nothing and no more than \p Most.
static Recoverable within(const Recoverable &R, double Most) {
  return {std::clamp(R.InWarp, 0.0, Most), std::clamp(R.InBlock, 0.0, Most),
          std::clamp(R.InGrid, 0.0, Most)};
}

static BranchCost slotsOf(const KernelSlots &In, size_t Index) {
  const KernelProfile &K = In.kernel();
  const BranchInfo &Branch = K.Info.Branches[Index];
  BranchCost C;
  if (K.Branches[Index].Splits == 0 || In.all() == 0)
    return C;
  Recoverable Gain;
  for (uint32_t B : Branch.Region) {
    const IdleLanes Idle = In.idle(Branch, B);
    C.PartialSlots += In.lanes(B) * Idle.Partial;
    C.ExitSlots += In.lanes(B) * Idle.Exited;
    C.AroundSlots += In.lanes(B) * Idle.Around;
    C.DivergeSlots += In.lanes(B) * Idle.Diverge;
    addGain(Gain, In, B);
  }
  C.LossSlots = C.PartialSlots + C.ExitSlots + C.DivergeSlots;
  C.RecoverSlots = within(Gain, C.LossSlots);
  return C;
}

/// All but what is a share.
static KernelCost slotsOf(const KernelProfile &K) {
  const KernelSlots In(K);
  KernelCost C;
  C.Slots = In.all();
  C.FullSlots = In.full();
  double Thread = 0, Warp = 0;
  Recoverable Gain;
  for (size_t B = 0; B != K.Blocks.size(); ++B) {
    uint64_t N = K.Info.Blocks[B].Instructions;
    C.Instructions += K.Blocks[B].Lanes * N;
    C.WarpInstructions += K.Blocks[B].Warps * N;
    Thread += double(K.Blocks[B].Lanes) * double(N);
    Warp += double(K.Blocks[B].Warps) * double(N);
    addGain(Gain, In, B);
  }
  // A kernel that never ran wastes nothing.
  C.Cfe = Warp > 0 && Thread > 0 ? Thread / (K.WarpSize * Warp) : 1;
  C.Potential = 1 / C.Cfe;
  C.RecoverSlots = within(Gain, std::max(C.Slots - C.FullSlots, 0.0));

  const std::vector<double> Self = In.self();
  for (size_t I = 0; I != K.Branches.size(); ++I) {
    BranchCost Branch = slotsOf(In, I);
    if (Branch.LossSlots > 0) {
      Branch.SelfSlots = Self[I];
      C.Order.push_back(static_cast<uint32_t>(I));
    }
    C.Branches.push_back(Branch);
  }
  std::sort(C.Order.begin(), C.Order.end(), [&](uint32_t A, uint32_t B) {
    double LossA = C.Branches[A].LossSlots, LossB = C.Branches[B].LossSlots;
    return LossA != LossB ? LossA > LossB : A < B;
  });
  return C;
}

static Recoverable sharesOf(const Recoverable &Slots, const SlotShare &Share) {
  return {Share.of(Slots.InWarp), Share.of(Slots.InBlock),
          Share.of(Slots.InGrid)};
}

static void addShares(KernelCost &C, const SlotShare &Share) {
  C.Recover = sharesOf(C.RecoverSlots, Share);
  for (BranchCost &B : C.Branches) {
    B.Cost = Share.of(B.LossSlots);
    B.Self = Share.of(B.SelfSlots);
    B.Recover = sharesOf(B.RecoverSlots, Share);
  }
}

KernelCost costOf(const KernelProfile &K) {
  KernelCost C = slotsOf(K);
  addShares(C, SlotShare(K, C.Slots));
  return C;
}

/// Time, and what full warps would gain of it.
static void addTime(KernelCost &C, const KernelProfile &K,
                    const analysis::MachineLimits &Limits) {
  C.Time = timeOf(demandOf(K), Limits);
  if (C.Time.isKnown() && C.Time.HasMemory)
    C.Attainable = SlotShare(K, C.Slots, &Limits).gain(C.Slots - C.FullSlots);
}

/// Whether the time of all \p Kernels that did anything is known, memory
/// included.
static bool timeIsKnown(std::span<const KernelCost> Kernels) {
  auto Is = [](const KernelCost &C) { return !C.Slots || C.Time.isKnown(); };
  auto HasMemory = [](const KernelCost &C) { return C.Time.HasMemory; };
  return std::ranges::all_of(Kernels, Is) &&
         std::ranges::any_of(Kernels, HasMemory);
}

RunCost costOf(const Profile &P, std::span<const RemedyRule> Rules,
               const analysis::MachineLimits *Limits) {
  RunCost Run;
  for (const KernelProfile &K : P.Kernels) {
    Run.Kernels.push_back(slotsOf(K));
    if (Limits)
      addTime(Run.Kernels.back(), K, *Limits);
    Run.Slots += Run.Kernels.back().Slots;
  }
  Run.OfTime = timeIsKnown(Run.Kernels);
  std::vector<SlotShare> Shares;
  double All = 0;
  for (auto [K, C] : llvm::zip_equal(P.Kernels, Run.Kernels)) {
    Shares.emplace_back(K, C.Slots, Run.OfTime ? Limits : nullptr);
    addShares(C, Shares.back());
    All += Shares.back().all();
  }
  for (auto [C, Share] : llvm::zip_equal(Run.Kernels, Shares))
    C.OfRun = All > 0 ? Share.all() / All : 0;
  Run.Places = placesOf(P, Run.Kernels, Shares, Rules);
  for (const RemedyRule &Rule : Rules)
    Run.Automatic.push_back(Rule.Words.Name);
  return Run;
}

} // namespace reconverge::model
