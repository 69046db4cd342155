//===- analysis/device/Intrinsics.h - Intrinsics by what they are -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whoever asks what a device intrinsic is asks here. What an intrinsic costs is
// analysis/Classes.cpp, what its operands mean is known where it is lowered.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ANALYSIS_DEVICE_INTRINSICS_H
#define RECONVERGE_ANALYSIS_DEVICE_INTRINSICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Intrinsics.h"

#include <optional>

namespace llvm {
class Instruction;
} // namespace llvm

namespace reconverge::analysis {

enum class IntrinsicKind {
  Other, ///< what computes, and all that is not NVVM's
  // Threads meet.
  BlockBarrier, ///< __syncthreads and its reductions
  NamedBarrier, ///< bar.sync, barrier.sync: those who come, or so many
  Cluster,      ///< its barrier, and its blocks' shared memory
  WarpBarrier,  ///< __syncwarp
  Shuffle,
  Vote,
  MatchAny,
  MatchAll,
  Reduction,  ///< redux
  ActiveMask, ///< who is here
  Mbarrier,
  AsyncCopy, ///< cp.async, and what waits for one
  Tile,      ///< fragments of matrices over the lanes of a warp
  // Special registers.
  ThreadIndex, ///< threadIdx.x, .y, .z
  LaneId,
  LaneMask,
  WarpId,
  BlockIndex, ///< in the grid or the cluster, and the cluster's in the grid
  SmId,
  LaunchSize,  ///< the same for all threads: sizes, numbers of things, grid id
  Clock,       ///< clocks, timers and counters
  Environment, ///< registers that a driver sets
  // Memory.
  ReadOnlyLoad, ///< ldg, ldu
  Atomic,
  Fence,
  Texture,
  Surface,
  AddressCast, ///< a pointer as one to another address space
  // Control.
  Exit ///< ends the thread
};

IntrinsicKind kindOf(llvm::Intrinsic::ID Id);
/// Of the intrinsic that \p I calls; Other if it calls none.
IntrinsicKind intrinsicKind(const llvm::Instruction &I);

/// All kinds of barrier that a thread block's threads wait at, their cluster's
/// among them.
bool isBarrier(const llvm::Instruction &I);

/// An exchange between lanes that names its members in a mask: shfl.sync,
/// vote.sync, match.sync, redux.sync, bar.warp.sync.
bool isCollective(const llvm::Instruction &I);

/// 0, 1, 2 for threadIdx.x, .y, .z.
std::optional<unsigned> threadIndexDimension(llvm::Intrinsic::ID Id);
/// 0, 1, 2 for blockIdx.x, .y, .z.
std::optional<unsigned> blockIndexDimension(llvm::Intrinsic::ID Id);
/// 0, 1, 2 for blockDim.x, .y, .z.
std::optional<unsigned> blockSizeDimension(llvm::Intrinsic::ID Id);
/// 0, 1, 2 for gridDim.x, .y, .z.
std::optional<unsigned> gridSizeDimension(llvm::Intrinsic::ID Id);

/// Asks which blocks are in the cluster, waits for them, or reaches their
/// shared memory.
bool isOfCluster(llvm::Intrinsic::ID Id);

/// Of a function of ours that stands for PTX that LLVM 19 lacks
/// (analysis/PtxFunctions.h), a variant or not; none: \p Name is no such
/// function. Those that ask about shared memory are LaunchSize.
std::optional<IntrinsicKind> ptxFunctionKind(llvm::StringRef Name);

} // namespace reconverge::analysis

#endif
