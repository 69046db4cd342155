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
// Of the sampled thread blocks every so many-th is kept with its vectors; which
// is known before the launch, so that it does not depend on who reports first.
// When the launch is over, those kept are put in order and their vectors are
// numbered as they turn up. Where there are too many different ones, the last
// thread blocks are left out.
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
    : Shape(Shape), Slots(std::move(S)), WarpSize(WarpSize),
      Regrouped(Slots.size()) {
  const uint64_t Threads = std::max<uint64_t>(Shape.blockThreads(), 1);
  // How many thread blocks make up so many threads and so many cells.
  auto Fitting = [&](uint64_t MostThreads, uint64_t MostCells) {
    uint64_t Fit = MostCells / std::max<uint64_t>(Slots.size(), 1);
    return std::max<uint64_t>(std::min(MostThreads, Fit) / Threads, 1);
  };
  auto StrideFor = [](uint64_t Blocks, uint64_t Wanted) {
    return std::max<uint64_t>(divideCeil(Blocks, Wanted), 1);
  };
  Stride = StrideFor(Shape.blocks(), Fitting(MaxThreads, MaxCells));
  KeptStride = StrideFor(divideCeil(Shape.blocks(), Stride),
                         Fitting(ThreadVectors::MaxThreads, MaxKeptCells));
}

static ArrayRef<uint8_t> bytesOf(const uint64_t &N) {
  return {reinterpret_cast<const uint8_t *>(&N), sizeof(N)};
}

uint64_t VectorSample::sampledFrom(uint64_t First) const {
  uint64_t Stratum = First / Stride;
  // The first is taken where it begins: a launch of any size has a sample.
  return First + (Stratum ? xxh3_64bits(bytesOf(Stratum)) % Stride : 0);
}

bool VectorSample::keeps(uint64_t LinearBlock) const {
  return LinearBlock / Stride % KeptStride == 0;
}

void VectorSample::note(
    std::vector<uint32_t> Of,
    function_ref<void(uint64_t First, MutableArrayRef<float> To)> Read) {
  Loads = std::move(Of);
  const size_t OfBlock = Shape.blockThreads() * Loads.size();
  for (uint64_t First = 0; First < Shape.blocks(); First += Stride)
    if (const uint64_t B = sampledFrom(First); keeps(B) && B < Shape.blocks()) {
      std::vector<float> &Rows = Features[B];
      Rows.resize(OfBlock);
      Read(B * OfBlock, Rows);
    }
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
  if (keeps(LinearBlock))
    Kept.push_back({LinearBlock, Vectors.vec()});
}

uint64_t VectorSample::keptThreads() const {
  return Kept.size() * Shape.blockThreads();
}

ThreadVectors VectorSample::threadVectors() const {
  ThreadVectors Result;
  Result.Shape = Shape;
  Result.Loads = Loads;
  std::vector<const KeptBlock *> Order;
  for (const KeptBlock &B : Kept)
    Order.push_back(&B);
  sort(Order, [](const KeptBlock *A, const KeptBlock *B) {
    return A->Number < B->Number;
  });
  const size_t Blocks = Slots.size();
  model::VectorClasses Classes(Blocks);
  size_t Taken = 0; // classes of the thread blocks that are in
  for (const KeptBlock *From : Order) {
    ThreadVectors::ThreadBlock To{From->Number, {}};
    if (!Loads.empty())
      To.Features = Features.at(From->Number);
    for (ArrayRef<uint32_t> Rest = From->Vectors; !Rest.empty();
         Rest = Rest.drop_front(Blocks))
      To.ClassOf.push_back(Classes.add(Rest.take_front(Blocks)));
    if (Classes.size() * Blocks > ThreadVectors::MaxCells)
      break;
    Taken = Classes.size();
    Result.Blocks.push_back(std::move(To));
  }
  for (size_t C = 0; C != Taken; ++C)
    Result.Classes.push_back(Classes.vector(C).vec());
  return Result;
}

void VectorSample::addTo(RegroupedCounts &Sum) {
  Regrouped.addTo(Sum, Slots, WarpSize);
}

} // namespace reconverge::runtime
