//===- remedies/common/Occupancy.h - Blocks on a processor ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_OCCUPANCY_H
#define RECONVERGE_REMEDIES_COMMON_OCCUPANCY_H

#include "model/Occupancy.h"

#include <cstdint>

namespace reconverge::remedies {

/// A multiprocessor of one architecture.
struct Processor {
  unsigned Arch; ///< 90 for sm_90
  model::Multiprocessor Room;
  /// The most shared memory that one block can have, static and dynamic.
  uint64_t mostShared() const;
};

/// Of \p Arch, or of the next older one that is known.
const Processor &processorFor(unsigned Arch);

/// How many blocks run on \p P at a time.
unsigned blocksOn(const Processor &P, const model::BlockNeeds &Needs);

} // namespace reconverge::remedies

#endif
