//===- core/Schedule.h - How thread blocks fill a GPU -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_SCHEDULE_H
#define RECONVERGE_CORE_SCHEDULE_H

#include <cstdint>

namespace reconverge {

/// What a multiprocessor has no more of when no other thread block fits.
enum class OccupancyLimit { Threads, Blocks, Registers, Shared };

/// "threads", "thread blocks", "registers", "shared memory".
const char *wordOf(OccupancyLimit Limit);

/// Thread blocks that are on a multiprocessor at once.
struct Occupancy {
  uint32_t Blocks = 0;
  OccupancyLimit By = OccupancyLimit::Threads;
  bool operator==(const Occupancy &) const = default;
};

} // namespace reconverge

#endif
