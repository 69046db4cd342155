//===- model/Slots.cpp - What idles, block by block -----------------------===//
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
//   around(b)  = min(away(b), warps(b) away(E) / warps(E)), b in the region
//   diverge(b) = away(b) - around(b)
//   loss       = sum over the region of s(b)/W (partial + exited + diverge)(b)
//   cost       = loss / sum over the kernel of s(b) warps(b)
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
// Self: where regions nest, what idles in a block is shared out among the
// branches around it. Here lanes that returned count as well, since returning
// parts them from the others:
//
//   gone(b)      = away(b) + exited(b)
//   parted(X, b) = max(gone(b) - warps(b) gone(E) / warps(E), 0)
//   self(X)      = sum over the region of s(b)/W (parted(X, b) - the most that
//                  a branch inside X is charged with in b), no term below 0
//
// Of two branches around a block the one with the smaller region is inside; if
// the regions are equal, the one that lies in its own (the exit of a loop is
// inside the test before the loop). Several exits of one loop have one region:
// they share by the lanes that can have parted there, min(lanes that leave,
// splits (W - 1)). The terms of a block telescope, so the selves of a kernel's
// branches add up to at most what it wastes.
//
// Limitation: that the kernel is bound by issue is taken for granted; without a
// GPU's stall counters nothing is known of the share of time that is not. Where
// both sides of a loop-leaving branch lie in its region (a return or a break
// with code of its own), around is taken as zero. Where lanes that skipped a
// loop wait at the very block to which it leads, its exit is charged with them,
// too, and the test before it with less.
//
//===----------------------------------------------------------------------===//

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace reconverge::model {

bool inRegion(const BranchInfo &Branch, uint32_t Block) {
  return std::binary_search(Branch.Region.begin(), Branch.Region.end(), Block);
}

std::vector<double> slotsOf(const KernelInfo &Info) {
  std::vector<double> Slots;
  double Sum = 0;
  for (const BlockInfo &B : Info.Blocks) {
    Slots.push_back(B.IssueSlots);
    Sum += B.IssueSlots;
  }
  if (Sum == 0)
    for (auto [S, B] : llvm::zip_equal(Slots, Info.Blocks))
      S = B.Instructions;
  return Slots;
}

double slotsOf(llvm::ArrayRef<uint64_t> Warps, llvm::ArrayRef<double> Slots) {
  double Sum = 0;
  for (auto [W, S] : llvm::zip_equal(Warps, Slots))
    Sum += double(W) * S;
  return Sum;
}

double slotsOf(const KernelInfo &Info, llvm::ArrayRef<BlockCounts> Counts) {
  double Sum = 0;
  for (auto [C, S] : llvm::zip_equal(Counts, slotsOf(Info)))
    Sum += double(C.Warps) * S;
  return Sum;
}

KernelSlots::KernelSlots(const KernelProfile &K)
    : K(K), SlotsOf(model::slotsOf(K.Info)) {
  assert(K.Blocks.size() == K.Info.Blocks.size() &&
         K.Branches.size() == K.Info.Branches.size() &&
         "counts are parallel to the static facts");
  for (size_t B = 0; B != SlotsOf.size(); ++B) {
    Slots += SlotsOf[B] * double(K.Blocks[B].Warps);
    FullSlots += SlotsOf[B] * double(K.Blocks[B].Lanes) / K.WarpSize;
  }
}

/// Idle lanes of \p Block, over all its executions, that are in the kernel and
/// elsewhere.
double KernelSlots::away(size_t Block) const {
  const BlockCounts &C = K.Blocks[Block];
  double Idle = double(C.Warps) * K.WarpSize - double(C.Lanes) -
                double(C.PartialIdle) - double(C.ExitedIdle);
  return std::max(Idle, 0.0);
}

/// The block in which lanes that reach \p Branch for the first time are
/// together; none if it is not known.
std::optional<uint32_t>
KernelSlots::togetherAt(const BranchInfo &Branch) const {
  if (!inRegion(Branch, Branch.Block))
    return Branch.Block;
  auto Exit =
      std::ranges::find_if_not(Branch.Successors, [&](uint32_t Successor) {
        return inRegion(Branch, Successor);
      });
  if (Exit == Branch.Successors.end())
    return std::nullopt;
  return *Exit;
}

IdleLanes KernelSlots::idle(const BranchInfo &Branch, size_t Block) const {
  const BlockCounts &C = K.Blocks[Block];
  IdleLanes Idle;
  Idle.Partial = double(C.PartialIdle);
  Idle.Exited = double(C.ExitedIdle);
  double AwayBefore = 0, GoneBefore = 0; // a warp
  if (auto Whole = togetherAt(Branch); Whole && K.Blocks[*Whole].Warps) {
    const BlockCounts &Before = K.Blocks[*Whole];
    AwayBefore = away(*Whole) / double(Before.Warps);
    GoneBefore = AwayBefore + double(Before.ExitedIdle) / double(Before.Warps);
  }
  const double Away = away(Block), Warps = double(C.Warps);
  Idle.Around = std::min(Away, Warps * AwayBefore);
  Idle.Diverge = Away - Idle.Around;
  Idle.Parted = std::max(Away + Idle.Exited - Warps * GoneBefore, 0.0);
  return Idle;
}

double KernelSlots::gain(const std::vector<uint64_t> &Regrouped,
                         size_t Block) const {
  if (Block >= Regrouped.size() || K.Regrouped.Warps[Block] == 0)
    return 0;
  double Left = double(Regrouped[Block]) / double(K.Regrouped.Warps[Block]);
  return SlotsOf[Block] * double(K.Blocks[Block].Warps) * (1 - Left);
}

/// The most lanes that can have parted at branch \p Index of \p K: those that
/// leave its region there, or take another side than most.
static double mostParted(const KernelProfile &K, size_t Index) {
  const BranchInfo &Branch = K.Info.Branches[Index];
  const BranchCounts &C = K.Branches[Index];
  double Leaving = 0, All = 0, Fullest = 0;
  for (size_t S = 0; S != C.LanesTo.size(); ++S) {
    const double Lanes = double(C.LanesTo[S]);
    All += Lanes;
    Fullest = std::max(Fullest, Lanes);
    if (!inRegion(Branch, Branch.Successors[S]))
      Leaving += Lanes;
  }
  return std::min(Leaving > 0 ? Leaving : All - Fullest,
                  double(C.Splits) * (K.WarpSize - 1));
}

std::vector<double> KernelSlots::self() const {
  const std::vector<BranchInfo> &Branches = K.Info.Branches;
  std::vector<double> Self(Branches.size());
  // Innermost first; equal keys share.
  auto KeyOf = [&](uint32_t I) {
    return std::pair(Branches[I].Region.size(),
                     !inRegion(Branches[I], Branches[I].Block));
  };
  std::vector<uint32_t> Inwards(Branches.size());
  std::iota(Inwards.begin(), Inwards.end(), 0);
  std::ranges::sort(Inwards, {},
                    [&](uint32_t I) { return std::pair(KeyOf(I), I); });
  std::vector<std::vector<uint32_t>> Around(K.Blocks.size()); // of a block
  for (uint32_t I : Inwards)
    if (K.Branches[I].Splits)
      for (uint32_t Block : Branches[I].Region)
        Around[Block].push_back(I);

  for (size_t Block = 0; Block != Around.size(); ++Block) {
    double Charged = 0; // to the branches inside
    for (auto First = Around[Block].begin(); First != Around[Block].end();) {
      auto Last = std::find_if(First, Around[Block].end(), [&](uint32_t I) {
        return KeyOf(I) != KeyOf(*First);
      });
      double Parted = 0, Weights = 0;
      for (uint32_t I : std::ranges::subrange(First, Last)) {
        Parted = std::max(Parted, idle(Branches[I], Block).Parted);
        Weights += mostParted(K, I);
      }
      const double Ours = std::max(Parted - Charged, 0.0) * lanes(Block);
      for (uint32_t I : std::ranges::subrange(First, Last))
        Self[I] += Weights > 0 ? Ours * mostParted(K, I) / Weights
                               : Ours / double(Last - First);
      Charged = std::max(Charged, Parted);
      First = Last;
    }
  }
  return Self;
}

} // namespace reconverge::model
