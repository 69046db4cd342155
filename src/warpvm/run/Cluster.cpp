//===- warpvm/run/Cluster.cpp - Thread blocks side by side ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All blocks of a cluster begin together, on one CPU thread, as each may ask
// where another's shared memory is before that has run. They have turns there
// like any blocks in flight: one that waits at the cluster's barrier lets the
// next one go on, and begins no other cluster. So nothing here is locked.
//
// The barrier has two halves. A thread that arrives sets its lane's bit
// (WarpContext::AtCluster). When the bits of all threads are set that have not
// returned, all bits are cleared: who waits goes on once its bit is clear.
// Somebody who waits looks whether that is so. Who looks for races takes all that
// was done until then to come before what anybody does next: between the two halves
// races are missed, and none is made up.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"

#include <algorithm>

namespace reconverge::warpvm {

ClusterShape::ClusterShape(const LaunchShape &S) {
  for (unsigned D = 0; D < 3; ++D) {
    Blocks[D] = std::max(S.Cluster[D], 1u);
    Clusters[D] = Blocks[D] == 1 ? S.Grid[D] : S.Grid[D] / Blocks[D];
  }
}

uint64_t ClusterShape::block(uint64_t Cluster, uint32_t Rank) const {
  if (blocks() == 1) // as in most launches, of which many are short
    return Cluster;
  uint64_t At[3], Grid[3];
  for (unsigned D = 0; D < 3; ++D) {
    At[D] = Cluster % Clusters[D] * Blocks[D] + Rank % Blocks[D];
    Grid[D] = uint64_t(Clusters[D]) * Blocks[D];
    Cluster /= Clusters[D];
    Rank /= Blocks[D];
  }
  return At[0] + Grid[0] * (At[1] + Grid[1] * At[2]);
}

void ClusterShape::place(WarpContext &C) const {
  C.ClusterRank = 0;
  C.ClusterBlocks = blocks();
  if (blocks() == 1) {
    for (unsigned D = 0; D < 3; ++D) {
      C.ClusterId[D] = C.BlockId[D];
      C.ClusterGrid[D] = Clusters[D];
      C.ClusterBlock[D] = 0;
      C.ClusterDim[D] = 1;
    }
    return;
  }
  for (unsigned D = 3; D-- > 0;) {
    C.ClusterId[D] = C.BlockId[D] / Blocks[D];
    C.ClusterGrid[D] = Clusters[D];
    C.ClusterBlock[D] = C.BlockId[D] % Blocks[D];
    C.ClusterDim[D] = Blocks[D];
    C.ClusterRank = C.ClusterRank * Blocks[D] + C.ClusterBlock[D];
  }
}

llvm::Expected<std::unique_ptr<Cluster>>
Cluster::create(const LaunchContext &L) {
  std::unique_ptr<Cluster> C(new Cluster);
  const uint32_t Blocks = L.Clusters.blocks();
  const uint64_t Bytes = L.plan().StaticShared + L.Shape.DynamicShared;
  C->Stride = Bytes;
  if (Blocks > 1) {
    C->Shared = std::make_unique<Arena>(Bytes, 0, Blocks);
    if (!*C->Shared)
      return llvm::make_error<FaultError>(
          FaultKind::OutOfMemory,
          "kernel " + llvm::demangle(L.Kernel) +
              ": the system has no memory for a cluster of " +
              std::to_string(Blocks) + " blocks");
    C->Stride = C->Shared->stride();
  }
  for (uint32_t Rank = 0; Rank < Blocks; ++Rank) {
    uint8_t *Own = C->Shared ? C->Shared->shared() + C->Stride * Rank : nullptr;
    auto B = Block::create(L, *C, C->Stride, Own);
    if (!B)
      return B.takeError();
    C->Blocks.push_back(std::move(*B));
  }
  return C;
}

Block *Cluster::ownerOf(uint64_t Address) {
  const uint64_t Offset = Address - uint64_t(shared().data());
  return Offset < shared().size() ? Blocks[Offset / Stride].get() : nullptr;
}

bool Cluster::openBarrier() {
  if (!llvm::all_of(Blocks, [](auto &B) { return B->hasArrived(); }))
    return false;
  for (auto &B : Blocks)
    B->leaveArrival();
  if (!Blocks.front()->races())
    return true;
  ClockRef Known;
  for (auto &B : Blocks)
    Known = joined(Known, B->races()->Clocks.meetOthers());
  for (auto &B : Blocks)
    B->races()->Clocks.learn(Known);
  return true;
}

} // namespace reconverge::warpvm
