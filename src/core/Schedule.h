//===- core/Schedule.h - How thread blocks fill a GPU -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed by model::scheduleOf from a kernel's block vectors; read by the
// report.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_SCHEDULE_H
#define RECONVERGE_CORE_SCHEDULE_H

#include "core/LaunchShape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge {

/// What a multiprocessor has no more of when no other thread block fits.
enum class OccupancyLimit { Threads, Blocks, Registers, Shared };

/// "threads", "thread blocks", "registers", "shared memory".
const char *wordOf(OccupancyLimit Limit);

/// Thread blocks that are on a multiprocessor at once.
struct Occupancy {
  uint32_t Blocks = 0; ///< 0: not even one fits
  OccupancyLimit By = OccupancyLimit::Threads;
  bool operator==(const Occupancy &) const = default;
};

/// The two metrics of Liang et al. (docs/metrics.md) of one launch, in cycles.
/// They leave out that warps run while others wait: they are for comparing two
/// forms of one kernel, and no time by a clock.
struct BlockVectorTimes {
  double Weighted = 0;  ///< BBV-weighted
  double Scheduled = 0; ///< BBV-weighted-scheduled; 0: no thread block fits
};

/// How the thread blocks of one launch follow each other on a GPU.
struct LaunchSchedule {
  uint64_t Launch = 0; ///< of the kernel, from 1
  LaunchShape Shape;
  /// Of the grid, those with vectors. Each of the others is taken to be as the
  /// nearest of them.
  uint64_t SampledBlocks = 0;
  uint32_t Multiprocessors = 0;
  Occupancy Resident;
  bool RegistersKnown = false; ///< if not, Resident may be too high
  BlockVectorTimes Times;
  double LongestBlock = 0, MeanBlock = 0; ///< of thread blocks, cycles
  double Busy = 0; ///< share of the time of all slots in which they have one
  double Tail =
      0; ///< share of the time in which a multiprocessor has none left
  std::vector<std::string> Drawing; ///< empty for large grids
};

} // namespace reconverge

#endif
