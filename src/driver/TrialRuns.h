//===- driver/TrialRuns.h - Expendable runs of a program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_TRIALRUNS_H
#define RECONVERGE_DRIVER_TRIALRUNS_H

#include "core/Trials.h"
#include "driver/Progress.h"
#include "driver/Run.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::driver {

/// One run by a plan: writes the log that it names, and ends in some way.
using TrialRun = llvm::function_ref<llvm::Expected<frontend::ProcessResult>(
    const TrialPlan &Plan)>;

/// Runs the program by \p Plan until no candidate ends it. Everything that the
/// last run logged and, before it, how those candidates ended that have ended
/// earlier ones. Notes go to \p OS.
/// Where \p IsTimeUp says so after a run, there is no other, and what had no
/// turn is an event of that.
llvm::Expected<std::vector<TrialEvent>> runTrials(
    TrialPlan Plan, TrialRun Run, llvm::raw_ostream &OS,
    llvm::function_ref<bool()> IsTimeUp = [] { return false; });

/// How far the run with the trials of \p Plan has come, by its log. A candidate
/// is tried on as many launches as the plan says, or as there were.
WorkDone doneOf(const TrialPlan &Plan);

} // namespace reconverge::driver

#endif
