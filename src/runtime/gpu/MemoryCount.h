//===- runtime/gpu/MemoryCount.h - Accesses of a launch ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_MEMORYCOUNT_H
#define RECONVERGE_RUNTIME_GPU_MEMORYCOUNT_H

#include "core/Counts.h"
#include "core/LaunchShape.h"
#include "instrument/BlockSample.h"
#include "runtime/gpu/Images.h"
#include "runtime/gpu/Options.h"

#include <cuda_runtime_api.h>

#include <vector>

namespace reconverge::gpu {

/// Where a launch's accesses to memory are counted: an area for each thread
/// block that was chosen (instrument/AccessProbes.h).
struct MemoryAreas {
  instrument::MemorySample Who; ///< of no blocks: nothing is counted
  uint64_t Cells = 0;           ///< of an area
  uint64_t Idle = 0;            ///< as ProbeConfig::MemoryIdle

  /// \p Counting: the thread blocks that count at all. Those that run long do so
  /// in one window of \p Windows, a power of two.
  static MemoryAreas of(const CountedKernel &K, const LaunchShape &Shape,
                        const instrument::BlockSample &Counting,
                        const Options &O, uint64_t Windows = 16);
  size_t count() const { return Who.Blocks * Cells; }
  /// Tells \p Config that the areas, all zero, are at \p Device.
  void tell(instrument::ProbeConfig &Config, void *Device) const;
  /// Adds what the launch left in its areas to \p Counts.
  void addTo(LaunchCounts &Counts, const CountedKernel &K,
             llvm::ArrayRef<uint64_t> Areas) const;
};

} // namespace reconverge::gpu

#endif
