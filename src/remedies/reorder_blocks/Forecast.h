//===- remedies/reorder_blocks/Forecast.h - What it should gain -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_FORECAST_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_FORECAST_H

#include "core/Profile.h"

#include <string>
#include <vector>

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::remedies::reorder_blocks {

/// Orders of \p K's thread blocks that are worth a trial on a GPU with
/// \p Limits, best first.
std::vector<std::string> guess(const KernelProfile &K,
                               const analysis::MachineLimits &Limits);

} // namespace reconverge::remedies::reorder_blocks

#endif
