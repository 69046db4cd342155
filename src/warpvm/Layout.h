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

namespace reconverge {
struct AccessCounts;
} // namespace reconverge

namespace reconverge::warpvm {
class SectorSet;

/// Part of the compile cache's key: bump it when compiled code changes meaning.
inline constexpr uint32_t CacheFormat = 12;

using Mask = uint64_t; ///< one bit a lane, lane 0 lowest
inline constexpr unsigned MaxWarp = 64;

/// What a cooperative launch lends its blocks to meet, as CUDA's cooperative
/// groups know it: its size and the barrier of the grid, zero at the beginning.
struct alignas(8) GridWorkspace {
  uint32_t Bytes = sizeof(GridWorkspace);
  uint32_t Barrier = 0;
};

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
  uint32_t LaneFirst, LaneStep; ///< k-th to act: (First + k Step) mod warp
  uint32_t Barriers[MaxWarp];   ///< a lane's barrier: NamedBarrier
  uint64_t SyncMask[MaxWarp];   ///< a lane's member mask at a collective
  void *Block;                  ///< the scheduler's own
  const uint8_t *Arguments;     ///< of the function that runs, if not a kernel
  uint8_t *Result;              ///< ... and where its result goes
  Mask Ended;                   ///< lanes that ended inside of a function
  GridWorkspace *Grid;          ///< null: the launch is not cooperative
  AccessCounts *Accesses;       ///< by AccessSite::Position, where counted
  SectorSet *Touched;           ///< by the thread block
  uint32_t WarpSize;
  // Of the block's cluster; a block alone is one.
  uint32_t ClusterId[3],
      ClusterGrid[3]; ///< its place among clusters, and these
  uint32_t ClusterBlock[3],
      ClusterDim[3];                   ///< the block's place in it, its blocks
  uint32_t ClusterRank, ClusterBlocks; ///< the same, linear
  uint32_t InCluster;     ///< not 0 if the launch asks for clusters
  uint64_t ClusterStride; ///< between its blocks' shared memory, bytes
  Mask AtCluster; ///< lanes that have arrived at its barrier, which is closed
};

/// Whether \p Address lies in shared memory of the cluster's blocks.
inline bool inClusterShared(const WarpContext &C, uint64_t Address) {
  const uint64_t Base = uint64_t(C.Shared) - C.ClusterRank * C.ClusterStride;
  return Address - Base < C.ClusterBlocks * C.ClusterStride;
}

/// How lanes reach a region.
enum class EdgeKind : uint32_t {
  Plain,
  Barrier,     ///< wait for the whole block
  BarrierPopc, ///< ... and count, and, or the predicates
  BarrierAnd,
  BarrierOr,
  NamedBarrier,   ///< wait for those that Barriers names
  ClusterBarrier, ///< wait for the whole cluster
  Sync,           ///< wait for the lanes that SyncMask names
  Call            ///< carry out RegionPlan::Call first
};

/// A lane's entry in WarpContext::Barriers: which barrier, and for how many
/// threads of the block it waits; 0: for all that have not returned.
inline constexpr uint32_t NumBarriers = 16;
inline constexpr uint32_t barrierId(uint32_t Named) {
  return Named % NumBarriers;
}
inline constexpr uint32_t barrierCount(uint32_t Named) {
  return Named / NumBarriers;
}

struct Target {
  uint32_t Region;
  EdgeKind Kind;
};

using RegionFunction = void (*)(uint8_t *Frame, uint64_t *Scalars,
                                WarpContext *Context, Mask Active, Mask *Out);

struct KernelPlan;

/// A call that the scheduler carries out: of one function, or of those that the
/// lanes' pointers say. What passes lies in the caller's frame (CallLayout).
struct CallSite {
  const KernelPlan *Callee;           ///< null: through a pointer
  uint32_t Arguments, Result, Target; ///< bytes into the frame
  uint32_t Type;                      ///< of a call through a pointer
  uint32_t Line;
  const char *File;
};

/// A function that a pointer may name.
struct PointedFunction {
  const KernelPlan *Plan; ///< null: not to be called from this kernel
  const char *Name;
  const char *Refusal; ///< why not, or empty
  uint32_t Type;
};

struct RegionPlan {
  RegionFunction Run;
  const Target *Targets;
  uint32_t NumTargets;
  uint32_t PostDominator; ///< region where its sides meet again, or NoRegion
  uint32_t Line;          ///< of its first instruction, for messages
  uint32_t Returns;       ///< does nothing but return
  uint32_t MayWait;       ///< opens a loop in which lanes may wait for others
  uint32_t Collective;    ///< begins with a collective: not to be divided
  const char *File;
  const uint32_t *LiveScalars; ///< that lanes bring along and may be read
  uint32_t NumLiveScalars;
  /// Of the barrier before it. Line 0: none, or it may be met by another.
  uint32_t BarrierLine, BarrierColumn;
  const char *BarrierFile;
  const CallSite *Call; ///< lanes come here from this call, or null
};
inline constexpr uint32_t NoRegion = ~0u;
/// Upper bound on a region's targets; the emitter keeps to it.
inline constexpr unsigned MaxTargets = 1 << 16;

