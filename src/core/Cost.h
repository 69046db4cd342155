//===- core/Cost.h - What divergence costs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed by model::costOf from a Profile; read by the report. A slot is the
// time in which a scheduler issues one plain warp instruction: block b takes
// BlockInfo::IssueSlots of them a warp. What is counted in slots says so in its
// name; fractions are 0..1, of the kernel in BranchCost and KernelCost, of the
// run in PlaceCost: of the time that the model makes of it (SlotShare.cpp) if
// RunCost::OfTime, else of its slots.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_COST_H
#define RECONVERGE_CORE_COST_H

#include "core/KernelTime.h"
#include "core/Profile.h"
#include "core/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge {

/// What the best regrouping in each scope would give back.
struct Recoverable {
  double InWarp = 0, InBlock = 0, InGrid = 0;
};

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
  double Cost = 0; ///< LossSlots as a share of the kernel
  /// Wasted by lanes that part at this very branch: what parts at it or inside,
  /// less what its inner branches are charged with. Those of all branches
  /// together are at most what the kernel wastes.
  double SelfSlots = 0;
  double Self = 0;                   ///< SelfSlots as a share of the kernel
  Recoverable RecoverSlots, Recover; ///< of LossSlots, and of Cost
};

struct KernelCost {
  double Slots = 0;     ///< sum of warps(b) IssueSlots(b)
  double FullSlots = 0; ///< the same lane work in full warps
  double Cfe = 0;       ///< control-flow efficiency, 0..1, by instructions
  double Potential = 0; ///< 1 / CFE, x
  /// Of the mean launch, by the model; not known without the GPU's limits.
  KernelTime Time;
  /// What full warps would gain in time, x, as memory stays what it is; 0: not
  /// known, as accesses were not counted.
  double Attainable = 0;
  uint64_t Instructions = 0;     ///< thread instructions: sum of lanes(b) n(b)
  uint64_t WarpInstructions = 0; ///< sum of warps(b) n(b)
  Recoverable RecoverSlots, Recover;
  double OfRun = 0;                 ///< of all kernels' launches
  std::vector<BranchCost> Branches; ///< parallel to KernelInfo::Branches
  std::vector<uint32_t> Order;      ///< branches that cost, dearest first
  /// If it was asked for and a launch has block vectors.
  std::optional<LaunchSchedule> Schedule;
};

/// What a remedy may give back at a branch, and what that costs: issue slots.
struct BranchBound {
  double Gain = 0;  ///< at most, before its price
  double Price = 0; ///< 0: not known
};

/// A remedy, as a line of advice names it.
struct RemedyWords {
  std::string Name;         ///< as in Remedies.def
  std::string Advice;       ///< what the line begins with: "meld its sides"
  std::string PriceOf = {}; ///< what it pays for: "rounds"
  bool ByHand = false;      ///< `optimize` does not try it
};

/// How a remedy's bounds are found.
struct RemedyRule {
  using Bound = BranchBound (*)(const KernelProfile &, const KernelCost &,
                                uint32_t Branch);
  RemedyWords Words;
  bool RegroupsBlock = false; ///< threads of a block change places
  Bound BoundAt;
};

/// What a remedy may give back at a place, shares of the run.
struct RemedyBound {
  RemedyWords What;
  double Gain = 0;  ///< at most so much, before its price
  double Price = 0; ///< of that, what it costs; 0: not known
};

/// The branches of one place in the source: a branch, its copies (unrolled,
/// inlined, in instances of a template), and the test before a loop together
/// with the one inside it.
struct PlaceCost {
  struct Member {
    uint32_t Kernel, Branch;
    bool operator==(const Member &) const = default;
  };
  std::vector<Member> Branches; ///< dearest self first
  uint64_t Warps = 0, Splits = 0;
  double SelfSlots = 0, Self = 0;
  double LossSlots = 0, Cost = 0;         ///< each block counted once
  double ExitSlots = 0, PartialSlots = 0; ///< of LossSlots
  Recoverable Recover;
  std::optional<uint32_t> Outer; ///< the place closest around it
  std::vector<RemedyBound>
      Remedies; ///< those that may apply and give something
};

struct RunCost {
  double Slots = 0;                   ///< of all kernels
  bool OfTime = false;                ///< what shares are of; see above
  std::vector<KernelCost> Kernels;    ///< parallel to Profile::Kernels
  std::vector<PlaceCost> Places;      ///< those that cost, dearest self first
  std::vector<std::string> Automatic; ///< remedies that `optimize` tries
  bool HasSchedules = false;          ///< KernelCost::Schedule was asked for
};

} // namespace reconverge

#endif
