//===- runtime/profile/VectorSample.cpp - Vectors of one launch -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread blocks to sample are drawn from equal strata: of each Stride thread
// blocks in a row one is taken, at a place that a hash of the stratum picks. A
// fixed stride would meet the same column of a two-dimensional grid again and
// again.
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

VectorSample::VectorSample(const LaunchShape &Shape, std::vector<double> S,
                           unsigned WarpSize)
    : Slots(std::move(S)), WarpSize(WarpSize), Regrouped(Slots.size()) {
  uint64_t Threads = std::max<uint64_t>(Shape.blockThreads(), 1);
  uint64_t Fit = MaxCells / std::max<uint64_t>(Slots.size(), 1);
  uint64_t Wanted =
      std::max<uint64_t>(std::min<uint64_t>(MaxThreads, Fit) / Threads, 1);
  Stride = std::max<uint64_t>(divideCeil(Shape.blocks(), Wanted), 1);
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

void VectorSample::record(uint64_t LinearBlock, unsigned Threads,
                          ArrayRef<uint32_t> Vectors,
                          ArrayRef<uint64_t> AsRun) {
  size_t Blocks = Slots.size();
  assert(Vectors.size() == Threads * Blocks && AsRun.size() == Blocks &&
         "a row a thread, a count a block");
  if (!Blocks || !Threads)
    return;
  const model::RegroupedBlock One =
      model::regroup(LinearBlock, Vectors, AsRun, Slots, WarpSize);
  std::lock_guard<std::mutex> Guard(Lock);
  Regrouped.add(One);
}

void VectorSample::addTo(RegroupedCounts &Sum) {
  Regrouped.addTo(Sum, Slots, WarpSize);
}

} // namespace reconverge::runtime
