//===- model/Model.cpp - What divergence costs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over a kernel and over each branch's region of what Slots.cpp says of a
// block; its banner has the formulas. What the branches of one place in the
// source come to together is Places.cpp.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "model/Demand.h"
#include "model/Places.h"
#include "model/Slots.h"
#include "model/Time.h"

#include <algorithm>

namespace reconverge::model {

static BranchCost costOf(const KernelSlots &In, size_t Index) {
  const KernelProfile &K = In.kernel();
  const BranchInfo &Branch = K.Info.Branches[Index];
  BranchCost C;
  if (K.Branches[Index].Splits == 0 || In.all() == 0)
    return C;
  double InWarp = 0, InBlock = 0, InGrid = 0;
  for (uint32_t B : Branch.Region) {
    const IdleLanes Idle = In.idle(Branch, B);
    C.PartialSlots += In.lanes(B) * Idle.Partial;
    C.ExitSlots += In.lanes(B) * Idle.Exited;
    C.AroundSlots += In.lanes(B) * Idle.Around;
    C.DivergeSlots += In.lanes(B) * Idle.Diverge;
    InWarp += In.gain(K.Regrouped.InWarp, B);
    InBlock += In.gain(K.Regrouped.InBlock, B);
    InGrid += In.gain(K.Regrouped.InGrid, B);
  }
  C.LossSlots = C.PartialSlots + C.ExitSlots + C.DivergeSlots;
  C.Cost = C.LossSlots / In.all();
  C.RecoverInWarp = std::clamp(InWarp / In.all(), 0.0, C.Cost);
  C.RecoverInBlock = std::clamp(InBlock / In.all(), 0.0, C.Cost);
  C.RecoverInGrid = std::clamp(InGrid / In.all(), 0.0, C.Cost);
  return C;
}

KernelCost costOf(const KernelProfile &K) {
  const KernelSlots In(K);
  KernelCost C;
  C.Slots = In.all();
  C.FullSlots = In.full();
  double Thread = 0, Warp = 0, InWarp = 0, InBlock = 0, InGrid = 0;
  for (size_t B = 0; B != K.Blocks.size(); ++B) {
    uint64_t N = K.Info.Blocks[B].Instructions;
    C.Instructions += K.Blocks[B].Lanes * N;
    C.WarpInstructions += K.Blocks[B].Warps * N;
    Thread += double(K.Blocks[B].Lanes) * double(N);
    Warp += double(K.Blocks[B].Warps) * double(N);
    InWarp += In.gain(K.Regrouped.InWarp, B);
    InBlock += In.gain(K.Regrouped.InBlock, B);
    InGrid += In.gain(K.Regrouped.InGrid, B);
  }
  // A kernel that never ran wastes nothing.
  C.Cfe = Warp > 0 && Thread > 0 ? Thread / (K.WarpSize * Warp) : 1;
  C.Potential = 1 / C.Cfe;
  if (C.Slots > 0) {
    double Idle = std::max(1 - C.FullSlots / C.Slots, 0.0);
    C.RecoverInWarp = std::clamp(InWarp / C.Slots, 0.0, Idle);
    C.RecoverInBlock = std::clamp(InBlock / C.Slots, 0.0, Idle);
    C.RecoverInGrid = std::clamp(InGrid / C.Slots, 0.0, Idle);
  }

  const std::vector<double> Self = In.self();
  for (size_t I = 0; I != K.Branches.size(); ++I) {
    BranchCost Branch = costOf(In, I);
    if (Branch.LossSlots > 0) {
      Branch.SelfSlots = Self[I];
      Branch.Self = Self[I] / C.Slots;
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

/// Time, and what is left of it where no lane idles.
static void addTime(KernelCost &C, const KernelProfile &K,
                    const analysis::MachineLimits &Limits) {
  const Demand Asked = demandOf(K);
  C.Time = timeOf(Asked, Limits);
  if (!C.Time.isKnown() || !C.Time.HasMemory || C.Slots <= 0)
    return;
  const KernelTime Full =
      timeOf(withCompute(Asked, C.FullSlots / C.Slots), Limits);
  C.Attainable = C.Time.Cycles / Full.Cycles;
}

RunCost costOf(const Profile &P, std::span<const RemedyRule> Rules,
               const analysis::MachineLimits *Limits) {
  RunCost Run;
  for (const KernelProfile &K : P.Kernels) {
    Run.Kernels.push_back(costOf(K));
    if (Limits)
      addTime(Run.Kernels.back(), K, *Limits);
    Run.Slots += Run.Kernels.back().Slots;
  }
  Run.Places = placesOf(P, Run.Kernels, Rules);
  for (const RemedyRule &Rule : Rules)
    Run.Automatic.push_back(Rule.Words.Name);
  return Run;
}

} // namespace reconverge::model
