//===- report/Decisions.h - What was tried, as a table of text --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_DECISIONS_H
#define RECONVERGE_REPORT_DECISIONS_H

#include "core/Decision.h"
#include "report/Text.h"

namespace reconverge::report {

/// A row for each candidate of each kernel: what was expected, what came, what
/// became of it and why.
void printDecisions(const DecisionFile &File, llvm::raw_ostream &OS,
                    const TerminalOptions &Options = {});

/// Prints the sets of \p Search: what each gains, how good outputs are with it,
/// and what came of it.
void printSearch(const QualitySearch &Search, llvm::raw_ostream &OS,
                 const TerminalOptions &Options = {});

/// One line: the program's whole time beside that of the unmodified builds;
/// nothing if none was taken.
void printWhole(const WholeTimes &Whole, llvm::raw_ostream &OS,
                const TerminalOptions &Options = {});

} // namespace reconverge::report

#endif
