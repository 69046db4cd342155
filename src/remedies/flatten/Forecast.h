//===- remedies/flatten/Forecast.h - What flattening may gain ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_FORECAST_H
#define RECONVERGE_REMEDIES_FLATTEN_FORECAST_H

#include "remedies/common/Remedy.h"

namespace reconverge::remedies::flatten {

/// Of the one inner loop, and of the one branch by which rounds skip some work,
/// for which flattening should pay most.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);
std::vector<std::string> guess(const KernelProfile &K);
/// Of what guess() has.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::flatten

#endif
