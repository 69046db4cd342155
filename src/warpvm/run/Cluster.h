//===- warpvm/run/Cluster.h - Thread blocks side by side --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_CLUSTER_H
#define RECONVERGE_WARPVM_RUN_CLUSTER_H

#include "warpvm/run/Block.h"

#include "llvm/ADT/SmallVector.h"

namespace reconverge::warpvm {

/// The blocks of one cluster, in flight together on one CPU thread; reused from
/// cluster to cluster. A block alone is a cluster of one.
class Cluster {
public:
  /// Fails (a FaultError, OutOfMemory) if the system has no memory for it.
  static llvm::Expected<std::unique_ptr<Cluster>>
  create(const LaunchContext &L);
  Block &block(uint32_t Rank) { return *Blocks[Rank]; }
  uint32_t size() const { return uint32_t(Blocks.size()); }
  /// The block in whose shared memory \p Address is; null if it is in none's.
  Block *ownerOf(uint64_t Address);
  /// Shared memory of all blocks; empty for a block alone.
  llvm::ArrayRef<uint8_t> shared() const {
    return Shared ? llvm::ArrayRef<uint8_t>(Shared->shared(),
                                            Stride * Blocks.size())
                  : llvm::ArrayRef<uint8_t>();
  }
  /// Opens the cluster's barrier if all threads that have not returned have
  /// arrived.
  bool openBarrier();

  uint32_t Left = 0; ///< blocks that are not done

private:
  Cluster() = default;
  std::unique_ptr<Arena> Shared; ///< of all blocks, if they are several
  uint64_t Stride = 0;           ///< between them, bytes
  llvm::SmallVector<std::unique_ptr<Block>, 1> Blocks;
};

} // namespace reconverge::warpvm

#endif
