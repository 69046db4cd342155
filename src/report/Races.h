//===- report/Races.h - Accesses that nothing orders ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_RACES_H
#define RECONVERGE_REPORT_RACES_H

#include "core/Profile.h"
#include "report/Terminal.h"
#include "report/Text.h"

namespace reconverge::report {

/// What --races found, kernel by kernel: races first, then writes of the same
/// value, or that there were none. Nothing if nobody looked.
void printRaces(const Profile &P, const PathNames &Paths, llvm::raw_ostream &OS,
                const TerminalOptions &Options);

} // namespace reconverge::report

#endif
