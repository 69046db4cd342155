//===- warpvm/Block.h - One thread block on one CPU thread ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_BLOCK_H
#define RECONVERGE_WARPVM_BLOCK_H

#include "warpvm/Arena.h"
#include "warpvm/Library.h"
#include "warpvm/Warp.h"

#include <string>
#include <vector>

namespace reconverge::warpvm {

/// What all blocks of a launch share; constant while it runs.
struct LaunchContext {
  const KernelPlan *Plan = nullptr;       ///< counting as the options say
  const KernelPlan *VectorPlan = nullptr; ///< ... and block vectors
  LaunchShape Shape;
  const uint8_t *Params = nullptr;
  void *const *Globals = nullptr;
  uint64_t Seed = 0;
  uint64_t StepLimit = 0;
  std::string Kernel; ///< for messages

  unsigned threads() const {
    return Shape.Block[0] * Shape.Block[1] * Shape.Block[2];
  }
  uint64_t blocks() const {
    return uint64_t(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2];
  }
};

/// Memory and warps of a thread block; reused from block to block.
class Block {
public:
  explicit Block(const LaunchContext &L);

  /// Begins thread block \p Linear. \p Counters has two sets of
  /// Plan->NumCounters: for full warps and for a partial last one.
  void start(uint64_t Linear, Policy &P, uint64_t *Counters, bool Vectors);

  /// Runs all warps until the block is done or only yielding warps are left.
  /// A fault comes back as an error; the block is lost then.
  llvm::Expected<Status> run(Policy &P);

  uint64_t linear() const { return Linear; }
  std::string &output() { return Output; }
  unsigned divergentWarps() const { return Divergent; }
  bool recordsVectors() const { return WithVectors; }
  /// Threads x blocks, as VectorObserver::record wants them.
  std::vector<uint32_t> takeVectors() const;
  uint64_t *counters() const { return Counters; }

private:
  bool releaseBarrier(Policy &P);
  void reducePredicates();
  llvm::Error fault(const FaultGuard &Guard, const Warp *W);

  const LaunchContext &L;
  const KernelPlan *Plan;
  unsigned WarpSize, Threads;
  uint64_t Linear = 0;
  std::vector<Warp> Warps;
  uint64_t SharedBytes;
  Arena Memory;
  uint8_t *SharedBase;
  std::vector<uint32_t> VectorRows; ///< [warp][position][lane], 64-aligned
  uint32_t *VectorBase = nullptr;
  bool WithVectors = false;
  uint64_t *Counters = nullptr;
  unsigned Divergent = 0;
  std::string Output;
};

} // namespace reconverge::warpvm

#endif
