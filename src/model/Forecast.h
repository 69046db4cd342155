//===- model/Forecast.h - What remedies should gain -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_FORECAST_H
#define RECONVERGE_MODEL_FORECAST_H

#include "analysis/Costs.h"
#include "core/Cost.h"
#include "core/Forecast.h"

#include <optional>
#include <span>

namespace reconverge::model {

/// Nine of ten candidates achieved what lies within this factor of their
/// forecasts' bounds: 71 of the suite optimize on an H200, by counts of the warp
/// VM at the same sizes. Chosen by the other kernels' candidates it is 1.32 to
/// 1.34, and holds 64 (docs/time.md).
inline constexpr double UsualForecastError = 1.35;

/// Of each of \p Rules and of what is done by hand, on the kernel \p K that
/// costs \p Cost, in time of a GPU with \p Limits; the greatest gain first.
/// Those that find nothing in the kernel are left out. Empty where the
/// kernel's time is not known. \p ByCode: of remedies that can tell from the
/// kernel's code how much of that comes back; the others' bound is taken.
Forecasts forecastsOf(const KernelProfile &K, const KernelCost &Cost,
                      std::span<const RemedyRule> Rules,
                      const analysis::MachineLimits &Limits,
                      std::span<const Foreseen> ByCode = {});

/// Of the launch of which \p K has block vectors, on a GPU with \p Limits; none
/// if there are no vectors. Groups are as large as a warp. Takes up to half a
/// minute where threads do all different things (Groupings.h).
std::optional<GroupingForecasts>
groupingForecastsOf(const KernelProfile &K,
                    const analysis::MachineLimits &Limits);

} // namespace reconverge::model

#endif
