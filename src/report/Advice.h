//===- report/Advice.h - What to do about a branch --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_ADVICE_H
#define RECONVERGE_REPORT_ADVICE_H

#include "core/Cost.h"
#include "core/Profile.h"

#include <string>
#include <vector>

namespace reconverge::report {

/// What may help at \p Place, a line each, most promising first; one that says
/// that nothing does, if so. Shares are of the run's slots.
std::vector<std::string> adviceFor(const PlaceCost &Place, const Profile &P);

/// The remedies that have a line there, that `optimize` tries and that may pay.
std::vector<std::string> automaticAt(const PlaceCost &Place);

/// The command that tries what is automatic on the program of \p P.
std::string optimizeCommand(const Profile &P);

} // namespace reconverge::report

#endif
