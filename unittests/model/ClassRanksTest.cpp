//===- unittests/model/ClassRanksTest.cpp - Groups as a table -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/ClassRanks.h"

#include "SeedRange.h"
#include "TextbookGroupings.h"
#include "model/Groupings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>

using namespace reconverge;
using namespace reconverge::model;

using Order = std::vector<uint32_t>;

static double timeOf(const ThreadVectors &V, const std::vector<double> &Latency,
                     const Order &O) {
  const std::vector<double> Times = threadBlockTimes(V, Latency, 32, O);
  return std::accumulate(Times.begin(), Times.end(), 0.0);
}

// Groups (a a) (a b) (c c) (b d): b has one with d, so c is ranked last.
TEST(ClassRanks, FollowGroupsThatShareAClass) {
  const ThreadVectors V =
      vectorsOf({{9}, {9}, {9}, {8}, {5}, {5}, {8}, {2}}, 8);
  EXPECT_EQ(classRanks(V, {0, 1, 2, 3, 4, 5, 6, 7}, 2),
            ClassRanks({0, 1, 3, 2})); // of 9, 8, 5, 2
}

// Groups (a b) (a c): b comes before a, which is to come again with c.
TEST(ClassRanks, WhatComesAgainComesLast) {
  const ThreadVectors V = vectorsOf({{1}, {2}, {1}, {3}}, 4);
  EXPECT_EQ(classRanks(V, {0, 1, 2, 3}, 2), ClassRanks({1, 0, 2}));
}

// By hand, groups of 2 of one block of latency 1:
//
//   Sorting      2 | 3 3 | 5 5, cut as (2 3) (3 5) (5)      ranks 0 1 2
//   Greedy-Max   (5 5) (3 3) (2)                            ranks 2 1 0
TEST(ClassRanks, OfTheAlgorithms) {
  const ThreadVectors V = vectorsOf({{2}, {3}, {5}, {3}, {5}}, 5);
  EXPECT_EQ(classRanks(V, sorted(V), 2), ClassRanks({0, 1, 2}));
  const ClassRanks Max = classRanks(V, greedyMax(V, {1}, 2), 2);
  EXPECT_EQ(Max, ClassRanks({2, 1, 0}));
  EXPECT_EQ(orderByRank(V, Max, 3), Order({2, 4, 1, 3, 0}));
}

// 2 Min - Max: (6 1) gains 2*6-7 + 2*1-1 = 6 with (7 1), and with (6 4) 6 - 2 = 4;
// with its own 6 + 1 = 7.
TEST(ClassRanks, Nearest) {
  const ThreadVectors V = vectorsOf({{6, 4}, {7, 1}}, 2);
  EXPECT_EQ(nearestClass(V, {6, 1}, {1, 1}), 1u);
  EXPECT_EQ(nearestClass(V, {6, 4}, {1, 1}), 0u);
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

namespace {
/// Threads that run a program in so many ways, some of them more often.
struct RandomLaunch {
  std::vector<double> Latency;
  Rows Ways;
  std::vector<double> Often;

  explicit RandomLaunch(std::mt19937 &Random, unsigned Kind,
                        unsigned MostWays) {
    auto Below = [&](unsigned N) { return uint32_t(Random() % N); };
    const unsigned Blocks = 3 + Below(8), Count = 1 + Below(MostWays);
    for (unsigned B = 0; B != Blocks; ++B)
      Latency.push_back(std::sqrt(double(1 + Below(40000))));
    for (unsigned W = 0; W != Count; ++W) {
      std::vector<uint32_t> Way(Blocks);
      Way[0] = 1;
      const uint32_t Trips = 1 + Below(60);
      for (unsigned B = 1; B != Blocks; ++B)
        switch (Kind) {
        case 0: // loops of their own
          Way[B] = Below(20);
          break;
        case 1: // a switch
          Way[B] = 0;
          break;
        case 2: // one loop
          Way[B] = Trips;
          break;
        default: // a loop with branches
          Way[B] = B == 1 ? Trips : Below(2) * Below(Trips + 1);
        }
      if (Kind == 1)
        Way[1 + Below(Blocks - 1)] = 1 + Below(3);
      Ways.push_back(Way);
      Often.push_back(1.0 / (1 + Below(20)));
    }
  }
  /// The ways of so many threads.
  Order threads(std::mt19937 &Random, unsigned Count) const {
    std::discrete_distribution<uint32_t> Draw(Often.begin(), Often.end());
    Order Threads(Count);
    for (uint32_t &T : Threads)
      T = Draw(Random);
    return Threads;
  }
  /// Every \p Each'th thread block of 128 of \p Threads.
  ThreadVectors vectors(const Order &Threads, uint32_t Each) const {
    ThreadVectors V;
    V.Shape.Block = {128, 1, 1};
    V.Shape.Grid = {uint32_t(Threads.size()) / 128, 1, 1};
    std::map<std::vector<uint32_t>, uint32_t> Classes;
    std::vector<std::optional<uint32_t>> ClassOf(Ways.size());
    for (uint32_t B = 0; B * 128 != Threads.size(); B += Each) {
      V.Blocks.push_back({B, {}});
      for (uint32_t T = B * 128; T != (B + 1) * 128; ++T) {
        std::optional<uint32_t> &Class = ClassOf[Threads[T]];
        if (!Class) {
          const std::vector<uint32_t> &Vector = Ways[Threads[T]];
          Class = Classes.try_emplace(Vector, Classes.size()).first->second;
          if (*Class == V.Classes.size())
            V.Classes.push_back(Vector);
        }
        V.Blocks.back().ClassOf.push_back(*Class);
      }
    }
    return V;
  }
};
} // namespace

// A table made from 4,096 threads, against the algorithms themselves on all 65,536
// (by classes, which come to the groups of the paper's forms: GroupingsTest.cpp):
// within 1 % of the time of all warps, on 500 random launches.
TEST(ClassRanks, ATableOfASampleDoesAsWell) {
  std::mt19937 Random(17);
  for (unsigned Round = 0, N = seedRange(500).Count; Round != N; ++Round) {
    const RandomLaunch L(Random, Round % 4, 64);
    const Order Threads = L.threads(Random, 65536);
    const ThreadVectors All = L.vectors(Threads, 1),
                        Sample = L.vectors(Threads, 16);
    std::vector<uint32_t> Known;
    for (const std::vector<uint32_t> &Vector : All.Classes)
      Known.push_back(nearestClass(Sample, Vector, L.Latency));
    auto Compare = [&](const char *Name, const Order &OfSample,
                       const Order &OfAll) {
      const ClassRanks Table = classRanks(Sample, OfSample, 32);
      Order RankOf;
      for (uint32_t Class : Known)
        RankOf.push_back(Table[Class]);
      const double Want = timeOf(All, L.Latency, OfAll);
      const double Got =
          timeOf(All, L.Latency, orderByRank(All, RankOf, Table.size()));
      EXPECT_NEAR(Got / Want, 1, 0.01) << Name << ", launch " << Round;
    };
    Compare("Sorting", sorted(Sample), sorted(All));
    Compare("Greedy", greedy(Sample, L.Latency, 32),
            greedy(All, L.Latency, 32));
    Compare("Greedy-Max", greedyMax(Sample, L.Latency, 32),
            greedyMax(All, L.Latency, 32));
  }
}
