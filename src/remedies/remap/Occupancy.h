//===- remedies/remap/Occupancy.h - Blocks on a processor ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_OCCUPANCY_H
#define RECONVERGE_REMEDIES_REMAP_OCCUPANCY_H

#include <cstdint>

namespace reconverge::remedies::remap {

/// What a multiprocessor has room for.
struct Processor {
  unsigned Arch; ///< 90 for sm_90
  unsigned SharedKiB, Threads, Blocks;
  unsigned Partitions = 4; ///< each with its share of the registers
  /// Bytes of shared memory that each block takes beside its own.
  uint64_t reserved() const { return Arch >= 80 ? 1024 : 0; }
  /// The most that one block can have, static and dynamic.
  uint64_t mostShared() const;
};

/// Of \p Arch, or of the next older one that is known.
const Processor &processorFor(unsigned Arch);

struct BlockNeeds {
  unsigned Threads;
  uint64_t Shared;        ///< bytes, static and dynamic
  unsigned Registers = 0; ///< of a thread; 0: not known
};

/// How many blocks run on \p P at a time.
unsigned blocksOn(const Processor &P, const BlockNeeds &Needs);

} // namespace reconverge::remedies::remap

#endif
