//===- report/Writers.h - A report in the forms of other tools --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each form has is on docs/formats.md. Same report, same bytes.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REPORT_WRITERS_H
#define RECONVERGE_REPORT_WRITERS_H

#include "report/View.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

/// The tables of the terminal as GitHub's Markdown, for a change's description.
void printMarkdown(const View &V, llvm::raw_ostream &OS);

/// A row for each place of \p V, with a line of titles: RFC 4180, numbers in
/// full.
void printCsv(const View &V, llvm::raw_ostream &OS);

/// Issue slots, and those of them that lanes idle away, as stacks of the
/// functions that were inlined: for https://www.speedscope.app.
void printSpeedscope(const Profile &P, const RunCost &Cost,
                     llvm::raw_ostream &OS);

/// The places and accesses of \p V as missed optimizations, in the YAML that
/// LLVM's opt-viewer reads. \p V is of \p P and \p Cost.
void printRemarks(const View &V, const Profile &P, const RunCost &Cost,
                  llvm::raw_ostream &OS);

/// The places of \p V that are worth a look, and its accesses, as results of
/// SARIF 2.1.0. \p Version is Reconverge's; files below \p Folder are named
/// relative to it.
void printFindings(const View &V, llvm::StringRef Version,
                   llvm::StringRef Folder, llvm::raw_ostream &OS);

} // namespace reconverge::report

#endif