/// Of a kernel, or of a function that it calls, which shares the kernel's
/// counters. Emitted as constant data next to the code. Counters hold, for each
/// block position p: [3p] warps, [3p+1] lanes, [3p+2] lanes gone; then, from
/// BranchOffset on, for each branch its splits and the lanes to each successor
/// but the last. The branch's block has the rest. Behind these, for each access
/// that is counted: requests to shared memory that are one wavefront, and their
/// lanes. They are not in WarpContext::Accesses.
struct KernelPlan {
  const RegionPlan *Regions;
  const uint32_t *BranchOffset; ///< into Counters; one more than NumBranches
  const uint32_t *BranchBlock;  ///< position of each branch's block
  uint32_t NumRegions, NumBlocks, NumBranches, NumCounters;
  uint32_t FrameBytes, NumScalars;
  uint32_t LocalBytes, StaticShared;
  uint32_t ReservedShared; ///< where a block finds ReservedSharedBytes zeroed
  uint32_t ReservedSharedBytes; ///< 0: it has none
  uint32_t WarpSize, HasEarlyExit;
  uint32_t ReadsClock; ///< it, or a kernel's function, may do something else
                       ///< each time
  uint32_t NumFunctions;
  uint32_t FirstFunction;           ///< in WarpContext::Globals: its address
  uint32_t Index;                   ///< into Family
  uint32_t NumClocks;               ///< words of Clocks
  uint32_t NumAccesses;             ///< counted; 0: none is
  const PointedFunction *Functions; ///< that pointers may name (Callees.h)
  /// For each part of a frame that comes of a clock's reading: its offset, its
  /// bits a lane (1: a bit of a mask), how many regions follow, and these:
  /// where it may yet be read when lanes come there.
  const uint32_t *Clocks;
  /// The kernel's plan, then those of the functions that it calls; null if one
  /// cannot run.
  const KernelPlan *const *Family;
  const char *Name;
};

/// What all calls that a thread is in may take, bytes: what CUDA lets a thread
/// have of local memory at most.
inline constexpr uint64_t StackLimit = 512 << 10;

/// Frames begin with the lanes' thread indices: x, y, z, WarpSize u32 each.
inline constexpr uint32_t threadIdBytes(uint32_t WarpSize) {
  return 3 * 4 * WarpSize;
}

//===----------------------------------------------------------------------===//
// What compiled code gives the library's functions (run/Library.h)
//===----------------------------------------------------------------------===//

enum class AccessKind : uint32_t { Read, Write, Atomic };

/// The object that an address is known to point into, whatever its value.
enum class ObjectSpace : uint32_t { Unknown, Shared, Local };

/// What becomes of what an access reads (EmitNotes.cpp).
enum class ReadUse : uint32_t { Value, Copy, Unknown };

/// A place in the source that can fault: constant data of compiled code.
struct FaultSite {
  const char *File;   ///< "" if the compiler kept no line
  const char *Object; ///< name of the variable or of the collective, or ""
  uint64_t Offset;    ///< the object's, within its space, bytes
  uint64_t Size;      ///< of the object; 0: all dynamic shared memory
  uint32_t Line;
  uint32_t Bytes; ///< of the access
  uint32_t Align; ///< that the access must have, bytes
  AccessKind Kind;
  ObjectSpace Space;
  ReadUse Use;
  uint32_t Asked; ///< bytes of it that somebody asks for, a bit each
};

/// An access that is counted: constant data of compiled code.
struct AccessSite {
  uint32_t Position;   ///< in KernelInfo::Accesses
  uint32_t Bytes;      ///< a lane
  uint32_t Space;      ///< MemorySpace
  uint32_t Use;        ///< MemoryUse
  uint32_t LocalBytes; ///< of a lane, in the function that it is in
  uint32_t Aligned;    ///< lanes, to their bytes
};

/// A place in the source, and one that it was inlined into.
struct RaceFrame {
  const char *File, *Function;
  uint32_t Line, Column;
};

/// An instruction that accesses memory: constant data of compiled code.
struct RaceSite {
  const RaceFrame *Frames; ///< innermost first
  const char *Object;      ///< the shared variable, or ""
  uint64_t Offset;         ///< the object's, in shared memory
  uint64_t Size;           ///< of the object; 0: all dynamic shared memory
  uint32_t NumFrames;
  uint32_t Bytes;   ///< of the access; 0: as long as a block copy is
  uint32_t Kind;    ///< AccessKind
  uint32_t Strong;  ///< atomic, ordered or volatile
  uint32_t Release; ///< it publishes as a fence before it would
  uint32_t OfBlock; ///< atomic for the block's threads alone
};

/// Operations of redux.sync.
enum class Reduction : uint32_t { Add, And, Or, Xor, UMin, UMax, Min, Max };

/// What an intrinsic does with an object, in 64 bits: compiled code passes it.
struct ImageOperation {
  enum OperationKind : uint8_t { Fetch, Gather, Load, Store };
  enum BoundaryMode : uint8_t { Trap, ToEdge, Zero };

  OperationKind Kind;
  uint8_t Coordinates; ///< 1 to 3, a layer aside
  uint8_t Layered;     ///< a layer comes before them
  uint8_t Integers;    ///< fetches: coordinates are integers
  uint8_t Which;       ///< Gather: the component; Load, Store: BoundaryMode
  uint8_t Bytes;       ///< of a value
  uint8_t Count;       ///< values
  uint8_t WarpSize;
};

} // namespace reconverge::warpvm

#endif
