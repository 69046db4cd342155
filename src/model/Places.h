//===- model/Places.h - What a place in the source costs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_PLACES_H
#define RECONVERGE_MODEL_PLACES_H

#include "core/Cost.h"
#include "core/Profile.h"
#include "model/SlotShare.h"

#include <span>

namespace reconverge::model {

/// The branches of \p P that cost anything, put together by their places, most
/// self first, with the bounds of \p Rules and of what is done by hand. \p Costs
/// and \p Shares are parallel to P.Kernels.
std::vector<PlaceCost> placesOf(const Profile &P,
                                const std::vector<KernelCost> &Costs,
                                std::span<const SlotShare> Shares,
                                std::span<const RemedyRule> Rules);

} // namespace reconverge::model

#endif
