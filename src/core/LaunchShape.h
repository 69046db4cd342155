//===- core/LaunchShape.h - How large a launch is ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_LAUNCHSHAPE_H
#define RECONVERGE_CORE_LAUNCHSHAPE_H

#include <array>
#include <cstdint>

namespace reconverge {

struct LaunchShape {
  std::array<uint32_t, 3> Grid{1, 1, 1}, Block{1, 1, 1};
  uint64_t DynamicShared = 0; ///< bytes
  bool Cooperative = false;   ///< all blocks at once: they may wait for another
  /// Blocks of a cluster, which divide the grid's. 0: not in clusters, which is
  /// as if each block were one.
  std::array<uint32_t, 3> Cluster{0, 0, 0};
  bool operator==(const LaunchShape &) const = default;

  /// Thread blocks of the grid. CUDA's limits keep it below 2^63.
  uint64_t blocks() const { return uint64_t(Grid[0]) * Grid[1] * Grid[2]; }
  /// Blocks of one cluster.
  uint64_t clusterBlocks() const {
    return Cluster[0] ? uint64_t(Cluster[0]) * Cluster[1] * Cluster[2] : 1;
  }
  /// Threads of one thread block.
  uint64_t blockThreads() const {
    return uint64_t(Block[0]) * Block[1] * Block[2];
  }
  /// Threads of the grid, modulo 2^64.
  uint64_t threads() const { return blocks() * blockThreads(); }
};

} // namespace reconverge

#endif
