//===- report/Forecasts.h - The table of `predict` --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_FORECASTS_H
#define RECONVERGE_REPORT_FORECASTS_H

#include "core/Cost.h"
#include "core/Forecast.h"
#include "report/Text.h"

#include <optional>

namespace reconverge::report {

/// Prints what remedies should gain on each kernel of \p P, hottest first.
/// \p Cost and \p Of are parallel to P.Kernels.
void printForecasts(const Profile &P, const RunCost &Cost,
                    const std::vector<Forecasts> &Of, llvm::raw_ostream &OS,
                    const TerminalOptions &Options);

/// Prints what groupings of threads should gain on each kernel of \p P, hottest
/// first. \p Cost and \p Of are parallel to P.Kernels; those without block vectors
/// are named.
void printGroupings(const Profile &P, const RunCost &Cost,
                    const std::vector<std::optional<GroupingForecasts>> &Of,
                    llvm::raw_ostream &OS, const TerminalOptions &Options);

/// Prints how what threads of each kernel take follows from what they load,
/// hottest first, as a parameter of regrouping, and what an order by that should
/// gain. \p Cost and \p Of are parallel to P.Kernels; of some nothing is known.
void printEstimates(const Profile &P, const RunCost &Cost,
                    const std::vector<std::optional<EstimateForecast>> &Of,
                    llvm::raw_ostream &OS, const TerminalOptions &Options);

} // namespace reconverge::report

#endif
