//===- warpvm/Layout.h - What compiled kernels and the VM share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain data with fixed offsets: compiled code reads these structures through
// offsetof, so a change here changes CacheFormat.
//
// A kernel is compiled into *regions*: functions over (frame, scalars, context,
// active mask). A region runs the lanes of its mask from its entry block to its
// exits and reports, for each exit target, the mask of lanes that leave there.
// The scheduler decides which region of which warp runs next.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARPVM_LAYOUT_H
#define RECONVERGE_WARPVM_LAYOUT_H

#include <cstddef>
#include <cstdint>

namespace reconverge::warpvm {

/// Part of the compile cache's key: bump it when compiled code changes meaning.
inline constexpr uint32_t CacheFormat = 2;

using Mask = uint64_t; ///< one bit a lane, lane 0 lowest
inline constexpr unsigned MaxWarp = 64;

/// What compiled code knows of the warp that it runs.
struct alignas(64) WarpContext {
  const uint8_t *Params;  ///< kernel parameters, at their ABI offsets
  uint8_t *Shared;        ///< static shared memory, then dynamic
  uint8_t *Local;         ///< lane 0's local memory; lanes LocalBytes apart
  void *const *Globals;   ///< addresses of module variables
  uint64_t *Counters;     ///< see KernelPlan::NumCounters
  uint32_t *Vectors;      ///< [block position][lane], or null
  Mask Valid;             ///< lanes that exist
  Mask Exited;            ///< lanes that returned or wait to
  Mask BarrierPredicate;  ///< lanes whose bar.red predicate is true
  uint64_t BarrierResult; ///< what the last bar.red gave
  uint64_t HasSplit;      ///< not 0 once a branch has sent lanes apart
  int64_t Budget;         ///< loop iterations left under a step limit
  uint64_t SharedBytes;   ///< static and dynamic together
  uint32_t BlockId[3], BlockDim[3], GridDim[3];
  uint32_t WarpId;
  uint32_t DynamicSharedBytes;
  uint32_t StaticSharedBytes;
  uint64_t SyncMask[MaxWarp]; ///< a lane's member mask at a collective
  void *Block;                ///< the scheduler's own
};

/// How lanes reach a region.
enum class EdgeKind : uint32_t {
  Plain,
  Barrier,     ///< wait for the whole block
  BarrierPopc, ///< ... and count, and, or the predicates
  BarrierAnd,
  BarrierOr,
  Sync ///< wait for the lanes that SyncMask names
};

struct Target {
  uint32_t Region;
  EdgeKind Kind;
};

using RegionFunction = void (*)(uint8_t *Frame, uint64_t *Scalars,
                                WarpContext *Context, Mask Active, Mask *Out);

struct RegionPlan {
  RegionFunction Run;
  const Target *Targets;
  uint32_t NumTargets;
  uint32_t PostDominator; ///< region where its sides meet again, or NoRegion
  uint32_t Line;          ///< of its first instruction, for messages
  uint32_t Returns;       ///< does nothing but return
  uint32_t MayWait;       ///< opens a loop in which lanes may wait for others
  const char *File;
  const uint32_t *LiveScalars; ///< that lanes bring along and may be read
  uint32_t NumLiveScalars;
};
inline constexpr uint32_t NoRegion = ~0u;

/// Emitted as constant data next to the code. Counters hold, for each block
/// position p: [3p] warps, [3p+1] lanes, [3p+2] lanes gone; then, from
/// BranchOffset on, for each branch its splits and the lanes to each successor
/// but the last. The branch's block has the rest.
struct KernelPlan {
  const RegionPlan *Regions;
  const uint32_t *BranchOffset; ///< into Counters; one more than NumBranches
  const uint32_t *BranchBlock;  ///< position of each branch's block
  uint32_t NumRegions, NumBlocks, NumBranches, NumCounters;
  uint32_t FrameBytes, NumScalars;
  uint32_t LocalBytes, StaticShared;
  uint32_t WarpSize, HasEarlyExit;
};

/// Frames begin with the lanes' thread indices: x, y, z, WarpSize u32 each.
inline constexpr uint32_t threadIdBytes(uint32_t WarpSize) {
  return 3 * 4 * WarpSize;
}

} // namespace reconverge::warpvm

#endif
