//===- runtime/gpu/TrialCount.h - What a launch of a trial asks -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_TRIALCOUNT_H
#define RECONVERGE_RUNTIME_GPU_TRIALCOUNT_H

#include "runtime/gpu/Counter.h"
#include "runtime/gpu/TrialImages.h"

namespace reconverge::gpu {

/// Counts one launch of code with probes, outside of the profile: begin();
/// launch Code.Stub; wait for it; end(). Blocks or accesses, not both: thread
/// blocks whose accesses are counted may part their lanes in other ways.
class TrialCount {
public:
  enum Kind { Blocks, Accesses };
  /// \p O: how many thread blocks count, and of how many the accesses; \p Windows
  /// as MemoryAreas::of takes them.
  TrialCount(Kind What, const CountingCode &Code, const LaunchShape &Shape,
             const Options &O, uint64_t Windows);
  ~TrialCount();
  TrialCount(const TrialCount &) = delete;
  TrialCount &operator=(const TrialCount &) = delete;

  /// Whether there is anything to count.
  bool isNeeded() const { return What == Blocks || Areas.count(); }
  cudaError_t begin();
  /// Fills in what was counted: blocks of the whole grid.
  cudaError_t end(LaunchCounts &Counts);

private:
  const CountingCode &Code;
  const LaunchShape &Shape;
  const Kind What;
  LaunchCells Where;
  MemoryAreas Areas;
  // On the device: cells, and behind them areas.
  void *Cells = nullptr, *Config = nullptr;
};

} // namespace reconverge::gpu

#endif
