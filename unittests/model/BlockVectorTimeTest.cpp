//===- unittests/model/BlockVectorTimeTest.cpp - Liang et al. by hand -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "The paper" is Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate GPU
// Performance Model for Effective Control Flow Divergence Optimization". What
// its text gives as numbers is here; of its figures 3 to 5 only what the text
// repeats: some counts of figure 3, and the order of events in 4 and 5
// (ScheduleTest.cpp).

#include "model/BlockVectorTime.h"

#include "analysis/Costs.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace reconverge;
using namespace reconverge::model;

using Rows = std::vector<std::vector<uint32_t>>;

/// A thread a row, \p Threads a thread block; the grid has these thread blocks
/// and no more.
static ThreadVectors vectorsOf(const Rows &Threads, uint32_t BlockThreads) {
  ThreadVectors V;
  V.Launch = 1;
  V.Shape.Block = {BlockThreads, 1, 1};
  V.Shape.Grid = {uint32_t(Threads.size()) / BlockThreads, 1, 1};
  V.Classes = Threads;
  for (uint32_t T = 0; T != Threads.size(); ++T) {
    if (T % BlockThreads == 0)
      V.Blocks.push_back({T / BlockThreads, {}});
    V.Blocks.back().ClassOf.push_back(T);
  }
  return V;
}

/// \p Multiprocessors with room for so many thread blocks at once each.
static analysis::MachineLimits gpu(unsigned Multiprocessors, unsigned AtOnce) {
  analysis::MachineLimits L;
  L.Multiprocessors = Multiprocessors;
  L.Schedulers = 1;
  L.Threads = 2048;
  L.Blocks = AtOnce;
  L.Registers = 65536;
  L.SharedBytes = 65536;
  return L;
}

/// A kernel whose basic blocks have these latencies.
static KernelProfile kernel(ThreadVectors V, std::vector<double> Latencies,
                            uint32_t WarpSize) {
  KernelProfile K;
  for (double Latency : Latencies)
    K.Info.Blocks.emplace_back().Latency = Latency;
  K.WarpSize = WarpSize;
  K.Vectors = std::move(V);
  return K;
}

using Times = std::vector<double>;

// Section IV-B-1: "if one thread in warp 1 executes basic block b two times, and
// another thread in the same warp executes basic block b five times, then the
// maximum execution count is five". Its basic block of Listing 2 takes 610
// clocks.
TEST(BlockVectorTime, TheBusiestThreadOfAWarpCounts) {
  EXPECT_EQ(threadBlockTimes(vectorsOf({{2}, {5}}, 2), {610}, 2),
            Times({5 * 610}));
}

// Figure 3: threads 1, 2 and 3 run block B 60, 20 and 6 times. In one warp they
// take 60 of it; each in its own, 86.
TEST(BlockVectorTime, Figure3) {
  const ThreadVectors V = vectorsOf({{60}, {20}, {6}}, 3);
  EXPECT_EQ(threadBlockTimes(V, {1}, 4), Times({60}));
  EXPECT_EQ(threadBlockTimes(V, {1}, 1), Times({86}));
}

// Each block has its own busiest thread: the maximum is taken block by block,
// not thread by thread. Warps of 2, lat = 10, 1, 3:
//
//   thread block 0   warp 0   (1 4 0), (2 1 0)   2*10 + 4 + 0 = 24
//                    warp 1   (1 0 7), (1 0 0)   10 + 0 + 21  = 31    55
//   thread block 1   warp 0   (0 0 0), (0 0 0)   0
//                    warp 1   (3 3 3), (3 3 3)   30 + 3 + 9   = 42    42
TEST(BlockVectorTime, EachBlockHasItsOwnMaximum) {
  const Rows Threads = {{1, 4, 0}, {2, 1, 0}, {1, 0, 7}, {1, 0, 0},
                        {0, 0, 0}, {0, 0, 0}, {3, 3, 3}, {3, 3, 3}};
  const KernelProfile K = kernel(vectorsOf(Threads, 4), {10, 1, 3}, 2);
  EXPECT_EQ(threadBlockTimes(K.Vectors, {10, 1, 3}, 2), Times({55, 42}));
  const auto On2 = blockVectorTimes(K, gpu(2, 1));
  EXPECT_EQ(On2->Weighted, 97.0 / 2);
  EXPECT_EQ(On2->Scheduled, 55);
  const auto On1 = blockVectorTimes(K, gpu(1, 1));
  EXPECT_EQ(On1->Weighted, 97);
  EXPECT_EQ(On1->Scheduled, 97);
  // Both at once on one: each takes its time. The weighted metric knows nothing
  // of that.
  EXPECT_EQ(blockVectorTimes(K, gpu(1, 2))->Weighted, 97);
  EXPECT_EQ(blockVectorTimes(K, gpu(1, 2))->Scheduled, 55);
}

