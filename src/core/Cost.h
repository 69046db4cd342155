//===- core/Cost.h - What divergence costs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed by model::costOf from a KernelProfile; read by the report. A slot is
// the time in which a scheduler issues one plain warp instruction: block b
// takes BlockInfo::IssueSlots of them a warp. Fractions are 0..1 of the
// kernel's slots.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_COST_H
#define RECONVERGE_CORE_COST_H

#include <cstdint>
#include <vector>

namespace reconverge {

/// All zero for a branch that never split a warp.
struct BranchCost {
  double LossSlots = 0;    ///< wasted in its region: the three below together
  double PartialSlots = 0; ///< ... by lanes that a partial last warp lacks
  double ExitSlots = 0;    ///< ... by lanes that had left the kernel
  double DivergeSlots = 0; ///< ... by the branch itself and those inside
  /// Not in LossSlots: wasted in the region by lanes that were elsewhere
  /// already when warps reached the branch. The branches around it answer for
  /// them.
  double AroundSlots = 0;
  double Cost = 0; ///< LossSlots over the kernel's slots
  /// The part of Cost that the best regrouping in each scope would give back.
  double RecoverInWarp = 0, RecoverInBlock = 0, RecoverInGrid = 0;
};

struct KernelCost {
  double Slots = 0;          ///< sum of warps(b) IssueSlots(b)
  double FullSlots = 0;      ///< the same lane work in full warps
  double Cfe = 0;            ///< control-flow efficiency, 0..1, by instructions
  double Potential = 0;      ///< 1 / CFE, x
  uint64_t Instructions = 0; ///< thread instructions: sum of lanes(b) n(b)
  uint64_t WarpInstructions = 0; ///< sum of warps(b) n(b)
  /// The part of Slots that the best regrouping in each scope would give back.
  double RecoverInWarp = 0, RecoverInBlock = 0, RecoverInGrid = 0;
  std::vector<BranchCost> Branches; ///< parallel to KernelInfo::Branches
  std::vector<uint32_t> Order;      ///< branches that cost, dearest first
};

} // namespace reconverge

#endif
