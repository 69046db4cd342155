//===- model/Occupancy.cpp - Thread blocks on a multiprocessor ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A multiprocessor takes whole thread blocks, as long as it has all that the
// next one asks for. Sizes are those of the "CUDA Programming Guide", technical
// specifications per compute capability; the units in which they are given out
// those of NVIDIA's occupancy calculator (cuda_occupancy.h in the toolkit), with
// which a test compares:
//
//   threads         whole warps
//   registers       a warp's together, in units of RegisterUnit; a warp has them
//                   of one partition of the multiprocessor
//   shared memory   a thread block's with what the system takes beside it, in
//                   units of SharedUnit
//
//===----------------------------------------------------------------------===//

#include "model/Occupancy.h"

#include "analysis/Costs.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

namespace reconverge::model {

static constexpr uint64_t WarpThreads = 32;

Multiprocessor multiprocessorOf(const analysis::MachineLimits &Limits) {
  Multiprocessor M;
  M.Threads = uint32_t(Limits.Threads);
  M.Blocks = uint32_t(Limits.Blocks);
  M.Registers = uint32_t(Limits.Registers);
  M.SharedBytes = uint64_t(Limits.SharedBytes);
  // Each scheduler has a register file of its own.
  M.Partitions = uint32_t(Limits.Schedulers);
  M.RegisterUnit = uint32_t(Limits.RegisterUnit);
  M.SharedUnit = uint64_t(Limits.SharedUnit);
  M.SharedReserved = uint64_t(Limits.SharedReserved);
  return M;
}

Occupancy occupancyOf(const Multiprocessor &On, const BlockNeeds &Needs) {
  assert(Needs.Threads && "a thread block has threads");
  const uint64_t Warps = llvm::divideCeil(Needs.Threads, WarpThreads);
  Occupancy Result{uint32_t(On.Threads / (Warps * WarpThreads)),
                   OccupancyLimit::Threads};
  auto Bound = [&](uint64_t Blocks, OccupancyLimit By) {
    if (Blocks < Result.Blocks)
      Result = {uint32_t(Blocks), By};
  };
  Bound(On.Blocks, OccupancyLimit::Blocks);
  if (Needs.Registers) {
    const uint64_t OfWarp =
        llvm::alignTo(Needs.Registers * WarpThreads, On.RegisterUnit);
    const uint64_t WarpsHeld = On.Registers / On.Partitions / OfWarp;
    Bound(WarpsHeld * On.Partitions / Warps, OccupancyLimit::Registers);
  }
  if (const uint64_t Shared =
          llvm::alignTo(Needs.Shared + On.SharedReserved, On.SharedUnit))
    Bound(On.SharedBytes / Shared, OccupancyLimit::Shared);
  return Result;
}

} // namespace reconverge::model
