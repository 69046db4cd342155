//===- driver/Test.h - CUDA tests without a GPU -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_TEST_H
#define RECONVERGE_DRIVER_TEST_H

#include "report/Tests.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// What to run, what to look for, and where to put what is found.
struct TestRequest {
  std::vector<std::string> Command; ///< the first word is the program
  std::string Checks;               ///< in words: "bounds, sync"
  std::string Vm;             ///< "key=value,..." as the VM backend reads it
  std::string JUnit, Sarif;   ///< files; empty: none
  std::string Suppressions;   ///< file; empty: none
  unsigned MostOfKernel = 10; ///< findings to show; 0: all
  std::string Version;        ///< of Reconverge, for the files
};

/// Takes the words after the subcommand. The UserError names the word.
llvm::Expected<TestRequest> parseTestWords(llvm::ArrayRef<const char *> Words);

/// What a test returns beside 0, and the codes of core/Error.h. Of several, the
/// first in this order that holds.
enum class TestExit : int {
  Fault = 10, ///< an illegal access, an assertion, a hang
  Race = 11,
  Sync = 12,
  Init = 13,
  Order = 14,
  Unsupported = 15,
};

/// Runs the command with all that uses our CUDA runtime on the warp VM, writes
/// the summary to \p OS and the files that are asked for. Returns the exit code.
llvm::Expected<int> test(const TestRequest &Request, llvm::raw_ostream &OS);

/// Joins what is the same, in a stable order: processes by their command lines,
/// findings by kind, kernel and place.
void mergeFindings(report::TestOutcome &T);

/// The exit code for \p T.
int exitCodeOf(const report::TestOutcome &T);

} // namespace reconverge::driver

#endif
