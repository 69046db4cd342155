//===- driver/Report.h - Profiles written earlier, shown --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_REPORT_H
#define RECONVERGE_DRIVER_REPORT_H

#include "driver/CommandLine.h"

namespace reconverge::driver {

/// Writes a profile written earlier in the form that \p Request asks for.
/// \p Version is Reconverge's. Returns 0, or ConditionHolds.
llvm::Expected<int> report(const ReportRequest &Request,
                           llvm::StringRef Version);

/// Writes two of them beside each other.
llvm::Error diff(const DiffRequest &Request);

} // namespace reconverge::driver

#endif