// 5 threads in warps of 2: the last warp has one.
TEST(BlockVectorTime, APartialWarpIsAWarp) {
  EXPECT_EQ(threadBlockTimes(vectorsOf({{1}, {2}, {3}, {4}, {5}}, 5), {1}, 2),
            Times({2 + 4 + 5}));
}

// Threads that alternate between 1 and 9, warps and thread blocks of 2:
//
//   as they are   (1 9) (1 9) (1 9) (1 9)   36   SM 0: 9 9     SM 1: 9 9
//   sorted        (1 1) (1 1) (9 9) (9 9)   20   SM 0: 1 9     SM 1: 1 9
//   mixed         (1 1) (9 9) (1 1) (9 9)   20   SM 0: 1 1 9   SM 1: 9
TEST(BlockVectorTime, ImprovementOfAGrouping) {
  const Rows Threads = {{1}, {9}, {1}, {9}, {1}, {9}, {1}, {9}};
  const KernelProfile K = kernel(vectorsOf(Threads, 2), {1}, 2);
  const auto T0 = blockVectorTimes(K, gpu(2, 1));
  EXPECT_EQ(T0->Weighted, 18);
  EXPECT_EQ(T0->Scheduled, 18);
  auto Gain = [&](std::vector<uint32_t> Order) {
    return improvement(*T0, *blockVectorTimes(K, gpu(2, 1), Order));
  };
  const BlockVectorTimes Sorted = Gain({0, 2, 4, 6, 1, 3, 5, 7});
  EXPECT_DOUBLE_EQ(Sorted.Weighted, 1 - 10.0 / 18);
  EXPECT_DOUBLE_EQ(Sorted.Scheduled, 1 - 10.0 / 18);
  const BlockVectorTimes Mixed = Gain({0, 2, 1, 3, 4, 6, 5, 7});
  EXPECT_DOUBLE_EQ(Mixed.Weighted, Sorted.Weighted) << "the order of thread "
                                                       "blocks does not count";
  EXPECT_DOUBLE_EQ(Mixed.Scheduled, 1 - 11.0 / 18);
  const BlockVectorTimes Same = Gain({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(Same.Weighted, 0);
  EXPECT_EQ(Same.Scheduled, 0);
  const BlockVectorTimes None = improvement({0, 0}, {0, 0});
  EXPECT_EQ(None.Weighted, 0);
}

// The paper, section V-C: in descending order of their latencies thread blocks
// balance better than in another, with the same threads together: the scheduled
// metric gains from it and the weighted one does not see it.
TEST(BlockVectorTime, OrderOfThreadBlocksIsTheSchedulesAlone) {
  const Rows Threads = {{2}, {3}, {2}, {4}, {3}, {10}};
  const KernelProfile K = kernel(vectorsOf(Threads, 1), {1}, 1);
  const auto T0 = blockVectorTimes(K, gpu(2, 1));
  const std::vector<uint32_t> LongestFirst = {5, 3, 1, 4, 0, 2};
  const auto T = blockVectorTimes(K, gpu(2, 1), LongestFirst);
  EXPECT_EQ(T0->Weighted, 12);
  EXPECT_EQ(T->Weighted, 12);
  // SM 0: 2, 2, 3 until 7; SM 1: 3, 4 until 7; then 10.
  EXPECT_EQ(T0->Scheduled, 17);
  // SM 0: 10, 2; SM 1: 4, 3, 3, 2.
  EXPECT_EQ(T->Scheduled, 12);
}

// Of a grid of 10 thread blocks 2, 5 and 9 have vectors. The nearest stands for
// each of the others, of two the lower: 0-3 are as 2, 4-7 as 5, 8-9 as 9.
TEST(BlockVectorTime, ASampleStandsForTheGrid) {
  ThreadVectors V = vectorsOf({{100}, {10}, {1}}, 1);
  V.Shape.Grid = {5, 2, 1};
  V.Blocks[0].Number = 2;
  V.Blocks[1].Number = 5;
  V.Blocks[2].Number = 9;
  const KernelProfile K = kernel(V, {1}, 32);
  const auto S = scheduleOf(K, gpu(1, 1));
  EXPECT_EQ(S->SampledBlocks, 3u);
  EXPECT_EQ(S->Times.Weighted, 4 * 100 + 4 * 10 + 2 * 1);
  EXPECT_EQ(S->Times.Scheduled, 442);
  EXPECT_EQ(S->LongestBlock, 100);
  EXPECT_DOUBLE_EQ(S->MeanBlock, 44.2);
  // In the grid's order: four of 100, then the others where there is room. Two
  // multiprocessors: 100 100 10 10 1 each.
  EXPECT_EQ(scheduleOf(K, gpu(2, 1))->Times.Scheduled, 221);
  // In an order, each stands for an equal part: 10 thread blocks of 37 on average,
  // in the schedule 0 to 3, 4 to 6 and 7 to 9, so 4 1 + 3 10 + 3 100.
  EXPECT_EQ(blockVectorTimes(K, gpu(1, 1), {0, 1, 2})->Weighted, 370);
  EXPECT_EQ(blockVectorTimes(K, gpu(1, 1), {2, 1, 0})->Scheduled, 334);
}

// 2^24 thread blocks, 3 cycles each in the first half and 1 in the second. 2^20
// of them are scheduled; the sums are exact all the same.
// Thread blocks of two that take 1, 5, 5 and 9, one at a time on each of two
// multiprocessors: 1 5 | 5 9 end at 14 as they are, 9 1 | 5 5 at 10.
TEST(BlockVectorTime, LongestBlocksFirst) {
  const ThreadVectors V =
      vectorsOf({{1}, {0}, {5}, {5}, {2}, {5}, {9}, {9}}, 2);
  const std::vector<uint32_t> Order = longestBlocksFirst(V, {1}, 2);
  EXPECT_EQ(Order, std::vector<uint32_t>({6, 7, 2, 3, 4, 5, 0, 1}));
  const KernelProfile K = kernel(V, {1}, 2);
  EXPECT_EQ(blockVectorTimes(K, gpu(2, 1))->Scheduled, 14);
  EXPECT_EQ(blockVectorTimes(K, gpu(2, 1), Order)->Scheduled, 10);
}

TEST(BlockVectorTime, LargeGrids) {
  ThreadVectors V = vectorsOf({{3}, {1}}, 1);
  V.Shape.Grid = {1 << 24, 1, 1};
  V.Blocks[1].Number = (1 << 24) - 1;
  const KernelProfile K = kernel(V, {1}, 32);
  const auto S = scheduleOf(K, gpu(128, 4));
  EXPECT_EQ(S->Times.Weighted, 2.0 * (1 << 24) / 128);
  EXPECT_NEAR(S->Times.Scheduled, 2.0 * (1 << 24) / 512, 3);
  EXPECT_NEAR(S->Busy, 1, 1e-3);
  EXPECT_TRUE(S->Drawing.empty());
}

TEST(BlockVectorTime, AScheduleSaysWhatLimitsIt) {
  KernelProfile K =
      kernel(vectorsOf(Rows(64, {1}), 32), {1}, 32); // two thread blocks
  K.Info.Registers = 64;
  K.Info.StaticShared = 20000;
  K.Vectors.Shape.DynamicShared = 10000;
  auto S = scheduleOf(K, gpu(1, 8));
  EXPECT_EQ(S->Resident, (Occupancy{2, OccupancyLimit::Shared}));
  EXPECT_TRUE(S->RegistersKnown);
  EXPECT_EQ(S->Multiprocessors, 1u);
  EXPECT_EQ(S->Times.Scheduled, 1);
  EXPECT_EQ(S->Drawing.size(), 2u);
  // Too large: no schedule, and the other metric stands.
  K.Vectors.Shape.DynamicShared = 65000;
  S = scheduleOf(K, gpu(1, 8));
  EXPECT_EQ(S->Resident, (Occupancy{0, OccupancyLimit::Shared}));
  EXPECT_EQ(S->Times.Weighted, 2);
  EXPECT_EQ(S->Times.Scheduled, 0);
  EXPECT_TRUE(S->Drawing.empty());
  EXPECT_EQ(blockVectorTimes(K, gpu(1, 8))->Weighted, 2);
}

TEST(BlockVectorTime, WithoutVectorsThereIsNone) {
  EXPECT_FALSE(scheduleOf(kernel({}, {1}, 32), gpu(1, 1)));
  EXPECT_FALSE(blockVectorTimes(kernel({}, {1}, 32), gpu(1, 1)));
}

// Listing 2 of the paper: mul.lo.s32, ld.const.u32, mul.lo.u32, rem.u32 and
// div.u32 take 18 + 46 + 18 + 264 + 264 = 610 clocks of a GTX 480.
TEST(BlockVectorTime, Listing2) {
  auto Machine = analysis::MachineModel::load(MACHINES_DIR "/gtx480.json");
  ASSERT_TRUE(bool(Machine)) << llvm::toString(Machine.takeError());
  double Latency = 0;
  for (llvm::StringRef Class :
       {"mul.i32", "ld.const", "mul.i32", "rem.u32", "div.u32"})
    Latency += Machine->cost(Class).Latency;
  EXPECT_EQ(Latency, 610);
}
