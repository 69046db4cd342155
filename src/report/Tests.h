//===- report/Tests.h - What a test showed, for people and CI ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_TESTS_H
#define RECONVERGE_REPORT_TESTS_H

#include "core/Findings.h"
#include "report/Sarif.h"
#include "report/Text.h"

#include <string>
#include <vector>

namespace reconverge::report {

/// A finding, and who came across it.
struct MergedFinding {
  Finding What;
  std::vector<size_t> Processes; ///< positions in TestOutcome::Processes
  bool Suppressed = false;       ///< the user's file says so
};

/// A command and all of its processes that use our CUDA runtime.
struct TestOutcome {
  std::vector<std::string> Command;
  int Exit = 0, Signal = 0; ///< how it ended
  double Seconds = 0;
  std::string Checks; ///< what was looked for: "bounds, sync"
  std::string Folder; ///< absolute; files below it are named relative to it
  std::vector<TestedProcess> Processes;
  std::vector<MergedFinding> Findings;         ///< by kind, kernel and place
  unsigned MostOfKernel = 0;                   ///< findings to show; 0: all
  std::vector<std::string> UnusedSuppressions; ///< as they were written

  /// Whether some finding of \p Kind fails the test.
  bool fails(FindingKind Kind) const;
};

/// The findings, then what was tested and how it ended.
void printTest(const TestOutcome &T, llvm::raw_ostream &OS,
               const TerminalOptions &Options);

/// A suite for each process, a case for each kernel, as CI servers read it.
void printJUnit(const TestOutcome &T, llvm::raw_ostream &OS);

/// \p Version: of Reconverge.
SarifRun sarifOf(const TestOutcome &T, std::string Version);

/// What a finding of \p Kind is, in a sentence, and what to do about it.
llvm::StringRef summaryOf(FindingKind Kind);
llvm::StringRef remedyFor(FindingKind Kind);

/// What \p F says, with paths below \p Folder relative to it.
std::string findingText(const Finding &F, llvm::StringRef Folder);

/// "app.cu:42 (inlined at app.cu:50)", files relative to \p Folder.
std::string placeText(const SourceChain &Where, llvm::StringRef Folder);
/// "read at app.cu:42 by thread (1,0,0) of block (2,0,0)".
std::string placeText(const FindingPlace &P, llvm::StringRef Folder);

} // namespace reconverge::report

#endif
