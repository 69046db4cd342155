//===- model/Regroup.cpp - Warps after regrouping -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many warp executions would be left if threads were grouped by what they
// do? With perfect reconvergence a warp runs block b as often as the busiest of
// its threads (T_w of the block-vector model: Liang et al., "An Accurate GPU
// Performance Model for Effective Control Flow Divergence Optimization").
// BBV_t[b]: how often thread t runs b. So for an order of the threads
//
//   W(b) = sum over groups of WarpSize consecutive threads of max over t of
//          BBV_t[b]
//
// The orders tried:
//
//   1. the paper's Sorting, lexicographic over the vectors, but with the blocks
//      in the order of what they cost: the first element of the key is the
//      block whose slower lanes make the others wait for the most slots in the
//      program's own grouping. In
//      program order the first block that differs at all would decide, be it
//      two instructions long.
//   2. by all the slots that a thread takes, then as 1. It wins where the trip
//      count of one loop drives many blocks and none of them dominates.
//
// and the one that leaves fewer slots is taken. Both are totally ordered on
// distinct vectors, so the result is the same whatever order threads came in.
//
// Work is on classes of equal vectors: cutting a class of k threads into warps
// takes O(blocks) time for any k.
//
// For each scope the grouping of the scope within it is a candidate as well
// ("do nothing" above all), so that recoverable never shrinks as the scope
// widens: the slots of InWarp >= InBlock >= InGrid.
//
// InWarp is this model on the warps as they are; it is not the counts as run.
//
// Limitation: finding the best grouping is a clustering problem; two sort
// orders give the figure of one possible grouping, not the minimum over all.
// Each figure assumes perfect reconvergence; real warps may run a block more
// often.
//
//===----------------------------------------------------------------------===//

#include "model/Regroup.h"

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace llvm;

