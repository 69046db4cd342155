//===- driver/Prediction.h - What a candidate should gain -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PREDICTION_H
#define RECONVERGE_DRIVER_PREDICTION_H

#include "analysis/Costs.h"
#include "core/Trials.h"

#include <optional>

namespace reconverge::driver {

/// What both sides of a trial are expected to take by what they were counted to
/// ask for, over all launches: cycles of a GPU, or issue slots where nothing is
/// known of one.
class Prediction {
public:
  /// \p OfMany: launches are taken as of many that fill the GPU.
  Prediction(const std::optional<analysis::MachineLimits> &Limits, bool OfMany)
      : Limits(Limits), OfMany(OfMany) {}

  void add(const TrialEvent &End);
  /// Says what was expected in \p R; nothing, if a launch was not counted.
  void tell(TrialResult &R) const;

private:
  struct Range {
    double Least = 0, Likely = 0, Most = 0;
  };
  bool add(Range &Sum, const Demands &Asked) const;

  const std::optional<analysis::MachineLimits> &Limits;
  const bool OfMany;
  Range Original, Variant;
  bool IsWhole = true;       ///< every launch was counted
  bool ByMachineCode = true; ///< what both sides ask for is of that
};

} // namespace reconverge::driver

#endif
