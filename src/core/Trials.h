//===- core/Trials.h - What to try, and how it went -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver writes a plan and starts the program; the backend in it tries the
// candidates on the program's own launches and logs each step, a line at a
// time. A run is expendable: where the log ends in a trial that began and has
// no end, that candidate ended the run. So it did where the last line is a
// fault or a hang and the run has failed: a GPU's context does not outlive
// either, and the backend has ended the process with TrialsEnded.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_TRIALS_H
#define RECONVERGE_CORE_TRIALS_H

#include "core/Decision.h"
#include "core/Demand.h"
#include "core/KernelTime.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge {

struct TrialRequest {
  std::string Kernel; ///< mangled
  std::string Module; ///< hash of the device code, 16 hex digits
  std::vector<Candidate> Candidates;
  uint64_t Launches = 0; ///< of it in an earlier run; 0: not known
};

/// Another compiler's code for a module: what the candidate of its name means
/// for the module's kernels.
struct ForeignImage {
  ForeignCompiler By = ForeignCompiler::Nvcc;
  std::string Module; ///< hash of our device code of the same source
  std::string Path;   ///< a fat binary
};

struct TrialPlan {
  std::string Log;       ///< file to append events to
  uint64_t Launches = 4; ///< of each kernel, on which candidates are tried
  uint64_t Budget = 0;   ///< bytes that copies of memory may take; 0: a third
  uint32_t Orders = 4;   ///< runs of the original in other orders
  uint32_t Samples = 20; ///< timed runs of each, on a GPU
  double Seconds = 60;   ///< that trials may add to a run, on a GPU
  /// More than these there is no time for: half of each launch's is for times,
  /// once there is a candidate to be timed, and the next launch goes on.
  bool IsHurried = false;
  /// The program's outputs judge candidates that promise a bound alone, later:
  /// whatever a launch comes to with them, it is counted and timed.
  bool ByOutputs = false;
  std::vector<ForeignImage> Images;
  std::vector<TrialRequest> Kernels;
};

/// One line of the log.
struct TrialEvent {
  enum Kind {
    Begin,   ///< of a candidate on a launch
    End,     ///< with its verdict, and costs if it ran through
    Fault,   ///< the candidate's run ended in a fault: why
    Hang,    ///< ... or did not end in the time that it was given
    Refused, ///< the remedy does not apply to the kernel: why
    Untried, ///< the launch cannot be tried: why
    Timed,   ///< after End: times, on a GPU
  };
  Kind What = Begin;
  std::string Kernel, Module;
  Candidate Tried;
  uint64_t Launch = 0; ///< of the kernel, from 1; 0: of none in particular
  LaunchShape Shape;
  std::string Why;
  Verdict Compared;
  /// What both ask of the GPU, priced by the machine file; empty: not counted.
  Demands Original, Variant;
  /// The same as time, in a log that is kept; the steps of a recipe together.
  KernelTime OriginalTime, VariantTime;
  /// Milliseconds of alternating runs (GPU): a round runs the original and every
  /// candidate that ended well once, so that the lists of all candidates of a
  /// launch go together. A candidate that was lost early has fewer.
  std::vector<double> OriginalMs, VariantMs;
};

/// Exit code of a run that a candidate has ended on a GPU.
inline constexpr int TrialsEnded = 86;

llvm::Error writeTrialPlan(const TrialPlan &Plan, llvm::StringRef Path);
llvm::Expected<TrialPlan> readTrialPlan(llvm::StringRef Path);

/// One line, its end included.
void printTrialEvent(const TrialEvent &Event, llvm::raw_ostream &OS);

/// The events of a log. A last line that was cut off is left out.
llvm::Expected<std::vector<TrialEvent>> readTrialLog(llvm::StringRef Path);

} // namespace reconverge

#endif
