//===- runtime/gpu/SlotCount.h - What a launch costs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_SLOTCOUNT_H
#define RECONVERGE_RUNTIME_GPU_SLOTCOUNT_H

#include "runtime/gpu/Counter.h"
#include "runtime/gpu/TrialImages.h"

namespace reconverge::gpu {

/// Counts one launch of code with probes, outside of the profile: begin();
/// launch Code.Stub; wait for it; end().
class SlotCount {
public:
  /// \p O: how many thread blocks count, and of how many the accesses.
  SlotCount(const CountingCode &Code, const LaunchShape &Shape,
            const Options &O);
  ~SlotCount();
  SlotCount(const SlotCount &) = delete;
  SlotCount &operator=(const SlotCount &) = delete;

  cudaError_t begin();
  /// \p Asks: of the whole grid.
  cudaError_t end(Demand &Asks);

private:
  const CountingCode &Code;
  const LaunchShape &Shape;
  LaunchCells Where;
  MemoryAreas Accesses;
  // On the device: cells, and behind them areas.
  void *Cells = nullptr, *Config = nullptr;
};

} // namespace reconverge::gpu

#endif
