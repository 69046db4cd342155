//===- remedies/remap/Occupancy.cpp - Blocks on a processor --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are those of the "CUDA Programming Guide", technical specifications per
// compute capability; units of allocation those of NVIDIA's occupancy
// calculator (cuda_occupancy.h in the toolkit), with which a test compares:
//
//   registers       a warp's together, in units of 256; a warp has them of one
//                   partition of the multiprocessor
//   shared memory   a block's, in units of 128 bytes (256 before sm_80)
//   threads         whole warps
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Occupancy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies::remap {

static constexpr unsigned WarpThreads = 32;
static constexpr unsigned Registers = 65536, RegisterUnit = 256;

static constexpr Processor Processors[] = {
    {50, 64, 2048, 32},  {52, 96, 2048, 32},
    {53, 64, 2048, 32},  {60, 64, 2048, 32, /*Partitions=*/2},
    {61, 96, 2048, 32},  {62, 64, 2048, 32},
    {70, 96, 2048, 32},  {75, 64, 1024, 16},
    {80, 164, 2048, 32}, {86, 100, 1536, 16},
    {87, 164, 1536, 16}, {89, 100, 1536, 24},
    {90, 228, 2048, 32},
};

uint64_t Processor::mostShared() const {
  return Arch < 70 ? 48 * 1024 : SharedKiB * 1024 - reserved();
}

const Processor &processorFor(unsigned Arch) {
  const Processor *Found = Processors;
  for (const Processor &P : Processors)
    if (P.Arch <= Arch)
      Found = &P;
  return *Found;
}

unsigned blocksOn(const Processor &P, const BlockNeeds &Needs) {
  const unsigned Warps = divideCeil(Needs.Threads, WarpThreads);
  const uint64_t Shared =
      alignTo(Needs.Shared + P.reserved(), P.Arch >= 80 ? 128 : 256);
  unsigned Blocks = std::min(P.Blocks, P.Threads / (Warps * WarpThreads));
  if (Shared)
    Blocks = std::min<uint64_t>(Blocks, P.SharedKiB * 1024 / Shared);
  if (Needs.Registers) {
    const unsigned OfWarp =
        alignTo(Needs.Registers * WarpThreads, RegisterUnit);
    const unsigned Held = Registers / P.Partitions / OfWarp * P.Partitions;
    Blocks = std::min(Blocks, Held / Warps);
  }
  return Blocks;
}

} // namespace reconverge::remedies::remap
