//===- unittests/model/GroupingsTest.cpp - Liang et al. by hand -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Groupings.h"

#include "model/BlockVectorTime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace reconverge;
using namespace reconverge::model;

using Rows = std::vector<std::vector<uint32_t>>;
using Order = std::vector<uint32_t>;

/// A thread a row, in thread blocks of \p BlockThreads.
static ThreadVectors vectorsOf(const Rows &Threads, uint32_t BlockThreads) {
  ThreadVectors V;
  V.Launch = 1;
  V.Shape.Block = {BlockThreads, 1, 1};
  V.Shape.Grid = {uint32_t(Threads.size()) / BlockThreads, 1, 1};
  for (uint32_t T = 0; T != Threads.size(); ++T) {
    auto Class = std::ranges::find(V.Classes, Threads[T]) - V.Classes.begin();
    if (size_t(Class) == V.Classes.size())
      V.Classes.push_back(Threads[T]);
    if (T % BlockThreads == 0)
      V.Blocks.push_back({T / BlockThreads, {}});
    V.Blocks.back().ClassOf.push_back(uint32_t(Class));
  }
  return V;
}

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
// Greedy-Max that with the longest thread, and in it the longest.
TEST(Groupings, PairsThatGainMost) {
  const ThreadVectors V = vectorsOf({{1}, {9}, {2}, {8}}, 4);
  EXPECT_EQ(greedy(V, {1}, 2), Order({0, 2, 1, 3}));
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
  EXPECT_EQ(greedy(V, {1}, 2), Order({0, 2, 1, 5, 4, 3}));
  EXPECT_EQ(greedyMax(V, {1}, 2), Order({3, 0, 2, 4, 1, 5}));
}

// Groups of 3: two threads of (6) and two of (7) gain most together and are one
// too many. The last of the later stays behind, and joins (1).
TEST(Groupings, WhatIsTooMuchStaysBehind) {
  const ThreadVectors V = vectorsOf({{6}, {6}, {7}, {7}, {1}}, 5);
  EXPECT_EQ(greedy(V, {1}, 3), Order({0, 1, 2, 4, 3}));
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

/// Algorithm 2 of the paper, thread by thread as it is printed.
static Order asPrinted(const Rows &Threads, const std::vector<double> &Latency,
                       size_t GroupSize) {
  auto LatencyOf = [&](uint32_t T) {
    double Sum = 0;
    for (size_t B = 0; B != Latency.size(); ++B)
      Sum += Latency[B] * Threads[T][B];
    return Sum;
  };
  auto GainOf = [&](const Order &Group, uint32_t T) {
    double Benefit = 0, Cost = 0;
    for (size_t B = 0; B != Latency.size(); ++B) {
      uint32_t Min = Threads[T][B], Max = Min;
      for (uint32_t Member : Group) {
        Min = std::min(Min, Threads[Member][B]);
        Max = std::max(Max, Threads[Member][B]);
      }
      Benefit += Latency[B] * Min;
      Cost += Latency[B] * (Max - Min);
    }
    return Benefit - Cost;
  };
  Order Left(Threads.size()), All;
  std::iota(Left.begin(), Left.end(), 0);
  while (!Left.empty()) {
    auto Taken = std::ranges::max_element(Left, {}, LatencyOf);
    Order Group = {*Taken};
    Left.erase(Taken);
    while (Group.size() < GroupSize && !Left.empty()) {
      auto Next = std::ranges::find_if(Left, [&](uint32_t T) {
        return std::ranges::any_of(
            Group, [&](uint32_t J) { return Threads[J] == Threads[T]; });
      });
      if (Next == Left.end())
        Next = std::ranges::max_element(
            Left, {}, [&](uint32_t T) { return GainOf(Group, T); });
      Group.push_back(*Next);
      Left.erase(Next);
    }
    All.insert(All.end(), Group.begin(), Group.end());
  }
  return All;
}

// By classes as thread by thread, over random vectors.
TEST(Groupings, ClassesComeToTheSameGroups) {
  std::mt19937 Random(7);
  const std::vector<double> Latency = {1, 4, 11};
  for (unsigned Round = 0; Round != 50; ++Round) {
    Rows Threads;
    for (unsigned T = 0; T != 40; ++T)
      Threads.push_back({uint32_t(Random() % 7), uint32_t(Random() % 4),
                         uint32_t(Random() % 3)});
    const ThreadVectors V = vectorsOf(Threads, 40);
    const Order Max = greedyMax(V, Latency, 8);
    EXPECT_EQ(Max, asPrinted(Threads, Latency, 8));
    for (Order O : {Max, greedy(V, Latency, 8), sorted(V)}) {
      std::ranges::sort(O);
      for (uint32_t T = 0; T != 40; ++T)
        EXPECT_EQ(O[T], T) << "each thread has one place";
    }
    EXPECT_EQ(greedy(V, Latency, 8), greedy(V, Latency, 8));
  }
}
