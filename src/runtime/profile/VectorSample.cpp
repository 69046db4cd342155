//===- runtime/profile/VectorSample.cpp - Vectors of one launch -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread blocks to sample are drawn from equal strata: of each Stride thread
// blocks in a row one is taken, at a place that a hash of the stratum picks. A
// fixed stride would meet the same column of a two-dimensional grid again and
// again.
//
// For each scope the grouping of the scope within it is a candidate as well
// ("do nothing" above all), so that recoverable never shrinks as the scope
// widens: the slots of InWarp >= InBlock >= InGrid.
//
// The work on a thread block is done on the worker that ran it; only sums and
// classes go through the lock. Sums are of integers, so order does not show.
//
//===----------------------------------------------------------------------===//

#include "runtime/profile/VectorSample.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace reconverge::runtime {

bool isSampledLaunch(uint64_t Number) {
  return Number <= 3 || has_single_bit(Number);
}

static uint64_t product(const std::array<uint32_t, 3> &Sizes) {
  return uint64_t(Sizes[0]) * Sizes[1] * Sizes[2];
}

VectorSample::VectorSample(const LaunchShape &Shape, std::vector<double> S,
                           unsigned WarpSize)
    : Slots(std::move(S)), WarpSize(WarpSize), Grid(Slots.size()),
      Waits(Slots.size()) {
  uint64_t Threads = std::max<uint64_t>(product(Shape.Block), 1);
  uint64_t Fit = MaxCells / std::max<uint64_t>(Slots.size(), 1);
  uint64_t Wanted =
      std::max<uint64_t>(std::min<uint64_t>(MaxThreads, Fit) / Threads, 1);
  Stride = std::max<uint64_t>(divideCeil(product(Shape.Grid), Wanted), 1);
  for (auto *Row : {&Counts.Lanes, &Counts.Warps, &Counts.InWarp,
                    &Counts.InBlock, &Counts.InGrid})
    Row->resize(Slots.size());
}

static ArrayRef<uint8_t> bytesOf(const uint64_t &N) {
  return {reinterpret_cast<const uint8_t *>(&N), sizeof(N)};
}

uint64_t VectorSample::sampledFrom(uint64_t First) const {
  uint64_t Stratum = First / Stride;
  // The first is taken where it begins: a launch of any size has a sample.
  return First + (Stratum ? xxh3_64bits(bytesOf(Stratum)) % Stride : 0);
}

bool VectorSample::wants(uint64_t LinearBlock) {
  return LinearBlock == sampledFrom(LinearBlock / Stride * Stride);
}

static void addInto(std::vector<uint64_t> &Sum, ArrayRef<uint64_t> More) {
  for (auto [S, M] : zip_equal(Sum, More))
    S += M;
}

void VectorSample::record(uint64_t LinearBlock, unsigned Threads,
                          ArrayRef<uint32_t> Vectors,
                          ArrayRef<uint64_t> AsRun) {
  size_t Blocks = Slots.size();
  assert(Vectors.size() == Threads * Blocks && AsRun.size() == Blocks &&
         "a row a thread, a count a block");
  if (!Blocks || !Threads)
    return;
  std::vector<uint64_t> BlockWaits(Blocks), Lanes(Blocks);
  WarpSums InWarp = warpsAsGrouped(Vectors, Blocks, WarpSize, BlockWaits);
  VectorClasses Classes(Blocks);
  for (size_t T = 0; T != Threads; ++T) {
    ArrayRef<uint32_t> Row = Vectors.slice(T * Blocks, Blocks);
    Classes.add(Row);
    for (size_t B = 0; B != Blocks; ++B)
      Lanes[B] += Row[B];
  }
  WarpSums InBlock = warpsRegrouped(Classes, Slots, BlockWaits, WarpSize);
  if (slotsOf(InWarp, Slots) <= slotsOf(InBlock, Slots))
    InBlock = InWarp;

  const uint64_t Hash[] = {
      LinearBlock,
      xxh3_64bits({reinterpret_cast<const uint8_t *>(Vectors.data()),
                   Vectors.size() * sizeof(uint32_t)})};

  std::lock_guard<std::mutex> Guard(Lock);
  Counts.Digest +=
      xxh3_64bits({reinterpret_cast<const uint8_t *>(Hash), sizeof(Hash)});
  Counts.Threads += Threads;
  addInto(Counts.Lanes, Lanes);
  addInto(Counts.Warps, AsRun);
  addInto(Counts.InWarp, InWarp);
  addInto(Counts.InBlock, InBlock);
  addInto(Waits, BlockWaits);
  for (size_t C = 0; C != Classes.size(); ++C)
    Grid.add(Classes.vector(C), Classes.threads(C));
}

void VectorSample::addTo(RegroupedCounts &Sum) {
  if (Counts.Threads == 0)
    return;
  Counts.InGrid = warpsRegrouped(Grid, Slots, Waits, WarpSize);
  if (slotsOf(Counts.InBlock, Slots) <= slotsOf(Counts.InGrid, Slots))
    Counts.InGrid = Counts.InBlock;

  auto Add = [](std::vector<uint64_t> &To, const std::vector<uint64_t> &From) {
    To.resize(From.size());
    addInto(To, From);
  };
  ++Sum.Launches;
  Sum.Threads += Counts.Threads;
  Sum.Digest += Counts.Digest;
  Add(Sum.Lanes, Counts.Lanes);
  Add(Sum.Warps, Counts.Warps);
  Add(Sum.InWarp, Counts.InWarp);
  Add(Sum.InBlock, Counts.InBlock);
  Add(Sum.InGrid, Counts.InGrid);
}

} // namespace reconverge::runtime
