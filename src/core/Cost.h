//===- core/Cost.h - What divergence costs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed by model::costOf from a KernelProfile; read by the report. A slot is
// one warp instruction issued. Fractions are 0..1 of the kernel's slots.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_COST_H
#define RECONVERGE_CORE_COST_H

#include <cstdint>
#include <vector>

namespace reconverge {

struct BranchCost {
  double LossSlots = 0;    ///< wasted in its region: the three below together
  double PartialSlots = 0; ///< ... by lanes that a partial last warp lacks
  double ExitSlots = 0;    ///< ... by lanes that had left the kernel
  double DivergeSlots = 0; ///< ... by the branch itself and those around it
  double Cost = 0;         ///< LossSlots over the kernel's slots
  /// The part of Cost that the best regrouping in each scope would give back.
  double RecoverInWarp = 0, RecoverInBlock = 0, RecoverInGrid = 0;
};

struct KernelCost {
  double Slots = 0;     ///< sum of warps(b) n(b)
  double FullSlots = 0; ///< the same lane work in full warps
  double Cfe = 0;       ///< control-flow efficiency, 0..1
  double Potential = 0; ///< 1 / CFE, x
  uint64_t Instructions = 0; ///< thread instructions: sum of lanes(b) n(b)
  std::vector<BranchCost> Branches; ///< parallel to KernelInfo::Branches
  std::vector<uint32_t> Order;      ///< branches that cost, dearest first
};

} // namespace reconverge

#endif
