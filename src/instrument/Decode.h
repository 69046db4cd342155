//===- instrument/Decode.h - Counters to counts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_DECODE_H
#define RECONVERGE_INSTRUMENT_DECODE_H

#include "core/Profile.h"
#include "instrument/ProbePlan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::instrument {

/// The threads of a launch, by kind of warp.
struct ThreadSets {
  uint64_t Whole = 0;   ///< in warps of 32
  uint64_t Partial = 0; ///< in each thread block's last warp, if it has fewer
  unsigned Tail = 0;    ///< how many lanes such a warp has; 0: there is none
};
ThreadSets threadsOf(const LaunchShape &Shape);

/// Counts of a function: blocks are positions in ProbePlan::Code, branches one
/// for each block (those without a branch are empty).
struct FunctionCounts {
  std::vector<BlockCounts> Blocks;
  std::vector<BranchCounts> Branches;
  uint64_t DivergentWarps = 0; ///< of a kernel
};

/// \p Cells: the sums of set 0, then of set 1, ProbePlan::cells() each. The
/// threads that entered are those of \p Threads for a kernel, and counted for
/// another function.
FunctionCounts decode(const ProbePlan &Plan, llvm::ArrayRef<uint64_t> Cells,
                      const ThreadSets &Threads);

/// How often one thread of a kernel ran each block. \p Words:
/// ProbePlan::Words of them.
std::vector<uint64_t> decodeThread(const ProbePlan &Plan,
                                   llvm::ArrayRef<uint32_t> Words);

/// The counter \p C in the words of a thread.
uint32_t read(const ProbePlan &Plan, llvm::ArrayRef<uint32_t> Words,
              ProbeCounter C);

/// Warp executions of each block, from sums of counters (\p Sum) over whatever
/// threads; \p Together are those of blocks without a group.
std::vector<uint64_t>
warpsOfBlocks(const ProbePlan &Plan,
              llvm::function_ref<uint64_t(ProbeCounter)> Sum,
              llvm::ArrayRef<uint64_t> Together);

} // namespace reconverge::instrument

#endif
