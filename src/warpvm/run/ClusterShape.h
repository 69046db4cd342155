//===- warpvm/run/ClusterShape.h - A grid cut into clusters -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_CLUSTERSHAPE_H
#define RECONVERGE_WARPVM_RUN_CLUSTERSHAPE_H

#include "core/LaunchShape.h"
#include "warpvm/Layout.h"

namespace reconverge::warpvm {

/// Where the blocks of a cluster are in a grid.
class ClusterShape {
public:
  explicit ClusterShape(const LaunchShape &S);
  uint32_t blocks() const { return Blocks[0] * Blocks[1] * Blocks[2]; }
  /// Of the grid.
  uint64_t clusters() const {
    return uint64_t(Clusters[0]) * Clusters[1] * Clusters[2];
  }
  /// The linear number in the grid of the block with \p Rank in \p Cluster.
  uint64_t block(uint64_t Cluster, uint32_t Rank) const;
  /// Fills in what the context says of the cluster, by its block's number.
  void place(WarpContext &C) const;

private:
  uint32_t Blocks[3], Clusters[3];
};

} // namespace reconverge::warpvm

#endif
