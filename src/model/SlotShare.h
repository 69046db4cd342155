//===- model/SlotShare.h - Issue slots as a share of time -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_SLOTSHARE_H
#define RECONVERGE_MODEL_SLOTSHARE_H

#include "analysis/Costs.h"
#include "core/Demand.h"
#include "core/Forecast.h"
#include "core/Profile.h"

namespace reconverge::model {

/// What a kernel's issue slots are worth: how much of its time would come back
/// if some were not issued; the formulas are in the banner of SlotShare.cpp.
class SlotShare {
public:
  /// Of the kernel \p K, which takes \p Slots. \p Limits: of the GPU whose time
  /// is meant; null, or where the time is not known: shares are of the slots.
  SlotShare(const KernelProfile &K, double Slots,
            const analysis::MachineLimits *Limits = nullptr);

  /// The share of the kernel that comes back if \p Saved slots are not issued,
  /// 0..1; negative if there are more than now.
  double of(double Saved) const;
  /// How much faster its launches then are, x.
  double gain(double Saved) const;
  /// The same with \p Added.
  double gain(double Saved, const AddedWork &Added) const;
  /// What shares are of, in all of the kernel's launches: cycles, or slots.
  double all() const { return All; }

private:
  double cyclesWithout(double Saved) const;

  Demand Now;
  double Launches = 1, Requests = 0; ///< Requests: of all launches
  double Slots = 0, Cycles = 0,
         All = 0; ///< Cycles: without what a launch takes
  const analysis::MachineLimits *Limits;
};

} // namespace reconverge::model

#endif
