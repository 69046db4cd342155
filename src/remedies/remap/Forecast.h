//===- remedies/remap/Forecast.h - What a remapping gives back --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_FORECAST_H
#define RECONVERGE_REMEDIES_REMAP_FORECAST_H

#include "core/Forecast.h"
#include "core/Profile.h"
#include "remedies/remap/Plan.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::remap {

/// What a round asks of a warp of a thread block of \p Warps, once; the
/// formulas are in the banner of Forecast.cpp.
struct RoundCost {
  AddedWork Vote; ///< always
  AddedWork Move; ///< where something moves
};
RoundCost costOf(const RoundMade &Round, double Warps);

/// What comes back and what is paid with \p Parameters in \p Seen, whose code
/// \p Copy is. That is remapped.
Foreseen foresee(llvm::Function &Copy, const KernelProfile &Seen,
                 llvm::StringRef Parameters);

} // namespace reconverge::remedies::remap

#endif
