//===- launch/Trips.h - A loop over the grid, as a launch -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_TRIPS_H
#define RECONVERGE_LAUNCH_TRIPS_H

#include "core/LaunchShape.h"
#include "core/Recipe.h"

#include <optional>

namespace reconverge::launch {

/// \p Count in a launch of \p Shape with \p Args; none: it divides by 0, or is
/// not made as TripCount.h says.
std::optional<uint64_t> tripsOf(const TripCount &Count,
                                const LaunchShape &Shape, void *const *Args);

/// The launch that \p R takes the program's of \p Shape for: that one, or where
/// R has Trips, one of a thread for each. A launch of no threads, for which no
/// recipe is, where that cannot be said: of blocks or a grid in more than one
/// dimension, or of 2^31 threads and more. Taken twice, it is the same.
LaunchShape takenAs(const Recipe &R, const LaunchShape &Shape,
                    void *const *Args);

} // namespace reconverge::launch

#endif
