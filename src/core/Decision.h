//===- core/Decision.h - What was tried and what is kept --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trial runs a kernel's original and a candidate on the same launch, from the
// same memory, and compares every byte that either wrote. What all trials of a
// kernel add up to is its decision; the decisions of a program are the file
// that `reconverge optimize` writes and `reconverge cc --decisions` builds by.
// docs/optimize.md documents its JSON form.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_DECISION_H
#define RECONVERGE_CORE_DECISION_H

#include "core/ForeignCompiler.h"
#include "core/Profile.h"
#include "core/Promise.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge {

/// A remedy and its parameters, for one kernel. "none" is our own build of the
/// unmodified kernel, "nvcc" or "clang" that compiler's; every other name is a
/// transform's.
struct Candidate {
  std::string Remedy = "none";
  std::string Parameters; ///< "key=value,...", as the remedy prints them
  Promise Promises = Promise::Bytes; ///< of the kernel's result
  bool operator==(const Candidate &) const = default;
  /// Whose build of the unmodified kernel it is, if another compiler's.
  std::optional<ForeignCompiler> foreign() const {
    return foreignNamed(Remedy);
  }
  bool changesCode() const { return Remedy != "none" && !foreign(); }
  std::string text() const {
    return Parameters.empty() ? Remedy : Remedy + " (" + Parameters + ")";
  }
};

enum class VerdictKind {
  Identical, ///< every byte, in every launch tried
  UpToOrder, ///< stable bytes equal; those that the original itself varies with
             ///< the order of its threads lie inside the spread seen
  Differs,
  Unknown ///< not enough was seen to say anything
};

/// The first byte in which two results differ, in the words of a report.
struct Difference {
  std::string Where; ///< "cudaMalloc #3 (4096 bytes)", "variable Total"
  uint64_t Offset = 0;
  std::string Original, Variant; ///< both values
  /// Where all that differs are floating-point numbers that round otherwise:
  /// the most by which one does, in units in the last place. 0: it is more.
  uint64_t Ulps = 0;
};

struct Verdict {
  VerdictKind Kind = VerdictKind::Unknown;
  uint64_t Launches = 0;       ///< launches compared
  uint64_t Bytes = 0;          ///< bytes compared, over all launches
  uint64_t OrderDependent = 0; ///< of these, bytes that the original varies
  Difference First;            ///< if it differs
  std::string Reason;          ///< if unknown
};

enum class TrialOutcome {
  Kept,
  Slower,   ///< or not faster beyond the noise
  Wrong,    ///< another result
  Rounded,  ///< another result, by rounding alone
  Unproved, ///< the original's own result varies: nothing could be told
  Faulted,  ///< ended the run: an illegal address, a trap, an assertion
  TimedOut, ///< a run that did not end
  Refused,  ///< the remedy does not apply: why says its code and place
  Untried,  ///< no launch could be tried: why says which limit was met
};

/// One candidate for one kernel, over all launches on which it was tried.
struct TrialResult {
  Candidate What;
  TrialOutcome End = TrialOutcome::Untried;
  std::string Why;
  Verdict Compared;
  /// Speed-up over "none" that was expected, x, and what it lies between by all
  /// that the model does not know; all 0: nothing was expected.
  double Predicted = 0, PredictedLow = 0, PredictedHigh = 0;
  /// The same before it was built (Forecast.h): from counts of "none" alone.
  double Forecasted = 0, ForecastLow = 0, ForecastHigh = 0;
  /// Speed-up over the best baseline (of another compiler's: over ours), x:
  /// median and the interval of its samples. All 0 where no time was taken.
  double Speedup = 0, Low = 0, High = 0;
  double Milliseconds = 0; ///< of the launches timed, together: median
};

/// What is built for one kernel, and why.
struct Decision {
  std::string Kernel;              ///< mangled: the key
  std::string Display;             ///< demangled
  std::string Module;              ///< hash of the device code, 16 hex digits
  std::vector<LaunchShape> Shapes; ///< of the launches tried
  Candidate Keep;
  /// Times were taken on a GPU; otherwise they are the model's.
  bool Measured = false;
  uint64_t Timed = 0;      ///< launches in the times
  double Milliseconds = 0; ///< of our build in these, together: median
  std::string Why;         ///< a sentence where nothing is kept
  std::vector<TrialResult> Tried;
};

/// What is gained where something is kept, x: by the remedy, over the fastest
/// build of the kernel as it is; and by whose build that is, over ours. 1:
/// nothing.
struct DecisionGain {
  double Remedy = 1, Compiler = 1;
  std::optional<ForeignCompiler> Baseline = {}; ///< whose; none: ours
};
DecisionGain gainOf(const Decision &D);

/// Seconds from start to end of a program, the same input for each: medians.
struct WholeTimes {
  unsigned Runs = 0; ///< of each, in alternation; 0: none was timed
  double Final = 0;
  double Ours = 0; ///< built by us, unmodified
  /// Built by others, as their -O3 does; 0: it could not be, or it failed.
  EachForeign<double> Foreign = {};
  /// Whose program it is that was built in the end, as theirs is faster than
  /// the one with what is kept; none: that one.
  std::optional<ForeignCompiler> Built = {};
};

/// Candidates that change results, one a kernel, and what the program came to
/// with them together.
struct QualitySet {
  struct Member {
    std::string Kernel; ///< demangled
    Candidate What;
  };
  std::vector<Member> Members; ///< empty: what is kept without any
  /// Of all that the program's kernels take, over that without any, x: by the
  /// input on which it is least.
  double Speedup = 1;
  double HeldOutSpeedup = 0; ///< the same of held-out inputs; 0: not run there
  /// The worst quality over the inputs, as people read it, for each output asked
  /// of; of held-out inputs: empty if it was not run on these.
  std::vector<std::string> Trained, HeldOut;
  std::string Why; ///< it is not kept; empty: it is
  bool IsBest =
      true; ///< none is as fast and as good, and better in one of both
};

/// What `optimize --quality` has looked at.
struct QualitySearch {
  std::vector<std::string> Asked; ///< the words of each --quality
  uint64_t Inputs = 0, HeldOut = 0;
  std::vector<QualitySet> Sets; ///< in the order in which they were run
  std::string Verdict;          ///< a sentence
};

struct DecisionFile {
  std::string Program;
  std::vector<std::string> Arguments;
  std::string Device; ///< that the times are of
  std::vector<std::string> Notes;
  std::vector<Decision> Kernels; ///< hottest first
  WholeTimes Whole;
  std::optional<QualitySearch> Search; ///< none: no quality was asked for
};

} // namespace reconverge

#endif
