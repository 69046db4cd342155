//===- remedies/refill/Forecast.h - What refilling should gain --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_FORECAST_H
#define RECONVERGE_REMEDIES_REFILL_FORECAST_H

#include "core/Cost.h"
#include "core/Profile.h"

#include <string>
#include <vector>

namespace reconverge::remedies::refill {

/// Of the one loop of \p K that gains most, at each of its exits;
/// nothing at other branches, or if none gains.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);

/// Parameters for that loop, best guess first; none if none gains.
std::vector<std::string> guess(const KernelProfile &K);

} // namespace reconverge::remedies::refill

#endif
