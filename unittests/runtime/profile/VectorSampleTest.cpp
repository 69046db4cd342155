//===- unittests/runtime/profile/VectorSampleTest.cpp - Launches in part --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/profile/VectorSample.h"
#include "model/Slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

using namespace reconverge;
using namespace reconverge::runtime;
using model::slotsOf, model::WarpSums;

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

static Rows randomRows(unsigned Threads, unsigned Blocks, unsigned Seed) {
  std::mt19937 Random(Seed);
  Rows R(Threads, std::vector<uint32_t>(Blocks));
  for (auto &Row : R)
    for (uint32_t &N : Row)
      N = Random() % 4;
  return R;
}

static LaunchShape shape(uint32_t Grid, uint32_t Block) {
  return {{Grid, 1, 1}, {Block, 1, 1}, 0};
}

TEST(VectorSample, LaunchesOneToThreeThenPowersOfTwo) {
  std::vector<uint64_t> Sampled;
  for (uint64_t N = 1; N <= 40; ++N)
    if (isSampledLaunch(N))
      Sampled.push_back(N);
  EXPECT_EQ(Sampled, std::vector<uint64_t>({1, 2, 3, 4, 8, 16, 32}));
}

TEST(VectorSample, SmallLaunchesAreSampledWhole) {
  VectorSample S(shape(256, 256), {1, 1}, 32); // 65,536 threads
  for (uint64_t B = 0; B != 256; ++B)
    EXPECT_TRUE(S.wants(B));
}

TEST(VectorSample, LargeLaunchesAreSampledInPart) {
  for (uint32_t Grid : {257u, 1000u, 4096u, 100003u})
    for (uint32_t Block : {32u, 256u, 1024u}) {
      VectorSample S(shape(Grid, Block), {1, 1}, 32);
      uint64_t Threads = 0;
      for (uint64_t B = 0; B != Grid; ++B)
        Threads += S.wants(B) ? Block : 0;
      EXPECT_LE(Threads, VectorSample::MaxThreads);
      EXPECT_GE(Threads, std::min<uint64_t>(uint64_t(Grid) * Block, 65536) / 3);
    }
}

// 1024 wide: a fixed stride of 32 would take columns 0, 32, 64 ... only.
TEST(VectorSample, PlacesDifferFromRowToRow) {
  VectorSample S({{1024, 1024, 1}, {64, 1, 1}, 0}, {1}, 32);
  std::vector<bool> Column(1024);
  for (uint64_t B = 0; B != 1024 * 1024; ++B)
    if (S.wants(B))
      Column[B % 1024] = true;
  EXPECT_GT(std::count(Column.begin(), Column.end(), true), 512);
}

TEST(VectorSample, KernelsOfManyBlocksAreSampledMoreThinly) {
  size_t Blocks = 4000;
  VectorSample S(shape(4096, 128), std::vector<double>(Blocks, 1), 32);
  uint64_t Cells = 0;
  for (uint64_t B = 0; B != 4096; ++B)
    Cells += S.wants(B) ? 128 * Blocks : 0;
  EXPECT_LE(Cells, VectorSample::MaxCells);
  EXPECT_GT(Cells, 0u);
}

// Two thread blocks of one warp each, lanes alternating: nothing to win within
// a block, half of the warps over the grid.
TEST(VectorSample, ScopesDiffer) {
  VectorSample S(shape(2, 32), {1, 1}, 32);
  std::vector<uint32_t> V = flat(alternating(32));
  std::vector<uint64_t> AsRun{1, 2}; // the second side took two turns
  S.record(0, 32, V, AsRun);
  S.record(1, 32, V, AsRun);
  RegroupedCounts R;
  S.addTo(R);
  EXPECT_EQ(R.Launches, 1u);
  EXPECT_EQ(R.Threads, 64u);
  EXPECT_EQ(R.Lanes, WarpSums({32, 32}));
  EXPECT_EQ(R.Warps, WarpSums({2, 4}));
  EXPECT_EQ(R.InWarp, WarpSums({2, 2})) << "once if its lanes stay together";
  EXPECT_EQ(R.InBlock, WarpSums({2, 2}));
  EXPECT_EQ(R.InGrid, WarpSums({1, 1}));
}

TEST(VectorSample, SumsOverLaunches) {
  RegroupedCounts R;
  for (unsigned Launch = 0; Launch != 3; ++Launch) {
    VectorSample S(shape(1, 64), {1, 1}, 32);
    std::vector<uint64_t> AsRun{2, 2};
    S.record(0, 64, flat(alternating(64)), AsRun);
    S.addTo(R);
  }
  EXPECT_EQ(R.Launches, 3u);
  EXPECT_EQ(R.Warps, WarpSums({6, 6}));
  EXPECT_EQ(R.InBlock, WarpSums({3, 3}));
}

TEST(VectorSample, NothingRecordedAddsNothing) {
  VectorSample S(shape(1, 64), {1, 1}, 32);
  RegroupedCounts R;
  S.addTo(R);
  EXPECT_EQ(R.Launches, 0u);
  EXPECT_TRUE(R.Lanes.empty());
}

