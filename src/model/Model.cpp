//===- model/Model.cpp - What divergence costs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All from the counts of a KernelProfile. W is the warp size, n(b) the block's
// instructions, s(b) its issue slots (instructions weighted by how long the
// scheduler is busy with each; n(b) itself if the machine file gives none).
//
// Efficiency counts instructions, as hardware counters do, so that it can be
// set beside theirs:
//
//   CFE = sum lanes(b) n(b) / (W sum warps(b) n(b)),   potential = 1 / CFE
//
// Losses count issue slots, because that is what an idle lane wastes: a double
// division under a half-empty mask wastes more than an add.
//
// A warp execution of block b has W lanes, each in one of five states, and the
// four idle ones waste 1/W of s(b) each:
//
//   active | missing from a partial warp | returned | away already when the
//   warp reached the branch | parted at the branch or inside its region
//
// The first three are counted. Let away(b) be the rest, W warps - lanes -
// partial - exited. How many of them were away already is not counted for each
// warp, but its mean is known where the warp is whole: at the branch's own
// block E, or, if the branch lies in its own region because it leaves a loop,
// at the post-dominator, which is where lanes that entered together are
// together again.
//
//   around(b)  = min(away(b), warps(b) away(E) / warps(E))   for b in the
//   region diverge(b) = away(b) - around(b) loss       = sum over the region of
//   s(b)/W (partial + exited + diverge)(b) cost       = loss / sum over the
//   kernel of s(b) warps(b)
//
// So the outermost branch is charged with all that its region wastes (region
// now, less the same lane work in full warps), and a branch inside only with
// what parts at it or within. Costs of nested branches overlap: they are not to
// be added up. A branch that never split wasted nothing, whatever its region
// looks like.
//
// Recoverable: regrouping lowers the warp executions of b from R.Warps(b) to
// R.In*(b) in the sample, and by the same ratio in the whole:
//
//   gain = sum over the region of s(b) warps(b) (1 - R.In*(b) / R.Warps(b))
//
// over the kernel's slots, kept within [0, cost]: regrouping also fills lanes
// that other branches emptied.
//
// Limitation: that the kernel is bound by issue is taken for granted; without a
// GPU's stall counters nothing is known of the share of time that is not. Where
// both sides of a loop-leaving branch lie in its region (a return or a break
// with code of its own), around is taken as zero.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"

#include <algorithm>
#include <cassert>

namespace reconverge::model {

namespace {

class KernelModel {
public:
  explicit KernelModel(const KernelProfile &K);
  KernelCost cost() const;

private:
  double away(size_t Block) const;
  double awayOnArrival(const BranchInfo &Branch) const;
  BranchCost branch(size_t Index) const;
  double gain(const std::vector<uint64_t> &Regrouped, size_t Block) const;

