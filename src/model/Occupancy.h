//===- model/Occupancy.h - Thread blocks on a multiprocessor ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_OCCUPANCY_H
#define RECONVERGE_MODEL_OCCUPANCY_H

#include "core/Schedule.h"

#include <cstdint>

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::model {

/// What a multiprocessor has room for, and the units in which it is given out.
struct Multiprocessor {
  uint32_t Threads, Blocks;
  uint32_t Registers; ///< of 32 bits
  uint64_t SharedBytes;
  uint32_t Partitions = 4; ///< each with its share of the registers
  uint32_t RegisterUnit = 256;
  uint64_t SharedUnit = 128, SharedReserved = 1024; ///< bytes
};

Multiprocessor multiprocessorOf(const analysis::MachineLimits &Limits);

/// What one thread block asks for.
struct BlockNeeds {
  uint64_t Threads;       ///< at least 1
  uint64_t Shared;        ///< bytes, static and dynamic
  uint32_t Registers = 0; ///< of a thread; 0: not known, so they limit nothing
};

/// How many thread blocks are on \p On at once, and what lets no more fit. Of
/// several limits the first of OccupancyLimit's counts. No blocks: such a
/// launch fails.
Occupancy occupancyOf(const Multiprocessor &On, const BlockNeeds &Needs);

} // namespace reconverge::model

#endif
