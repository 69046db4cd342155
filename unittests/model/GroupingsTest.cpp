//===- unittests/model/GroupingsTest.cpp - Liang et al. by hand -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Groupings.h"

#include "TextbookGroupings.h"
#include "model/BlockVectorTime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace reconverge;
using namespace reconverge::model;

using Order = std::vector<uint32_t>;

// Section V-A: (1, 20, 10, 20, 1) is smaller than (1, 30, 20, 30, 1).
TEST(Groupings, SortedIsLexicographic) {
  const ThreadVectors V = vectorsOf(
      {{1, 30, 20, 30, 1}, {1, 20, 10, 20, 1}, {1, 30, 20, 30, 1}}, 3);
  EXPECT_EQ(sorted(V), Order({1, 0, 2}));
}

// Groups of 2, one block of latency 1. Gain = 2 Min - Max:
//
//          9    2    8
//     1   -7    0   -6
//     9        -5    7
//     2             -4
//
// 9 and 8 gain most; 1 and 2 are left. Greedy puts the group with thread 0 first,
// Greedy-Max that with the longest thread; in groups the longest comes first.
TEST(Groupings, PairsThatGainMost) {
  const ThreadVectors V = vectorsOf({{1}, {9}, {2}, {8}}, 4);
  EXPECT_EQ(greedy(V, {1}, 2), Order({2, 0, 1, 3}));
  EXPECT_EQ(greedyMax(V, {1}, 2), Order({1, 3, 2, 0}));
  EXPECT_EQ(sorted(V), Order({0, 2, 3, 1}));
}

// Section V-B: "threads with identical BBVs" go together before others. Two
// threads of (3), three of (4) and one of (5) in groups of 2:
//
//   Greedy: (4 4) and (3 3) are full at once, 4 and 5 are left (2 4 - 5 = 3).
//   Greedy-Max: 5 takes the first 4, then 4 4, then 3 3.
TEST(Groupings, EqualThreadsFirst) {
  const ThreadVectors V = vectorsOf({{4}, {3}, {4}, {5}, {4}, {3}}, 6);
  EXPECT_EQ(greedy(V, {1}, 2), Order({0, 2, 1, 5, 3, 4}));
  EXPECT_EQ(greedyMax(V, {1}, 2), Order({3, 0, 2, 4, 1, 5}));
}

// Groups of 3: two threads of (6) and two of (7) gain most together and are one
// too many. Of those that take less time the last stays behind, and joins (1).
TEST(Groupings, WhatIsTooMuchStaysBehind) {
  const ThreadVectors V = vectorsOf({{6}, {6}, {7}, {7}, {1}}, 5);
  EXPECT_EQ(greedy(V, {1}, 3), Order({2, 3, 0, 1, 4}));
}