  const KernelProfile &K;
  std::vector<double> SlotsOf; ///< s(b)
  double Slots = 0, FullSlots = 0;
};

} // namespace

KernelModel::KernelModel(const KernelProfile &K) : K(K) {
  assert(K.Blocks.size() == K.Info.Blocks.size() &&
         K.Branches.size() == K.Info.Branches.size() &&
         "counts are parallel to the static facts");
  double Weighted = 0;
  for (const BlockInfo &B : K.Info.Blocks) {
    SlotsOf.push_back(B.IssueSlots);
    Weighted += B.IssueSlots;
  }
  if (Weighted == 0)
    for (size_t B = 0; B != SlotsOf.size(); ++B)
      SlotsOf[B] = K.Info.Blocks[B].Instructions;
  for (size_t B = 0; B != SlotsOf.size(); ++B) {
    Slots += SlotsOf[B] * double(K.Blocks[B].Warps);
    FullSlots += SlotsOf[B] * double(K.Blocks[B].Lanes) / K.WarpSize;
  }
}

/// Idle lanes of \p Block, over all its executions, that are in the kernel and
/// elsewhere.
double KernelModel::away(size_t Block) const {
  const BlockCounts &C = K.Blocks[Block];
  double Idle = double(C.Warps) * K.WarpSize - double(C.Lanes) -
                double(C.PartialIdle) - double(C.ExitedIdle);
  return std::max(Idle, 0.0);
}

/// The mean number of lanes that were away when a warp reached \p Branch for
/// the first time.
double KernelModel::awayOnArrival(const BranchInfo &Branch) const {
  auto InRegion = [&](uint32_t Block) {
    return std::binary_search(Branch.Region.begin(), Branch.Region.end(),
                              Block);
  };
  size_t Whole = Branch.Block;
  if (InRegion(Branch.Block)) {
    auto Exit = std::find_if_not(Branch.Successors.begin(),
                                 Branch.Successors.end(), InRegion);
    if (Exit == Branch.Successors.end())
      return 0;
    Whole = *Exit;
  }
  uint64_t Warps = K.Blocks[Whole].Warps;
  return Warps ? away(Whole) / double(Warps) : 0;
}

/// Slots that \p Regrouped would save in \p Block; negative if it costs some.
double KernelModel::gain(const std::vector<uint64_t> &Regrouped,
                         size_t Block) const {
  if (Block >= Regrouped.size() || K.Regrouped.Warps[Block] == 0)
    return 0;
  double Left = double(Regrouped[Block]) / double(K.Regrouped.Warps[Block]);
  return SlotsOf[Block] * double(K.Blocks[Block].Warps) * (1 - Left);
}

BranchCost KernelModel::branch(size_t Index) const {
  const BranchInfo &Branch = K.Info.Branches[Index];
  BranchCost C;
  if (K.Branches[Index].Splits == 0 || Slots == 0)
    return C;
  double Arriving = awayOnArrival(Branch);
  double InWarp = 0, InBlock = 0, InGrid = 0;
  for (uint32_t B : Branch.Region) {
    const BlockCounts &Counts = K.Blocks[B];
    double PerLane = SlotsOf[B] / K.WarpSize;
    double Away = away(B);
    double Around = std::min(Away, double(Counts.Warps) * Arriving);
    C.PartialSlots += PerLane * double(Counts.PartialIdle);
    C.ExitSlots += PerLane * double(Counts.ExitedIdle);
    C.AroundSlots += PerLane * Around;
    C.DivergeSlots += PerLane * (Away - Around);
    InWarp += gain(K.Regrouped.InWarp, B);
    InBlock += gain(K.Regrouped.InBlock, B);
    InGrid += gain(K.Regrouped.InGrid, B);
  }
  C.LossSlots = C.PartialSlots + C.ExitSlots + C.DivergeSlots;
  C.Cost = C.LossSlots / Slots;
  C.RecoverInWarp = std::clamp(InWarp / Slots, 0.0, C.Cost);
  C.RecoverInBlock = std::clamp(InBlock / Slots, 0.0, C.Cost);
  C.RecoverInGrid = std::clamp(InGrid / Slots, 0.0, C.Cost);
  return C;
}

KernelCost KernelModel::cost() const {
  KernelCost C;
  C.Slots = Slots;
  C.FullSlots = FullSlots;
  double Thread = 0, Warp = 0, InWarp = 0, InBlock = 0, InGrid = 0;
  for (size_t B = 0; B != K.Blocks.size(); ++B) {
    uint64_t N = K.Info.Blocks[B].Instructions;
    C.Instructions += K.Blocks[B].Lanes * N;
    C.WarpInstructions += K.Blocks[B].Warps * N;
    Thread += double(K.Blocks[B].Lanes) * double(N);
    Warp += double(K.Blocks[B].Warps) * double(N);
    InWarp += gain(K.Regrouped.InWarp, B);
    InBlock += gain(K.Regrouped.InBlock, B);
    InGrid += gain(K.Regrouped.InGrid, B);
  }
  // A kernel that never ran wastes nothing.
  C.Cfe = Warp > 0 && Thread > 0 ? Thread / (K.WarpSize * Warp) : 1;
  C.Potential = 1 / C.Cfe;
  if (Slots > 0) {
    double Idle = std::max(1 - FullSlots / Slots, 0.0);
    C.RecoverInWarp = std::clamp(InWarp / Slots, 0.0, Idle);
    C.RecoverInBlock = std::clamp(InBlock / Slots, 0.0, Idle);
    C.RecoverInGrid = std::clamp(InGrid / Slots, 0.0, Idle);
  }

  for (size_t I = 0; I != K.Branches.size(); ++I) {
    C.Branches.push_back(branch(I));
    if (C.Branches.back().LossSlots > 0)
      C.Order.push_back(static_cast<uint32_t>(I));
  }
  std::sort(C.Order.begin(), C.Order.end(), [&](uint32_t A, uint32_t B) {
    double LossA = C.Branches[A].LossSlots, LossB = C.Branches[B].LossSlots;
    return LossA != LossB ? LossA > LossB : A < B;
  });
  return C;
}

KernelCost costOf(const KernelProfile &K) { return KernelModel(K).cost(); }

std::vector<KernelCost> costsOf(const Profile &P) {
  std::vector<KernelCost> Costs;
  for (const KernelProfile &K : P.Kernels)
    Costs.push_back(costOf(K));
  return Costs;
}

} // namespace reconverge::model
