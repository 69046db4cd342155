//===- core/Memory.h - Accesses to memory, and what they came to -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp's access is one request. What a request costs depends on the addresses
// of its active lanes:
//
//   sector     32 bytes that lie together, at a multiple of 32: what caches and
//              device memory move. A request has at least one, and of 32 words
//              that lie side by side four.
//   wavefront  a pass through the first cache or shared memory. Of a shared
//              access: as many as the most distinct words that one of the 32
//              banks has to give, in each of the parts in which a warp's lanes
//              go (all for up to 4 bytes a lane, halves for 8, quarters for 16;
//              docs/memory.md says when loads take two parts at once). Of a
//              global access: likewise, and no fewer than its tags need.
//
// docs/memory.md has the rules, and how counts compare with a GPU's counters.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_MEMORY_H
#define RECONVERGE_CORE_MEMORY_H

#include "core/SourceLoc.h"

#include <cstdint>

namespace reconverge {

inline constexpr uint64_t SectorBytes = 32;

/// A line of 128 bytes has its tag in one of four banks: its number has two
/// bits, the parities of these bits of the line's (docs/memory.md says how they
/// were found; higher ones are not known). Lines that are looked up together lie
/// in different banks.
inline constexpr uint64_t TagBits[2] = {0x7ab5, 0xd5da};

enum class MemorySpace {
  Global,
  Shared,
  Local,
  Generic ///< the code does not say; counts go by the addresses
};
enum class MemoryUse { Load, Store, Atomic };

/// "global", ...; "load", ...
const char *wordOf(MemorySpace Space);
const char *wordOf(MemoryUse Use);

/// An instruction that moves data between registers and memory. Constant memory
/// and parameters have a cache of their own and are none.
struct AccessInfo {
  uint32_t Id = 0;    ///< the module-wide number that metadata carries
  uint32_t Block = 0; ///< position in KernelInfo::Blocks
  MemoryUse Use = MemoryUse::Load;
  MemorySpace Space = MemorySpace::Global;
  uint32_t Bytes = 0; ///< a lane
  SourceChain Where;
};

/// A feature of threads that the source names, reconverge::feature().
struct MarkInfo {
  uint32_t Id = 0; ///< takes the place of a load's, where such are expected
  SourceChain Where;
};

/// Of one access: of a launch, or the sum over all counted launches; on a GPU,
/// of the thread blocks that were looked at.
struct AccessCounts {
  uint64_t Requests = 0; ///< warp executions
  uint64_t Lanes = 0;    ///< lane executions
  /// Distinct sectors of each request, added up; none of shared memory's.
  uint64_t Sectors = 0;
  /// What Sectors would be if each request's lanes lay side by side.
  uint64_t LeastSectors = 0;
  uint64_t Wavefronts = 0;
  /// The same as they would be without a conflict.
  uint64_t LeastWavefronts = 0;
  /// Of atomics: the most lanes at one address, added up over the requests.
  uint64_t Turns = 0;

  AccessCounts &operator+=(const AccessCounts &Other) {
    Requests += Other.Requests;
    Lanes += Other.Lanes;
    Sectors += Other.Sectors;
    LeastSectors += Other.LeastSectors;
    Wavefronts += Other.Wavefronts;
    LeastWavefronts += Other.LeastWavefronts;
    Turns += Other.Turns;
    return *this;
  }
};

/// Distinct sectors of global memory: how much of what a launch touches it
/// touches again. Sums over launches.
struct Footprint {
  uint64_t ThreadBlocks = 0; ///< that BlockLoads is of; 0: not counted
  /// Sectors that a thread block loads, added up over those.
  uint64_t BlockLoads = 0;
  /// Sectors that a launch loads, and those that it writes; 0: not counted.
  uint64_t GridLoads = 0, GridStores = 0;

  Footprint &operator+=(const Footprint &Other) {
    ThreadBlocks += Other.ThreadBlocks;
    BlockLoads += Other.BlockLoads;
    GridLoads += Other.GridLoads;
    GridStores += Other.GridStores;
    return *this;
  }
};

} // namespace reconverge

#endif
