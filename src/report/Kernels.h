//===- report/Kernels.h - The table of kernels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the terminal's report that are about kernels as a whole.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REPORT_KERNELS_H
#define RECONVERGE_REPORT_KERNELS_H

#include "report/Text.h"
#include "report/View.h"

namespace reconverge::report {

/// A line for each kernel that has anything to gain, hottest first, how many
/// have not, and why lanes idle where no branch is to blame.
void printKernels(const View &V, llvm::raw_ostream &OS,
                  const TerminalOptions &Options);

/// What --schedule asked for: how the thread blocks of a launch follow each
/// other, kernel by kernel. Nothing if nobody did.
void printSchedules(const View &V, llvm::raw_ostream &OS,
                    const TerminalOptions &Options);

/// What --shuffle found: outputs that depend on the order first, and for the
/// others how far the search went. Nothing if nobody looked.
void printOrders(const View &V, llvm::raw_ostream &OS,
                 const TerminalOptions &Options);

/// What --races found, kernel by kernel: races first, then writes of the same
/// value, or that there were none. Nothing if nobody looked.
void printRaces(const View &V, llvm::raw_ostream &OS,
                const TerminalOptions &Options);

} // namespace reconverge::report

#endif
