//===- core/Counts.h - What an executor counts ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measurements of blocks, branches and launches, whoever took them: the warp VM
// and the probes on a GPU fill in the same values.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_COUNTS_H
#define RECONVERGE_CORE_COUNTS_H

#include "core/Memory.h"

#include <cstdint>
#include <vector>

namespace reconverge {

/// Of one block: of a launch, or the sum over all counted launches.
struct BlockCounts {
  uint64_t Warps = 0;       ///< warp executions
  uint64_t Lanes = 0;       ///< lane executions
  uint64_t PartialIdle = 0; ///< idle lanes that the warp never had
  uint64_t ExitedIdle = 0;  ///< idle lanes that had returned from the kernel
};

/// Of one branch, likewise.
struct BranchCounts {
  uint64_t Warps = 0;            ///< warp executions that reached it
  uint64_t Splits = 0;           ///< of these, with lanes on more than one side
  std::vector<uint64_t> LanesTo; ///< lanes to each of BranchInfo::Successors
};

/// Counts of one launch; positions as analysis::numbersOf(kernel).
struct LaunchCounts {
  std::vector<BlockCounts> Blocks;
  std::vector<BranchCounts> Branches;
  std::vector<AccessCounts> Accesses; ///< empty: not counted
  Footprint Touched;
  uint64_t Warps = 0, DivergentWarps = 0;
  double Seconds = 0;  ///< on the device that ran it
  bool Prints = false; ///< it has; known on the warp VM alone
};

} // namespace reconverge

#endif
