//===- report/Terminal.h - A profile as a table of text ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_TERMINAL_H
#define RECONVERGE_REPORT_TERMINAL_H

#include "core/Cost.h"
#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

struct TerminalOptions {
  unsigned Width = 100;      ///< columns to fill; below 80 is taken as 80
  bool Color = false;        ///< ANSI escapes; only for a terminal
  unsigned MaxBranches = 20; ///< rows of the table; 0: no limit
};

/// Writes branches, dearest first, then a line a kernel, then how to read it.
/// \p Costs is parallel to P.Kernels.
void printProfile(const Profile &P, llvm::ArrayRef<KernelCost> Costs,
                  llvm::raw_ostream &OS, const TerminalOptions &Options = {});

} // namespace reconverge::report

#endif
