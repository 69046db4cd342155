//===- remedies/meld/Forecast.h - What melding gives back -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_FORECAST_H
#define RECONVERGE_REMEDIES_MELD_FORECAST_H

#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::meld {

/// Issue slots that come back at each branch of \p Seen, whose code \p Copy is.
/// That is melded.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::meld

#endif
