//===- remedies/common/Occupancy.cpp - Blocks on a processor --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code is made for an architecture, not for a machine file. Sizes are those of
// the "CUDA Programming Guide", technical specifications per compute capability;
// units of allocation those of NVIDIA's occupancy calculator (cuda_occupancy.h).
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Occupancy.h"

namespace reconverge::remedies {

static constexpr model::Multiprocessor room(uint64_t SharedKiB,
                                            unsigned Threads, unsigned Blocks,
                                            unsigned Partitions = 4) {
  return {Threads, Blocks, /*Registers=*/65536, SharedKiB * 1024, Partitions};
}

/// Before sm_80.
static constexpr model::Multiprocessor older(model::Multiprocessor M) {
  M.SharedUnit = 256;
  M.SharedReserved = 0;
  return M;
}

static constexpr Processor Processors[] = {
    {50, older(room(64, 2048, 32))},
    {52, older(room(96, 2048, 32))},
    {53, older(room(64, 2048, 32))},
    {60, older(room(64, 2048, 32, /*Partitions=*/2))},
    {61, older(room(96, 2048, 32))},
    {62, older(room(64, 2048, 32))},
    {70, older(room(96, 2048, 32))},
    {75, older(room(64, 1024, 16))},
    {80, room(164, 2048, 32)},
    {86, room(100, 1536, 16)},
    {87, room(164, 1536, 16)},
    {89, room(100, 1536, 24)},
    {90, room(228, 2048, 32)},
};

uint64_t Processor::mostShared() const {
  return Arch < 70 ? 48 * 1024 : Room.SharedBytes - Room.SharedReserved;
}

const Processor &processorFor(unsigned Arch) {
  const Processor *Found = Processors;
  for (const Processor &P : Processors)
    if (P.Arch <= Arch)
      Found = &P;
  return *Found;
}

unsigned blocksOn(const Processor &P, const model::BlockNeeds &Needs) {
  return model::occupancyOf(P.Room, Needs).Blocks;
}

} // namespace reconverge::remedies
