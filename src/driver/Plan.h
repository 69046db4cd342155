//===- driver/Plan.h - What is worth a trial --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PLAN_H
#define RECONVERGE_DRIVER_PLAN_H

#include "analysis/Costs.h"
#include "core/Forecast.h"
#include "core/Profile.h"
#include "core/Trials.h"
#include "driver/CommandLine.h"
#include "driver/Run.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// A kernel and what may be done about it.
struct HotKernel {
  const KernelProfile *Counted;
  double OfRun;    ///< its share of the run
  double Waste;    ///< share of its issue slots
  Forecasts Gains; ///< empty where time is not known
  /// What planFor leaves out, and why.
  std::vector<TrialResult> LeftOut = {};
  bool IsBusy = false; ///< what it is bound by is a unit
  const analysis::MachineLimits *Limits = nullptr; ///< null: not known
  std::vector<Candidate> Asked = {};               ///< for in the source
};

/// All kernels of \p P, hottest first. \p Limits: of the GPU in whose time
/// forecasts are; null: there are none. \p Program: the file with their code.
/// \p CudaPath: of the toolkit; empty: to be found.
std::vector<HotKernel> byHeat(const Profile &P, llvm::StringRef Program,
                              const analysis::MachineLimits *Limits,
                              llvm::StringRef CudaPath = "");

/// What \p C should gain on \p K; null: not known.
const Forecast *forecastOf(const HotKernel &K, const Candidate &C);

/// Moves what is hopeless from \p All to K.LeftOut, with its reason.
void leaveOut(HotKernel &K, std::vector<Candidate> &All);

/// What to try, all but where to log it: others' code where there is any, and
/// the remedies where they can gain, those first that should gain most. What
/// cannot gain by the forecast is left out on a GPU, where a trial costs time,
/// unless the request wants all tried.
llvm::Expected<TrialPlan> planFor(const OptimizeRequest &Request,
                                  const Session &Program, bool OnGpu,
                                  llvm::MutableArrayRef<HotKernel> Kernels,
                                  llvm::raw_ostream &OS);

/// Seconds that one run by \p Plan may take, if one without took \p Once: each
/// tried launch runs once for each order and candidate; on a GPU, candidates
/// are compiled and timed as well.
double limitFor(const TrialPlan &Plan, double Once, bool OnGpu);

} // namespace reconverge::driver

#endif
