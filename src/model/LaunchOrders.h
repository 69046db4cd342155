//===- model/LaunchOrders.h - Orders of a launch's threads ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_LAUNCHORDERS_H
#define RECONVERGE_MODEL_LAUNCHORDERS_H

#include "core/Vectors.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace reconverge::model {

/// The threads of a launch in another order: place I has thread Threads[I].
struct LaunchOrder {
  const char *Algorithm; ///< as in GroupingForecasts
  std::vector<uint32_t> Threads;
};

/// By each algorithm of Groupings.h, and with the longest thread blocks first,
/// for a launch of which \p All has every thread. \p Latency is lat(b). Where
/// there are too many threads or classes for Greedy and Greedy-Max, these two
/// group a sample, and the rest goes where its nearest class is (ClassRanks.h).
std::vector<LaunchOrder> ordersOf(const ThreadVectors &All,
                                  llvm::ArrayRef<double> Latency,
                                  unsigned WarpSize);

} // namespace reconverge::model

#endif
