//===- driver/QualityRuns.h - Outputs beside the original's -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_QUALITYRUNS_H
#define RECONVERGE_DRIVER_QUALITYRUNS_H

#include "driver/CommandLine.h"
#include "driver/OutputBuffers.h"
#include "driver/Run.h"

#include <chrono>
#include <map>

namespace reconverge::driver {

/// What a build of the program leaves on inputs, beside what the unmodified
/// program left.
struct OutputQuality {
  /// The worst over the inputs, for each --quality.
  std::vector<double> Worst;
  std::string Why; ///< it lies outside a bound, or failed; empty: it is within
  std::string Remedy; ///< what a user can do about it

  bool isWithin() const { return Why.empty(); }
};

/// Runs builds of the program on the inputs to learn from, the first of which
/// is the user's, and on those held out.
class QualityRuns {
public:
  /// Runs \p Unmodified, the program as it is, twice on each input. The UserError names an
  /// output that is not there, cannot be measured, or varies by itself by more
  /// than its bound. \p Mode: for the runs; it has a sandbox that can be read.
  static llvm::Expected<QualityRuns> create(const OptimizeRequest &Request,
                                            const Session &Program,
                                            const OutputBuffers &Buffers,
                                            llvm::StringRef Unmodified,
                                            const RunMode &Mode);

  /// Arguments of all runs, first those to learn from.
  llvm::ArrayRef<std::vector<std::string>> arguments() const {
    return Arguments;
  }
  size_t inputs() const { return Inputs; } ///< to learn from
  size_t heldOut() const { return Arguments.size() - Inputs; }
  /// Seconds that the unmodified program took on input \p I.
  double seconds(size_t I) const { return Took[I]; }

  /// The program \p Path on the inputs to learn from.
  llvm::Expected<OutputQuality> onInputs(llvm::StringRef Path) const {
    return measure(Path, 0, Inputs);
  }
  /// The same on those held out.
  llvm::Expected<OutputQuality> onHeldOut(llvm::StringRef Path) const {
    return measure(Path, Inputs, Arguments.size());
  }
  /// Of the program \p Path, whose launches count the threads that they drop
  /// (core/DroppedShares.h): the greatest share of one launch's, on the inputs to
  /// learn from, by the kernel's mangled name; none of those that counted nothing.
  llvm::Expected<std::map<std::string, double>>
  droppedOnInputs(llvm::StringRef Path) const;

private:
  QualityRuns(const OptimizeRequest &Request, const Session &Program,
              const OutputBuffers &Buffers, const RunMode &Mode)
      : Request(&Request), Program(&Program), Buffers(&Buffers), Mode(Mode) {}
  llvm::Error runOn(size_t Input, llvm::StringRef Path, double Limit,
                    std::vector<std::string> &Outputs, double &Seconds) const;
  llvm::Expected<std::string>
  readOutput(const QualityRequest &How, size_t Input,
             std::chrono::system_clock::time_point Begin) const;
  llvm::Expected<OutputQuality> measure(llvm::StringRef Path, size_t First,
                                        size_t End) const;
  std::string inputText(size_t Input) const;

  const OptimizeRequest *Request;
  const Session *Program;
  const OutputBuffers *Buffers;
  RunMode Mode;
  std::vector<std::vector<std::string>> Arguments; ///< of each input
  size_t Inputs = 0;                               ///< to learn from
  std::vector<double> Took;
  /// Of the unmodified program: by input, by --quality.
  std::vector<std::vector<std::string>> References;
};

} // namespace reconverge::driver

#endif
