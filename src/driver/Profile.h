//===- driver/Profile.h - From a program to its report ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PROFILE_H
#define RECONVERGE_DRIVER_PROFILE_H

#include "analysis/Costs.h"
#include "core/Cost.h"
#include "core/Profile.h"
#include "driver/CommandLine.h"
#include "driver/Run.h"
#include "report/Text.h"

#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

class Progress;

/// The program of \p Request, built if it has to be.
llvm::Expected<Session> prepare(const RunRequest &Request, Progress &Now);

/// A run whose counts were wanted.
struct CountedRun {
  frontend::ProcessResult End;
  std::optional<Profile> Counted; ///< none if the program failed before
  /// By which Counted is priced.
  analysis::MachineModel Machine = analysis::MachineModel::unit();
};
llvm::Expected<CountedRun> countRun(const RunRequest &Request,
                                    const Session &Program, Progress &Now,
                                    RunMode Mode = {});
/// Says on \p OS how a run ended that left no profile; returns its status.
int withoutProfile(const RunRequest &Request, const Session &Program,
                   const CountedRun &Run, llvm::raw_ostream &OS);

/// The machine by which \p Counted was priced, of those that we have.
std::optional<analysis::MachineModel> machineOf(const Profile &Counted);

/// Of the GPU in whose time \p Counted is told, that of \p Machine. Null: the
/// program ran on another one, of which nothing is known; or there are none.
const analysis::MachineLimits *limitsFor(const Profile &Counted,
                                         const analysis::MachineModel &Machine);

/// Adds to \p Cost how thread blocks follow each other on a GPU with \p Limits.
void addSchedules(const Profile &P, const analysis::MachineLimits &Limits,
                  RunCost &Cost);

/// Refuses a path at which no file can be written: before a long run, not after
/// it. None, and "-", are fine.
llvm::Error checkOutput(llvm::StringRef Output);

/// Width and colours of the terminal that \p OS is. COLUMNS goes before what
/// the terminal says of itself.
report::TerminalOptions terminalFor(llvm::raw_ostream &OS);

/// Builds the program of \p Request if it has to be built, runs it, writes its
/// profile to Request.Output and the table to \p OS. Returns what the program
/// returned, 128 + its signal if one ended it; if that is 0, ConditionHolds
/// where a condition of --fail-if does.
llvm::Expected<int> profile(const ProfileRequest &Request,
                            llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
