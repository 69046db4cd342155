//===- unittests/model/RegroupTest.cpp - Bounds by hand -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Regroup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace reconverge;
using namespace reconverge::model;

using Rows = std::vector<std::vector<uint32_t>>;

static std::vector<uint32_t> flat(const Rows &R) {
  std::vector<uint32_t> Flat;
  for (const auto &Row : R)
    Flat.insert(Flat.end(), Row.begin(), Row.end());
  return Flat;
}

/// Threads 0, 1, 2 ... of a kernel with blocks then, else: even ones take the
/// first, odd ones the second.
static Rows alternating(unsigned Threads) {
  Rows R;
  for (unsigned T = 0; T != Threads; ++T)
    R.push_back(T % 2 ? std::vector<uint32_t>{0, 1}
                      : std::vector<uint32_t>{1, 0});
  return R;
}

static WarpSums regrouped(const Rows &R, std::vector<double> Slots) {
  std::vector<uint64_t> Waits(Slots.size());
  VectorClasses Classes(Slots.size());
  for (const auto &Row : R)
    Classes.add(Row);
  warpsAsGrouped(flat(R), Slots.size(), 32, Waits);
  return warpsRegrouped(Classes, Slots, Waits, 32);
}

// Both warps run both sides; sorted, one warp runs each side.
TEST(Regroup, AlternatingLanesHalveTheWarps) {
  Rows R = alternating(64);
  std::vector<uint64_t> Waits(2);
  EXPECT_EQ(warpsAsGrouped(flat(R), 2, 32, Waits), WarpSums({2, 2}));
  EXPECT_EQ(Waits, std::vector<uint64_t>({32, 32})) << "16 wait in each warp";
  EXPECT_EQ(regrouped(R, {1, 1}), WarpSums({1, 1}));
}

// 40 threads: 20 take each side. A full warp and one of 8 run both sides: 2, 2.
// Sorted: 20 then 12 | 8 : the first warp runs both, the second only one: 1, 2
// or 2, 1.
TEST(Regroup, PartialWarp) {
  Rows R = alternating(40);
  std::vector<uint64_t> Waits(2);
  EXPECT_EQ(warpsAsGrouped(flat(R), 2, 32, Waits), WarpSums({2, 2}));
  WarpSums S = regrouped(R, {1, 1});
  EXPECT_EQ(S[0] + S[1], 3u);
}

// 64 threads, every eighth goes round 9 times, the others once. In each of the
// two warps the longest decides: 9 + 9. All 8 long ones in one warp: 9 + 1.
TEST(Regroup, TripCounts) {
  Rows R;
  for (unsigned T = 0; T != 64; ++T)
    R.push_back({T % 8 ? 1u : 9u});
  std::vector<uint64_t> Waits(1);
  EXPECT_EQ(warpsAsGrouped(flat(R), 1, 32, Waits), WarpSums({18}));
  EXPECT_EQ(Waits[0], 2u * 28 * 8);
  EXPECT_EQ(regrouped(R, {1}), WarpSums({10}));
}

// Two independent bits; the first costs 1 slot, the second 100. Of 64 threads
// 16 have each combination, so one bit can be made uniform for both warps and
// the other stays mixed: the dear one must be chosen.
TEST(Regroup, DearestBlockDecides) {
  Rows R;
  for (unsigned T = 0; T != 64; ++T)
    R.push_back({T & 1u, (T >> 1) & 1u});
  EXPECT_EQ(regrouped(R, {1, 100}), WarpSums({2, 1}));
  EXPECT_EQ(regrouped(R, {100, 1}), WarpSums({1, 2}));
}

// Each warp has one thread that ran the first block, but they differ in the
// second: (0,10) x31 (1,10) | (0,0) x31 (1,0). By the first block, which alone
// makes threads wait, one group would get 10s and 0s: (0,10) + (1,10), 21
// slots. By work the warps stay together: (1,0) + (1,10), 12 slots.
TEST(Regroup, OrderByWorkIsTriedToo) {
  Rows R;
  for (unsigned Warp = 0; Warp != 2; ++Warp)
    for (unsigned T = 0; T != 32; ++T)
      R.push_back({T == 31 ? 1u : 0u, Warp ? 0u : 10u});
  EXPECT_EQ(regrouped(R, {1, 1}), WarpSums({2, 10}));
}

TEST(Regroup, ClassesCountEqualVectors) {
  VectorClasses C(2);
  C.add({1, 2});
  C.add({3, 4}, 5);
  C.add({1, 2}, 100);
  ASSERT_EQ(C.size(), 2u);
  EXPECT_EQ(C.threads(0), 101u);
  EXPECT_EQ(C.threads(1), 5u);
  EXPECT_EQ(C.vector(1)[1], 4u);
}

// A class of 100 threads passes through three cuts: 100 = 20 + 32 + 32 + 16,
// after 12 of another class.
TEST(Regroup, ClassesAreCutIntoWarps) {
  VectorClasses C(1);
  C.add({1}, 12);
  C.add({5}, 100);
  std::vector<uint64_t> Waits{1};
  EXPECT_EQ(warpsRegrouped(C, {1.0}, Waits, 32), WarpSums({5 * 4}));
}

static Rows randomRows(unsigned Threads, unsigned Blocks, unsigned Seed) {
  std::mt19937 Random(Seed);
  Rows R(Threads, std::vector<uint32_t>(Blocks));
  for (auto &Row : R)
    for (uint32_t &N : Row)
      N = Random() % 4;
  return R;
}

TEST(Regroup, DoesNotDependOnTheOrderOfThreads) {
  Rows R = randomRows(512, 5, 1);
  std::vector<double> Slots{3, 1, 4, 1, 5};
  std::vector<uint64_t> Waits{2, 7, 1, 8, 2};
  auto Of = [&] {
    VectorClasses C(5);
    for (const auto &Row : R)
      C.add(Row);
    return warpsRegrouped(C, Slots, Waits, 32);
  };
  WarpSums First = Of();
  for (unsigned Seed = 0; Seed != 5; ++Seed) {
    std::shuffle(R.begin(), R.end(), std::mt19937(Seed));
    EXPECT_EQ(Of(), First);
  }
}
