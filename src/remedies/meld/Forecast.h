//===- remedies/meld/Forecast.h - What melding gives back -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_FORECAST_H
#define RECONVERGE_REMEDIES_MELD_FORECAST_H

#include "core/Profile.h"

#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::meld {

/// Issue slots that come back at each branch of \p Seen, whose code \p Copy is.
/// That is melded.
std::vector<double> foresee(llvm::Function &Copy, const KernelProfile &Seen);

} // namespace reconverge::remedies::meld

#endif
