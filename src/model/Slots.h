//===- model/Slots.h - Issue slots of a kernel, block by block --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_SLOTS_H
#define RECONVERGE_MODEL_SLOTS_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace reconverge::model {

/// The issue slots of each block, s(b), for one warp. The one fallback: where
/// the machine file gives the kernel's code no cost, a slot for each
/// instruction.
std::vector<double> slotsOf(const KernelInfo &Info);
/// Issue slots of so many executions: the sum of Warps[b] * Slots[b].
double slotsOf(llvm::ArrayRef<uint64_t> Warps, llvm::ArrayRef<double> Slots);
/// Issue slots of a launch of the kernel of \p Info.
double slotsOf(const KernelInfo &Info, llvm::ArrayRef<BlockCounts> Counts);

/// What idles in one block on account of one branch, in lanes over all
/// executions of the block; the formulas are in the banner of Slots.cpp.
struct IdleLanes {
  double Partial = 0; ///< that the warp never had
  double Exited = 0;  ///< that had returned
  double Around = 0;  ///< away already when the warp reached the branch
  double Diverge = 0; ///< parted at the branch or inside its region
  /// Parted there, those among them that returned.
  double Parted = 0;
  double loss() const { return Partial + Exited + Diverge; }
};

/// Counts of a kernel in slots. Blocks and branches are positions.
class KernelSlots {
public:
  explicit KernelSlots(const KernelProfile &K);

  const KernelProfile &kernel() const { return K; }
  double slotsOf(size_t Block) const { return SlotsOf[Block]; } ///< a warp
  double lanes(size_t Block) const { return SlotsOf[Block] / K.WarpSize; }
  double all() const { return Slots; }      ///< of the kernel
  double full() const { return FullSlots; } ///< the same work in full warps

  /// Of \p Branch in \p Block of its region.
  IdleLanes idle(const BranchInfo &Branch, size_t Block) const;

  /// Slots that \p Regrouped, a list of RegroupedCounts, would save in
  /// \p Block; negative if it costs some.
  double gain(const std::vector<uint64_t> &Regrouped, size_t Block) const;

  /// Slots wasted at each branch itself (BranchCost::SelfSlots).
  std::vector<double> self() const;

private:
  double away(size_t Block) const;
  std::optional<uint32_t> togetherAt(const BranchInfo &Branch) const;

  const KernelProfile &K;
  std::vector<double> SlotsOf; ///< s(b)
  double Slots = 0, FullSlots = 0;
};

/// Whether \p Block lies in the region of \p Branch.
bool inRegion(const BranchInfo &Branch, uint32_t Block);

} // namespace reconverge::model

#endif
