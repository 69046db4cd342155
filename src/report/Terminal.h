//===- report/Terminal.h - A report as a table of text ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_TERMINAL_H
#define RECONVERGE_REPORT_TERMINAL_H

#include "report/Text.h"
#include "report/View.h"

namespace reconverge::report {

/// Writes where divergence costs time, dearest place first, and what may help
/// there; then a line a kernel; then how to read it.
void printTerminal(const View &V, llvm::raw_ostream &OS,
                   const TerminalOptions &Options = {});

} // namespace reconverge::report

#endif
