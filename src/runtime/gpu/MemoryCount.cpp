//===- runtime/gpu/MemoryCount.cpp - Accesses of a launch -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread block whose accesses are counted takes several times as long as its
// neighbours, and a launch as long as its slowest block. So few are chosen: one
// of each 32 that count, but 16 at least and 128 at most. What is asked of them
// is averages over requests, which are alike from block to block, and sums that
// are as many as a block has loops.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/MemoryCount.h"

#include "instrument/AccessProbes.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace reconverge::gpu {

static constexpr uint64_t OneOf = 32, AtLeast = 16, AtMost = 128;
/// Of all areas, whoever asks for more blocks.
static constexpr uint64_t MostBytes = 256 << 20;

MemoryAreas MemoryAreas::of(const CountedKernel &K, const LaunchShape &Shape,
                            const instrument::BlockSample &Counting,
                            const Options &O, uint64_t Windows) {
  MemoryAreas A;
  const unsigned Accesses = K.Home->Probes->accessCount(*K.Code);
  const uint64_t Blocks = Shape.blocks();
  if (!Accesses)
    return A;
  A.Cells = instrument::areaCells(Accesses);
  const uint64_t Most = O.MemoryBlocks.value_or(
      std::clamp((Blocks >> Counting.Bits) / OneOf, AtLeast, AtMost));
  A.Who = instrument::MemorySample::of(
      Blocks, Counting, std::min(Most, MostBytes / (8 * A.Cells)));
  // Who asks for all of them has time.
  A.Idle = O.MemoryBlocks == UINT64_MAX ? 0 : Windows - 1;
  return A;
}

void MemoryAreas::tell(instrument::ProbeConfig &Config, void *Device) const {
  Config.Memory = uint64_t(Device);
  Config.MemoryStride = 8 * Cells;
  Config.MemoryBits = Who.Bits;
  Config.MemoryBlocks = Who.Blocks;
  Config.MemoryIdle = Idle;
}

void MemoryAreas::addTo(LaunchCounts &Counts, const CountedKernel &K,
                        ArrayRef<uint64_t> Areas) const {
  if (!count())
    return;
  const instrument::ModuleProbes &Probes = *K.Home->Probes;
  Counts.Accesses.resize(K.Accesses);
  double Loads = 0;
  uint64_t Whole = 0;
  for (uint64_t Block = 0; Block != Who.Blocks; ++Block) {
    ArrayRef<uint64_t> Area = Areas.slice(Block * Cells, Cells);
    if (std::optional<double> Sectors = instrument::loadedSectors(Area)) {
      Loads += *Sectors;
      ++Whole;
    }
    for (auto [N, F] : enumerate(K.Functions))
      for (auto [I, At] : enumerate(K.AccessAt[N]))
        if (At != CountedKernel::NoPosition)
          Counts.Accesses[At] += instrument::countsOfAccess(
              Area, Probes.accessOffset(*F) + unsigned(I));
  }
  Counts.Touched.ThreadBlocks = Whole;
  Counts.Touched.BlockLoads = uint64_t(std::llround(Loads));
}

} // namespace reconverge::gpu
