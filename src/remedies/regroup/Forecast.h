//===- remedies/regroup/Forecast.h - What regrouping should gain *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_FORECAST_H
#define RECONVERGE_REMEDIES_REGROUP_FORECAST_H

#include "core/Cost.h"
#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// What an order over the grid gives back at \p Branch, and, at the branch
/// where that is most, what the order costs.
BranchBound boundAt(const KernelProfile &K, const KernelCost &Cost,
                    uint32_t Branch);

/// Parameters by which to try it on \p K, best guess first; none if its
/// branches give nothing back.
std::vector<std::string> guess(const KernelProfile &K);
/// The same, with \p Cost of K.
std::vector<std::string> guess(const KernelProfile &K, const KernelCost &Cost);

/// What comes back, what the order costs and what memory is asked for besides, with
/// \p Parameters. \p Copy, the code of \p Seen, may be replaced by a kernel of the
/// same name.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::regroup

#endif