TEST(VectorSample, ThreadsHaveClassesAndClassesVectors) {
  VectorSample S(shape(3, 4), {1, 1}, 32);
  std::vector<uint64_t> AsRun{1, 1};
  S.record(2, 4, flat({{7, 7}, {0, 1}, {0, 1}, {1, 0}}), AsRun);
  S.record(0, 4, flat(alternating(4)), AsRun);
  const ThreadVectors V = S.threadVectors();
  EXPECT_EQ(V.Shape, shape(3, 4));
  EXPECT_EQ(V.Classes, Rows({{1, 0}, {0, 1}, {7, 7}}));
  ASSERT_EQ(V.Blocks.size(), 2u) << "the second did not report";
  EXPECT_EQ(V.Blocks[0].Number, 0u);
  EXPECT_EQ(V.Blocks[0].ClassOf, std::vector<uint32_t>({0, 1, 0, 1}));
  EXPECT_EQ(V.Blocks[1].Number, 2u);
  EXPECT_EQ(V.Blocks[1].ClassOf, std::vector<uint32_t>({2, 1, 1, 0}));
}

// A part that fits has in it what the whole launch is regrouped by.
TEST(VectorSample, KeptVectorsRegroupAsTheSampleDoes) {
  constexpr unsigned Grid = 16, Block = 64, Blocks = 5;
  const std::vector<double> Slots{5, 1, 20, 3, 3};
  VectorSample S(shape(Grid, Block), Slots, 32);
  std::vector<uint64_t> AsRun(Blocks, 12);
  for (unsigned B = 0; B != Grid; ++B)
    S.record(B, Block, flat(randomRows(Block, Blocks, B)), AsRun);
  model::RegroupedLaunch Again(Blocks);
  const ThreadVectors V = S.threadVectors();
  ASSERT_EQ(V.Blocks.size(), Grid);
  for (const ThreadVectors::ThreadBlock &B : V.Blocks) {
    Rows Mine;
    for (uint32_t C : B.ClassOf)
      Mine.push_back(V.Classes[C]);
    Again.add(model::regroup(B.Number, flat(Mine), AsRun, Slots, 32));
  }
  RegroupedCounts Whole, Kept;
  S.addTo(Whole);
  Again.addTo(Kept, Slots, 32);
  EXPECT_EQ(Kept.Digest, Whole.Digest);
  EXPECT_EQ(Kept.Lanes, Whole.Lanes);
  EXPECT_EQ(Kept.InWarp, Whole.InWarp);
  EXPECT_EQ(Kept.InBlock, Whole.InBlock);
  EXPECT_EQ(Kept.InGrid, Whole.InGrid);
}

TEST(VectorSample, KeptVectorsAreBounded) {
  // 256 thread blocks of 256 threads are sampled, of which 64 are kept.
  VectorSample Many(shape(256, 256), {1}, 32);
  for (unsigned B = 0; B != 256; ++B)
    Many.record(B, 256, std::vector<uint32_t>(256, B), {1});
  EXPECT_EQ(Many.keptThreads(), ThreadVectors::MaxThreads);
  EXPECT_EQ(Many.threadVectors().Blocks.size(), 64u);
  EXPECT_EQ(Many.threadVectors().Blocks[1].Number, 4u);

  // Every thread has a vector of its own, of 16 counts: 4096 classes fit.
  VectorSample Varied(shape(64, 256), std::vector<double>(16, 1), 32);
  for (unsigned B = 0; B != 64; ++B) {
    std::vector<uint32_t> Vectors(256 * 16);
    for (unsigned T = 0; T != 256; ++T)
      Vectors[T * 16] = B * 256 + T;
    Varied.record(B, 256, Vectors, std::vector<uint64_t>(16, 1));
  }
  const ThreadVectors V = Varied.threadVectors();
  EXPECT_EQ(V.Blocks.size(), 16u);
  EXPECT_EQ(V.Classes.size() * 16, ThreadVectors::MaxCells);
}

// Workers report in any order; wider scopes never need more slots.
TEST(VectorSample, SameFromAnyNumberOfThreads) {
  constexpr unsigned Grid = 64, Block = 96, Blocks = 6;
  std::vector<double> Slots{5, 1, 20, 3, 3, 1};
  auto Run = [&](unsigned Workers) {
    VectorSample S(shape(Grid, Block), Slots, 32);
    auto Work = [&](unsigned Worker) {
      for (unsigned B = Grid; B-- > 0;)
        if (B % Workers == Worker) {
          std::vector<uint64_t> AsRun(Blocks, 12);
          S.record(B, Block, flat(randomRows(Block, Blocks, B)), AsRun);
        }
    };
    std::vector<std::thread> Pool;
    for (unsigned W = 0; W != Workers; ++W)
      Pool.emplace_back(Work, W);
    for (std::thread &T : Pool)
      T.join();
    RegroupedCounts R;
    S.addTo(R);
    return R;
  };
  RegroupedCounts One = Run(1), Four = Run(4);
  EXPECT_EQ(One.Lanes, Four.Lanes);
  EXPECT_EQ(One.InWarp, Four.InWarp);
  EXPECT_EQ(One.InBlock, Four.InBlock);
  EXPECT_EQ(One.InGrid, Four.InGrid);
  EXPECT_LE(slotsOf(One.InBlock, Slots), slotsOf(One.InWarp, Slots));
  EXPECT_LT(slotsOf(One.InGrid, Slots), slotsOf(One.InBlock, Slots));
}
