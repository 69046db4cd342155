//===- core/Vectors.h - Block vectors of threads ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's block vector says how often the thread ran each block of its
// kernel; positions as analysis::numbersOf(kernel).Blocks.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_VECTORS_H
#define RECONVERGE_CORE_VECTORS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace reconverge {

/// Sees per-thread block vectors. An executor calls it from worker threads,
/// once for each thread block that the observer wants; must be thread-safe.
class VectorObserver {
public:
  virtual ~VectorObserver() = default;
  /// Whether the vectors of this thread block are to be recorded.
  virtual bool wants(uint64_t LinearBlock) = 0;
  /// \p Vectors has \p Threads rows of numbersOf(kernel).Blocks.size() counts,
  /// threads in linear order. \p AsRun holds the thread block's own warp
  /// executions, a basic block each.
  virtual void record(uint64_t LinearBlock, unsigned Threads,
                      llvm::ArrayRef<uint32_t> Vectors,
                      llvm::ArrayRef<uint64_t> AsRun) = 0;
};

} // namespace reconverge

#endif
