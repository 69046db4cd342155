//===- report/Kernels.h - The table of kernels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the terminal's report that is about kernels as a whole.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REPORT_KERNELS_H
#define RECONVERGE_REPORT_KERNELS_H

#include "core/Cost.h"
#include "core/Profile.h"
#include "report/Terminal.h"

#include <string>

namespace reconverge::report {

/// The kernel's name in at most \p Width columns.
std::string nameOf(const KernelProfile &K, unsigned Width);

/// A line for each kernel that has anything to gain, hottest first, how many
/// have not, and why lanes idle where no branch is to blame.
void printKernels(const Profile &P, const RunCost &Cost, llvm::raw_ostream &OS,
                  const TerminalOptions &Options);

/// What --shuffle found: outputs that depend on the order first, and for the
/// others how far the search went.
void printOrders(const Profile &P, llvm::raw_ostream &OS,
                 const TerminalOptions &Options);

} // namespace reconverge::report

#endif
