//===- model/Demand.cpp - Counts to what a launch asks for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over blocks of warps(b) times what one warp asks for, and over accesses
// of requests(a) times the mean of those that were looked at:
//
//   busy(pipe)  = sum warps(b) busy(b, pipe)
//   sectors(use) = sum over accesses warps(block of a) sectors(a) / requests(a)
//
// An access whose thread blocks were all looked at has as many requests as its
// block has warp executions, and the quotient is one.
//
//===----------------------------------------------------------------------===//

#include "model/Demand.h"
#include "model/Slots.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace llvm;

namespace reconverge::model {

static void addBlocks(Demand &D, const KernelInfo &Info,
                      ArrayRef<BlockCounts> Blocks, double Launches) {
  for (auto [B, C, Slots] : zip_equal(Info.Blocks, Blocks, slotsOf(Info))) {
    const double Warps = double(C.Warps) / Launches;
    D.Slots += Warps * Slots;
    for (auto [Sum, Cycles] : zip_equal(D.Busy, B.Busy))
      Sum += Warps * Cycles;
    D.PathCycles += Warps * B.Path;
    D.PathLoads += Warps * B.PathLoads;
  }
}

static void addAccess(Demand &D, const AccessInfo &A, const AccessCounts &C,
                      double Requests) {
  if (C.Requests == 0)
    return;
  const double Each = Requests / double(C.Requests);
  D.Wavefronts += Each * double(C.Wavefronts);
  const double Sectors = Each * double(C.Sectors);
  switch (A.Use) {
  case MemoryUse::Load:
    D.LoadSectors += Sectors;
    break;
  case MemoryUse::Store:
    D.StoreSectors += Sectors;
    break;
  case MemoryUse::Atomic:
    D.AtomicSectors += Sectors;
    if (C.Sectors)
      D.AtomicTurns += Each * double(C.Turns);
    break;
  }
}

static void addMemory(Demand &D, const KernelInfo &Info,
                      ArrayRef<BlockCounts> Blocks,
                      ArrayRef<AccessCounts> Accesses, const Footprint &Touched,
                      double Launches) {
  D.HasMemory = !Accesses.empty();
  if (Accesses.empty())
    return;
  for (auto [A, C] : zip_equal(Info.Accesses, Accesses))
    addAccess(D, A, C, double(Blocks[A.Block].Warps) / Launches);
  const uint64_t Grid = D.Shape.blocks();
  if (Touched.ThreadBlocks)
    D.Touched = {Grid,
                 uint64_t(double(Touched.BlockLoads) * double(Grid) /
                          double(Touched.ThreadBlocks)),
                 uint64_t(double(Touched.GridLoads) / Launches),
                 uint64_t(double(Touched.GridStores) / Launches)};
}

Demand demandOf(const KernelInfo &Info, const LaunchCounts &Counts,
                const LaunchShape &Shape) {
  Demand D;
  D.Shape = Shape;
  D.Registers = Info.Registers;
  D.StaticShared = Info.StaticShared;
  addBlocks(D, Info, Counts.Blocks, 1);
  addMemory(D, Info, Counts.Blocks, Counts.Accesses, Counts.Touched, 1);
  return D;
}

Demand demandOf(const KernelProfile &K) {
  Demand D;
  if (K.Launches == 0 || K.Shapes.empty())
    return D;
  D.Shape = K.Shapes.front();
  D.Registers = K.Info.Registers;
  D.StaticShared = K.Info.StaticShared;
  const double Launches = double(K.Launches);
  addBlocks(D, K.Info, K.Blocks, Launches);
  addMemory(D, K.Info, K.Blocks, K.Accesses, K.Touched, Launches);
  return D;
}

Demand withCompute(Demand D, double Share) {
  D.Slots *= Share;
  for (double &Cycles : D.Busy)
    Cycles *= Share;
  D.PathCycles *= Share;
  D.PathLoads *= Share;
  return D;
}

} // namespace reconverge::model
