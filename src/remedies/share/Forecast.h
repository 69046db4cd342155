//===- remedies/share/Forecast.h - What sharing may gain -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_FORECAST_H
#define RECONVERGE_REMEDIES_SHARE_FORECAST_H

#include "remedies/common/Remedy.h"

namespace reconverge::remedies::share {

/// Of the one loop for which sharing should pay most.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);
std::vector<std::string> guess(const KernelProfile &K);
/// Of loops that may be shared with \p Parameters, whatever of their chains' steps is left.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::share

#endif
