//===- remedies/collect/Forecast.h - What collecting should gain -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_FORECAST_H
#define RECONVERGE_REMEDIES_COLLECT_FORECAST_H

#include "core/Cost.h"
#include "core/Profile.h"

#include <string>
#include <vector>

namespace reconverge::remedies::collect {

/// What items collected by \p Branch, and others like it, may give back, with
/// four items a thread; the price of all where most comes back.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);

/// Parameters, best guess first; none if no branch of \p K parts items.
std::vector<std::string> guess(const KernelProfile &K);
/// The same by its costs.
std::vector<std::string> guess(const KernelProfile &K, const KernelCost &Cost);

} // namespace reconverge::remedies::collect

#endif
