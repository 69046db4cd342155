//===- report/Terminal.h - A profile as a table of text ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_TERMINAL_H
#define RECONVERGE_REPORT_TERMINAL_H

#include "core/Cost.h"
#include "core/Profile.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

struct TerminalOptions {
  unsigned Width = 100;    ///< columns to fill; below 80 is taken as 80
  bool Color = false;      ///< ANSI escapes; only for a terminal
  unsigned MaxPlaces = 12; ///< rows of the table; 0: no limit
};

/// Writes where divergence costs time, dearest place first, and what may help
/// there; then a line a kernel; then how to read it. \p Cost is what
/// model::costOf makes of \p P.
void printProfile(const Profile &P, const RunCost &Cost, llvm::raw_ostream &OS,
                  const TerminalOptions &Options = {});

} // namespace reconverge::report

#endif
