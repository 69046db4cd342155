//===- driver/Decide.h - From trials to decisions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_DECIDE_H
#define RECONVERGE_DRIVER_DECIDE_H

#include "analysis/Costs.h"
#include "core/Trials.h"

#include "llvm/ADT/ArrayRef.h"

namespace reconverge::driver {

/// What the user lets pass.
struct DecideOptions {
  /// Keep candidates whose result is another where the original's own result
  /// depends on the order of its threads.
  bool AllowReorder = false;
  /// Keep other compilers' code of the unmodified kernel although its result
  /// rounds otherwise.
  bool AllowRounding = false;
  /// What promises a bound alone is not kept here, whatever its result: where it
  /// is faster it ends unproved (isForOutputs), and the program's outputs decide.
  bool ByOutputs = false;
  /// Keep only what was timed: there is a GPU.
  bool NeedsTimes = false;
  /// Of that GPU, or of one that the warp VM stands for; none: predictions compare
  /// issue slots. Without times, a launch is taken as one of many that fill it.
  std::optional<analysis::MachineLimits> Limits = {};
  /// Least speed-up that counts where times are the model's, x: of what it puts
  /// lower, half does not gain (docs/measured.md).
  double LeastEstimated = 1.03;
  /// Least median of another compiler's build over ours if 1 is in its interval, x.
  double LeastOfBuilds = 1.01;
  /// What the interval of a measured one must lie above, x.
  double LeastMeasured = 1.005;
  /// What a launch must save at the interval's lower end, ms: where code and
  /// data happen to lie is worth as much, and no round shows it.
  double LeastSaved = 0.0005;
  /// A launch that is shorter, in ms, is mostly the cost of launching: nothing
  /// is kept.
  double LeastMilliseconds = 0.005;
};

/// What all trials of \p Request add up to: each of its candidates ends in one
/// way, and the fastest that may be kept is. \p Events are those of all runs,
/// in order; events of other kernels are left out.
Decision decide(const TrialRequest &Request, llvm::StringRef Display,
                llvm::ArrayRef<TrialEvent> Events,
                const DecideOptions &Options);

/// Whether \p R is faster, and the program's outputs decide whether it may be
/// kept (DecideOptions::ByOutputs).
bool isForOutputs(const TrialResult &R);

/// The last event of a run that a candidate has ended: a trial without an end,
/// or, of a run that \p Failed, a fault or a hang. Null if none has.
const TrialEvent *endOfRun(llvm::ArrayRef<TrialEvent> Events, bool Failed);

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
