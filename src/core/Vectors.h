//===- core/Vectors.h - Block vectors of threads ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's block vector says how often the thread ran each block of its
// kernel; positions as analysis::numbersOf(kernel).Blocks.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_VECTORS_H
#define RECONVERGE_CORE_VECTORS_H

#include "core/LaunchShape.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

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

/// Block vectors of threads of one launch, thread to class and class to vector:
/// threads of one class did the same.
struct ThreadVectors {
  struct ThreadBlock {
    uint64_t Number = 0;           ///< linear, in the grid
    std::vector<uint32_t> ClassOf; ///< of each thread, in linear order
    /// Of each thread what Loads read, a row each; empty if there are none.
    std::vector<float> Features = {};
  };
  uint64_t Launch = 0; ///< of the kernel, from 1; 0: no launch has vectors
  LaunchShape Shape;
  /// Distinct vectors, each as long as KernelInfo::Blocks; in the order in
  /// which the threads below first have them.
  std::vector<std::vector<uint32_t>> Classes;
  std::vector<ThreadBlock> Blocks; ///< some of the grid's, ascending
  /// Numbers (AccessInfo::Id) of loads that were noted, as far as the run was
  /// asked to, before the launch: what may foretell what a thread does.
  std::vector<uint32_t> Loads;

  /// At most so many threads have a class, and at most so many counts make up
  /// the classes.
  static constexpr uint64_t MaxThreads = 16384, MaxCells = 65536;
};

} // namespace reconverge

#endif