// Section V-D: sorting "does not consider the differences between basic blocks",
// Greedy "ignores the thread block latency and their ordering", and descending
// order "is helpful for load balancing".
//
// 16 threads, 2 a warp and a thread block, on two multiprocessors. The first
// block costs 1 and is run T mod 8 times; the second costs 100 and is run by every
// other thread, so that T and T + 8 differ in it.
//
//   as they are   101 103 105 107 101 103 105 107             832, ends at 420
//   sorted        100 101 102 103 104 105 106 107             828, ends at 416
//   Greedy        1 101 3 103 5 105 7 107                     432, ends at 221
//   Greedy-Max    107 105 103 101 7 5 3 1                     432, ends at 216
TEST(Groupings, WhatThePaperSaysOfThem) {
  Rows Threads;
  for (uint32_t T = 0; T != 16; ++T)
    Threads.push_back({T % 8, T < 8 ? T % 2 : 1 - T % 2});
  const ThreadVectors V = vectorsOf(Threads, 2);
  const std::vector<double> Latency = {1, 100};
  auto TimesIn = [&](ThreadOrder O) {
    return threadBlockTimes(V, Latency, 2, O);
  };
  using Times = std::vector<double>;
  const Order S = sorted(V), G = greedy(V, Latency, 2),
              M = greedyMax(V, Latency, 2);
  EXPECT_EQ(TimesIn({}), Times({101, 103, 105, 107, 101, 103, 105, 107}));
  EXPECT_EQ(TimesIn(S), Times({100, 101, 102, 103, 104, 105, 106, 107}));
  EXPECT_EQ(TimesIn(G), Times({1, 101, 3, 103, 5, 105, 7, 107}));
  EXPECT_EQ(TimesIn(M), Times({107, 105, 103, 101, 7, 5, 3, 1}));
  auto Gain = [&](const Order &O) {
    return improvement(blockVectorTimes(TimesIn({}), {2, 1}),
                       blockVectorTimes(TimesIn(O), {2, 1}));
  };
  EXPECT_DOUBLE_EQ(Gain(S).Weighted, 1 - 828.0 / 832);
  EXPECT_DOUBLE_EQ(Gain(S).Scheduled, 1 - 416.0 / 420);
  EXPECT_DOUBLE_EQ(Gain(G).Weighted, 1 - 432.0 / 832);
  EXPECT_DOUBLE_EQ(Gain(G).Scheduled, 1 - 221.0 / 420);
  EXPECT_DOUBLE_EQ(Gain(M).Weighted, 1 - 432.0 / 832);
  EXPECT_DOUBLE_EQ(Gain(M).Scheduled, 1 - 216.0 / 420);
}

/// What the threads of \p Rows take in warps of 8.
static double timeIn(const Rows &Threads, const std::vector<double> &Latency,
                     const Order &O) {
  const std::vector<double> Times = threadBlockTimes(
      vectorsOf(Threads, uint32_t(Threads.size())), Latency, 8, O);
  return std::accumulate(Times.begin(), Times.end(), 0.0);
}

/// Threads of some random ways. Counts are such that no two gains are equal.
static Rows randomThreads(std::mt19937 &Random, unsigned Count,
                          unsigned MostWays) {
  Rows Ways, Threads;
  for (unsigned W = 1 + Random() % MostWays; W; --W)
    Ways.push_back({uint32_t(Random() % 100000), uint32_t(Random() % 30000),
                    uint32_t(Random() % 10000)});
  for (unsigned T = 0; T != Count; ++T)
    Threads.push_back(Ways[Random() % Ways.size()]);
  return Threads;
}

/// The groups that the forms by classes come to are those of the paper's
/// algorithms, thread by thread: nothing is left to ties.
static void compareForms(const Rows &Threads) {
  const std::vector<double> Latency = {1, std::sqrt(17.0), std::sqrt(131.0)};
  const ThreadVectors V = vectorsOf(Threads, uint32_t(Threads.size()));
  EXPECT_EQ(sorted(V), textbook::sorted(Threads));
  EXPECT_EQ(greedyMax(V, Latency, 8), textbook::greedyMax(Threads, Latency, 8));
  const Order Greedy = greedy(V, Latency, 8);
  const double Want =
      timeIn(Threads, Latency, textbook::greedy(Threads, Latency, 8));
  EXPECT_NEAR(timeIn(Threads, Latency, Greedy), Want, 1e-9 * Want);
  EXPECT_EQ(greedy(V, Latency, 8), Greedy);
  Order All = Greedy;
  std::ranges::sort(All);
  EXPECT_EQ(All, textbook::allOf(Threads)) << "each thread has one place";
}

TEST(Groupings, ClassesComeToTheSameGroups) {
  std::mt19937 Random(7);
  for (unsigned Round = 0; Round != 500; ++Round)
    compareForms(randomThreads(Random, 96, 48));
}

TEST(Groupings, SoDoManyThreads) {
  std::mt19937 Random(8);
  compareForms(randomThreads(Random, 4096, 400));
}