namespace reconverge::model {

uint32_t VectorClasses::add(ArrayRef<uint32_t> Vector, uint64_t Count) {
  assert(Vector.size() == Blocks && "one count a block");
  ArrayRef<uint8_t> Bytes(reinterpret_cast<const uint8_t *>(Vector.data()),
                          Vector.size() * sizeof(uint32_t));
  // The two largest keys are DenseMap's own.
  uint64_t Hash = xxh3_64bits(Bytes) >> 1;
  constexpr uint32_t None = ~0u;
  uint32_t New = static_cast<uint32_t>(Threads.size());
  auto [First, Inserted] = FirstOfHash.try_emplace(Hash, New);
  if (!Inserted)
    for (uint32_t C = First->second; C != None; C = NextOfHash[C])
      if (vector(C) == Vector) {
        Threads[C] += Count;
        return C;
      }
  NextOfHash.push_back(Inserted ? None : First->second);
  First->second = New;
  Threads.push_back(Count);
  Cells.insert(Cells.end(), Vector.begin(), Vector.end());
  return New;
}

WarpSums warpsAsGrouped(ArrayRef<uint32_t> Vectors, size_t Blocks,
                        unsigned WarpSize, MutableArrayRef<uint64_t> Waits) {
  assert(Blocks && Vectors.size() % Blocks == 0 && "whole rows");
  WarpSums Sums(Blocks);
  std::vector<uint32_t> Max(Blocks);
  std::vector<uint64_t> Sum(Blocks);
  while (!Vectors.empty()) {
    size_t Lanes = std::min<size_t>(WarpSize, Vectors.size() / Blocks);
    std::fill(Max.begin(), Max.end(), 0);
    std::fill(Sum.begin(), Sum.end(), 0);
    for (size_t L = 0; L != Lanes; ++L) {
      const uint32_t *Row = Vectors.data() + L * Blocks;
      for (size_t B = 0; B != Blocks; ++B) {
        Max[B] = std::max(Max[B], Row[B]);
        Sum[B] += Row[B];
      }
    }
    for (size_t B = 0; B != Blocks; ++B) {
      Sums[B] += Max[B];
      Waits[B] += Lanes * uint64_t(Max[B]) - Sum[B];
    }
    Vectors = Vectors.drop_front(Lanes * Blocks);
  }
  return Sums;
}

/// W(b) of the classes in \p Order, one thread after the other, cut into warps.
static WarpSums warpsInOrder(const VectorClasses &Classes,
                             ArrayRef<uint32_t> Order, unsigned WarpSize) {
  WarpSums Sums(Classes.blocks());
  std::vector<uint32_t> Max(Classes.blocks());
  unsigned Filled = 0; // threads in the group that is open
  auto Close = [&] {
    for (size_t B = 0; B != Max.size(); ++B)
      Sums[B] += Max[B];
    std::fill(Max.begin(), Max.end(), 0);
    Filled = 0;
  };
  for (uint32_t C : Order) {
    ArrayRef<uint32_t> Vector = Classes.vector(C);
    uint64_t Left = Classes.threads(C);
    auto Join = [&](uint64_t Threads) {
      for (size_t B = 0; B != Max.size(); ++B)
        Max[B] = std::max(Max[B], Vector[B]);
      Filled += static_cast<unsigned>(Threads);
      Left -= Threads;
    };
    if (Filled) {
      Join(std::min<uint64_t>(Left, WarpSize - Filled));
      if (Filled == WarpSize)
        Close();
    }
    uint64_t Whole = Left / WarpSize;
    if (Whole)
      for (size_t B = 0; B != Max.size(); ++B)
        Sums[B] += Whole * Vector[B];
    Left %= WarpSize;
    if (Left)
      Join(Left);
  }
  if (Filled)
    Close();
  return Sums;
}

WarpSums warpsRegrouped(const VectorClasses &Classes, ArrayRef<double> Slots,
                        ArrayRef<uint64_t> Waits, unsigned WarpSize) {
  std::vector<uint32_t> Key(Classes.blocks()); // blocks, weightiest first
  std::iota(Key.begin(), Key.end(), 0);
  sort(Key, [&](uint32_t A, uint32_t B) {
    double WeightA = double(Waits[A]) * Slots[A];
    double WeightB = double(Waits[B]) * Slots[B];
    return WeightA != WeightB ? WeightA > WeightB : A < B;
  });
  auto Less = [&](uint32_t A, uint32_t B) {
    ArrayRef<uint32_t> VA = Classes.vector(A), VB = Classes.vector(B);
    for (uint32_t Block : Key)
      if (VA[Block] != VB[Block])
        return VA[Block] < VB[Block];
    return false;
  };
  std::vector<uint32_t> Order(Classes.size());
  std::iota(Order.begin(), Order.end(), 0);
  sort(Order, Less);
  WarpSums Best = warpsInOrder(Classes, Order, WarpSize);

  std::vector<double> Work(Classes.size());
  for (size_t C = 0; C != Classes.size(); ++C)
    for (auto [Count, S] : zip_equal(Classes.vector(C), Slots))
      Work[C] += double(Count) * S;
  sort(Order, [&](uint32_t A, uint32_t B) {
    return Work[A] != Work[B] ? Work[A] < Work[B] : Less(A, B);
  });
  WarpSums ByWork = warpsInOrder(Classes, Order, WarpSize);
  return slotsOf(ByWork, Slots) < slotsOf(Best, Slots) ? ByWork : Best;
}

//===----------------------------------------------------------------------===//
// Thread blocks and launches
//===----------------------------------------------------------------------===//

RegroupedBlock regroup(uint64_t Number, ArrayRef<uint32_t> Vectors,
                       ArrayRef<uint64_t> AsRun, ArrayRef<double> Slots,
                       unsigned WarpSize) {
  const size_t Blocks = Slots.size(), Threads = Vectors.size() / Blocks;
  RegroupedBlock One{{}, std::vector<uint64_t>(Blocks), VectorClasses(Blocks)};
  RegroupedCounts &Counts = One.Counts;
  Counts.Threads = Threads;
  Counts.Warps = AsRun.vec();
  Counts.InWarp = warpsAsGrouped(Vectors, Blocks, WarpSize, One.Waits);
  Counts.Lanes.resize(Blocks);
  for (size_t T = 0; T != Threads; ++T) {
    ArrayRef<uint32_t> Row = Vectors.slice(T * Blocks, Blocks);
    One.Classes.add(Row);
    for (size_t B = 0; B != Blocks; ++B)
      Counts.Lanes[B] += Row[B];
  }
  Counts.InBlock = warpsRegrouped(One.Classes, Slots, One.Waits, WarpSize);
  if (slotsOf(Counts.InWarp, Slots) <= slotsOf(Counts.InBlock, Slots))
    Counts.InBlock = Counts.InWarp;

  const uint64_t Hash[] = {
      Number, xxh3_64bits({reinterpret_cast<const uint8_t *>(Vectors.data()),
                           Vectors.size() * sizeof(uint32_t)})};
  Counts.Digest =
      xxh3_64bits({reinterpret_cast<const uint8_t *>(Hash), sizeof(Hash)});
  return One;
}

static void addInto(std::vector<uint64_t> &Sum, ArrayRef<uint64_t> More) {
  Sum.resize(More.size());
  for (auto [S, M] : zip_equal(Sum, More))
    S += M;
}

RegroupedLaunch::RegroupedLaunch(size_t Blocks)
    : All{{}, std::vector<uint64_t>(Blocks), VectorClasses(Blocks)} {}

void RegroupedLaunch::add(const RegroupedBlock &B) {
  All.Counts.Threads += B.Counts.Threads;
  All.Counts.Digest += B.Counts.Digest;
  addInto(All.Counts.Lanes, B.Counts.Lanes);
  addInto(All.Counts.Warps, B.Counts.Warps);
  addInto(All.Counts.InWarp, B.Counts.InWarp);
  addInto(All.Counts.InBlock, B.Counts.InBlock);
  addInto(All.Waits, B.Waits);
  for (size_t C = 0; C != B.Classes.size(); ++C)
    All.Classes.add(B.Classes.vector(C), B.Classes.threads(C));
}

void RegroupedLaunch::addTo(RegroupedCounts &Sum, ArrayRef<double> Slots,
                            unsigned WarpSize) {
  RegroupedCounts &Counts = All.Counts;
  if (Counts.Threads == 0)
    return;
  Counts.InGrid = warpsRegrouped(All.Classes, Slots, All.Waits, WarpSize);
  if (slotsOf(Counts.InBlock, Slots) <= slotsOf(Counts.InGrid, Slots))
    Counts.InGrid = Counts.InBlock;
  ++Sum.Launches;
  Sum.Threads += Counts.Threads;
  Sum.Digest += Counts.Digest;
  addInto(Sum.Lanes, Counts.Lanes);
  addInto(Sum.Warps, Counts.Warps);
  addInto(Sum.InWarp, Counts.InWarp);
  addInto(Sum.InBlock, Counts.InBlock);
  addInto(Sum.InGrid, Counts.InGrid);
}

} // namespace reconverge::model
