//===- driver/Decide.h - From trials to decisions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_DECIDE_H
#define RECONVERGE_DRIVER_DECIDE_H

#include "core/Trials.h"

#include "llvm/ADT/ArrayRef.h"

namespace reconverge::driver {

/// What the user lets pass.
struct DecideOptions {
  /// Keep candidates whose result is another where the original's own result
  /// depends on the order of its threads.
  bool AllowReorder = false;
  /// Least speed-up that counts where times are the model's, x.
  double LeastEstimated = 1.01;
};

/// What all trials of \p Request add up to: each of its candidates ends in one
/// way, and the fastest that may be kept is. \p Events are those of all runs,
/// in order; events of other kernels are left out.
Decision decide(const TrialRequest &Request, llvm::StringRef Display,
                llvm::ArrayRef<TrialEvent> Events,
                const DecideOptions &Options);

/// The trial that had begun and not ended when the run ended; null if none.
const TrialEvent *unfinishedTrial(llvm::ArrayRef<TrialEvent> Events);

/// The median of the ratios of paired samples and the interval that holds the
/// true one with a probability of at least 95 % (order statistics of a binomial
/// distribution; the whole range for fewer than six pairs). All 0 for none.
struct RatioInterval {
  double Low = 0, Median = 0, High = 0;
};
RatioInterval ratioOf(llvm::ArrayRef<double> Numerators,
                      llvm::ArrayRef<double> Denominators);

} // namespace reconverge::driver

#endif
