//===- model/BlockVectorTime.h - Time by block vectors ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_BLOCKVECTORTIME_H
#define RECONVERGE_MODEL_BLOCKVECTORTIME_H

#include "core/Profile.h"
#include "core/Schedule.h"
#include "model/Schedule.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::model {

/// Which thread takes which place: the thread at place I of the sample is now
/// number Order[I] of it. Threads are numbered through the thread blocks of
/// ThreadVectors, one after the other. Each number turns up once; an empty order
/// is as they are.
using ThreadOrder = llvm::ArrayRef<uint32_t>;

/// T_Tb of each thread block of \p V, in cycles, with its threads in \p Order.
/// \p Latency is lat(b), parallel to the vectors.
std::vector<double> threadBlockTimes(const ThreadVectors &V,
                                     llvm::ArrayRef<double> Latency,
                                     unsigned WarpSize, ThreadOrder Order = {});

/// Both metrics of thread blocks that take \p Times.
BlockVectorTimes blockVectorTimes(llvm::ArrayRef<double> Times, BlockSlots On);

/// Both metrics of the launch of which \p K has vectors, on a GPU with
/// \p Limits, if its threads were in \p Order; none if there are no vectors. The
/// sample stands for the grid (LaunchSchedule), in an order each of its thread
/// blocks for an equal part: compare one order with another, be it the one that
/// changes nothing.
std::optional<BlockVectorTimes>
blockVectorTimes(const KernelProfile &K, const analysis::MachineLimits &Limits,
                 ThreadOrder Order = {});

/// The thread blocks as they are, those that take longest first; of equals the
/// first. Such an order asks less of a kernel than one of its threads.
std::vector<uint32_t> longestBlocksFirst(const ThreadVectors &V,
                                         llvm::ArrayRef<double> Latency,
                                         unsigned WarpSize);

/// 1 - After / Before of each metric: what a change gains, or, below 0, costs.
/// 0 where Before is.
BlockVectorTimes improvement(const BlockVectorTimes &Before,
                             const BlockVectorTimes &After);

/// The same launch in full, with a drawing if its grid is small.
std::optional<LaunchSchedule> scheduleOf(const KernelProfile &K,
                                         const analysis::MachineLimits &Limits);

} // namespace reconverge::model

#endif
