//===- report/Lines.h - What each line of a source costs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_LINES_H
#define RECONVERGE_REPORT_LINES_H

#include "core/Cost.h"
#include "core/Profile.h"
#include "report/Text.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace reconverge::report {

/// Of the blocks that begin on a line, and of those in functions that it calls
/// and that lie in other files.
struct LineCost {
  double OfRun = 0;               ///< of the run's issue slots
  double Lanes = 0, Capacity = 0; ///< executed by lanes, and by as many in full
  /// Lost where lanes part at a branch on this line, and with the branches
  /// inside it; shares of the run. 0: no branch that costs.
  double Self = 0, Total = 0;

  double efficiency() const { return Capacity > 0 ? Lanes / Capacity : 0; }
};
using FileLines = std::map<unsigned, LineCost>;

/// The files that \p P names, as it names them, and the lines in each.
std::map<std::string, FileLines> linesOf(const Profile &P, const RunCost &Cost);

/// Prints \p Source with what its lines cost in the margin. \p Name is the
/// file's.
void printAnnotated(llvm::StringRef Name, llvm::StringRef Source,
                    const FileLines &Lines, unsigned WarpSize,
                    llvm::raw_ostream &OS, const TerminalOptions &Options);

} // namespace reconverge::report

#endif
