//===- core/Demand.h - What a launch asks of a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_DEMAND_H
#define RECONVERGE_CORE_DEMAND_H

#include "core/LaunchShape.h"
#include "core/Memory.h"
#include "core/Units.h"

#include <vector>

namespace reconverge {

/// What one launch of a kernel asks of the GPU's units: sums over all its
/// warps, before anything is said of time. model::demandOf makes it of counts,
/// model::timeOf makes time of it.
struct Demand {
  LaunchShape Shape;
  uint32_t Registers = 0;    ///< of a thread; 0: not known
  uint64_t StaticShared = 0; ///< bytes a thread block

  /// Of a launch: less than 1 for what one makes that serves others as well.
  double Share = 1;
  double Slots = 0;     ///< issue slots
  PipeCycles Busy = {}; ///< of a scheduler's pipes, as if there were one
  /// Cycles of all warps' chains, and the loads that they wait for in these.
  double PathCycles = 0, PathLoads = 0;
  /// The same of the one thread that is busy longest, of those whose block
  /// vectors are known; 0: none is, or its launch is no measure. Whoever shares
  /// its warp, it takes so long.
  double ThreadCycles = 0, ThreadLoads = 0;
  bool HasMachineCode = false; ///< Busy is of it, not of the IR

  bool HasMemory = false; ///< all below is counted
  double Wavefronts = 0;  ///< of the first cache and shared memory
  double LoadSectors = 0, StoreSectors = 0; ///< of global and local memory
  /// Of StoreSectors those that device memory gets, where the second cache joins
  /// what several requests write of one.
  double MergedStores = 0;
  double AtomicSectors = 0, AtomicTurns = 0; ///< of atomics on global memory
  /// The part of all loads' requests whose lanes read in unlike places, and in
  /// how many: each hits or misses by itself. Of others all sectors are one.
  double ApartLoads = 0, Apart = 1;
  Footprint Touched; ///< of the launch: ThreadBlocks are the grid's, or 0

  bool isCounted() const { return Slots > 0; }
};

/// What launches ask for that run one after the other in the place of one: the
/// steps of a recipe. Empty, or with one that is not counted: it is not known.
using Demands = std::vector<Demand>;

/// Issue slots of all; 0: not known.
inline double slotsOf(const Demands &All) {
  double Sum = 0;
  for (const Demand &D : All) {
    if (!D.isCounted())
      return 0;
    Sum += D.Share * D.Slots;
  }
  return Sum;
}

} // namespace reconverge

#endif
