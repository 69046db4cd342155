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
// block has warp executions, and the quotient is one. Where only some are looked
// at, and of a block that ran no access was, its accesses are taken to be side by
// side. (One alone that has no requests is part of another one.)
//
// A launch is not done before its longest thread, which may be most of a launch
// of few: whatever lanes idle beside it then, no other company makes it shorter.
// Of the threads whose block vectors are known, the longest takes
//
//   max over t of sum over blocks of BBV_t(b) path(b)
//
// They are of one launch. Where its threads did more than those of all launches
// do on average, that is taken in proportion. On a CPU programs run small
// examples, whose launches of few threads will be of many: there it is left out.
//
//===----------------------------------------------------------------------===//

#include "model/Demand.h"
#include "model/Slots.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace reconverge::model {

static void addBlocks(Demand &D, const KernelInfo &Info,
                      ArrayRef<BlockCounts> Blocks, double Launches) {
  D.HasMachineCode = Info.HasMachineCode;
  for (auto [B, C, Slots] : zip_equal(Info.Blocks, Blocks, slotsOf(Info))) {
    const double Warps = double(C.Warps) / Launches;
    D.Slots += Warps * Slots;
    for (auto [Sum, Cycles] : zip_equal(D.Busy, B.Busy))
      Sum += Warps * Cycles;
    D.PathCycles += Warps * B.Path;
    D.PathLoads += Warps * B.PathLoads;
  }
}

/// What the bytes of these stores fill. Where a request leaves a sector in part to
/// others, as on either side of a branch or after threads have changed places, those
/// write the rest while the second cache still has it.
static double mergedStores(const AccessInfo &A, const AccessCounts &C) {
  return std::min(double(C.Sectors), double(C.Lanes) * A.Bytes / SectorBytes);
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
    D.MergedStores += Each * mergedStores(A, C);
    break;
  case MemoryUse::Atomic:
    D.AtomicSectors += Sectors;
    if (C.Sectors)
      D.AtomicTurns += Each * double(C.Turns);
    break;
  }
}

/// What \p A asks for if the lanes of its block lie side by side.
static AccessCounts sideBySide(const AccessInfo &A, const BlockCounts &Block) {
  AccessCounts C;
  C.Requests = Block.Warps;
  C.Lanes = Block.Lanes;
  const uint64_t Bytes = Block.Lanes * A.Bytes;
  C.Wavefronts = std::max(Block.Warps, divideCeil(Bytes, 4 * SectorBytes));
  if (A.Space == MemorySpace::Shared)
    return C;
  C.Sectors = std::max(Block.Warps, divideCeil(Bytes, SectorBytes));
  C.Turns = A.Use == MemoryUse::Atomic ? Block.Warps : 0;
  return C;
}

static void addMemory(Demand &D, const KernelInfo &Info,
                      ArrayRef<BlockCounts> Blocks,
                      ArrayRef<AccessCounts> Accesses, const Footprint &Touched,
                      double Launches) {
  D.HasMemory = !Accesses.empty();
  if (Accesses.empty())
    return;
  std::vector<bool> Seen(Blocks.size());
  bool Partly = false;
  for (auto [A, C] : zip_equal(Info.Accesses, Accesses)) {
    Seen[A.Block] = Seen[A.Block] || C.Requests;
    Partly |= C.Requests && C.Requests < Blocks[A.Block].Warps;
  }
  for (auto [A, C] : zip_equal(Info.Accesses, Accesses))
    addAccess(D, A,
              Seen[A.Block] || !Partly ? C : sideBySide(A, Blocks[A.Block]),
              double(Blocks[A.Block].Warps) / Launches);
  const uint64_t Grid = D.Shape.blocks();
  if (Touched.ThreadBlocks)
    D.Touched = {Grid,
                 uint64_t(double(Touched.BlockLoads) * double(Grid) /
                          double(Touched.ThreadBlocks)),
                 uint64_t(double(Touched.GridLoads) / Launches),
                 uint64_t(double(Touched.GridStores) / Launches)};
}

/// The longest chain of one thread.
static void addThread(Demand &D, const KernelProfile &K) {
  const std::vector<BlockInfo> &Blocks = K.Info.Blocks;
  const ThreadVectors &V = K.Vectors;
  std::vector<uint64_t> Threads(V.Classes.size());
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    for (uint32_t Class : B.ClassOf)
      ++Threads[Class];
  double Sampled = 0, Cycles = 0, All = 0;
  for (auto [Vector, Of] : zip_equal(V.Classes, Threads)) {
    double Chain = 0, Loads = 0;
    for (auto [Times, B] : zip_equal(Vector, Blocks)) {
      Chain += double(Times) * B.Path;
      Loads += double(Times) * B.PathLoads;
    }
    Cycles += Chain * double(Of);
    Sampled += double(Of);
    if (Chain > D.ThreadCycles) {
      D.ThreadCycles = Chain;
      D.ThreadLoads = Loads;
    }
  }
  for (auto [B, C] : zip_equal(Blocks, K.Blocks))
    All += double(C.Lanes) * B.Path;
  if (Cycles <= 0 || K.Threads == 0)
    return;
  const double Part =
      std::min(1.0, All / double(K.Threads) / (Cycles / Sampled));
  D.ThreadCycles *= Part;
  D.ThreadLoads *= Part;
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
  if (K.OnGpu)
    addThread(D, K);
  return D;
}

Demand demandWithin(uint64_t Bytes, Demand D) {
  const double Loads =
      D.Touched.ThreadBlocks ? double(D.Touched.BlockLoads) : D.LoadSectors;
  const double Sectors = Loads + D.MergedStores + D.AtomicSectors;
  D.Touched.GridLoads =
      std::min(uint64_t(Sectors), divideCeil(Bytes, SectorBytes));
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
