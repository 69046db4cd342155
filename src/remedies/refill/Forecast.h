//===- remedies/refill/Forecast.h - What refilling should gain --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_FORECAST_H
#define RECONVERGE_REMEDIES_REFILL_FORECAST_H

#include "core/Cost.h"
#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::refill {

/// Of the one loop of \p K that gains most, at each of its exits;
/// nothing at other branches, or if none gains.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);

/// Parameters for that loop, best guess first; none if none gains.
std::vector<std::string> guess(const KernelProfile &K);

/// What comes back, what votes and stops cost and what memory is asked for
/// besides, with \p Parameters. \p Copy, the code of \p Seen, may be replaced by
/// a kernel of the same name.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::refill

#endif
