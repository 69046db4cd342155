//===- unittests/model/LaunchOrdersTest.cpp - Orders of a launch ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/LaunchOrders.h"

#include "model/BlockVectorTime.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace reconverge;
using namespace reconverge::model;

/// Thread blocks of 128 threads that draw one of these classes.
static ThreadVectors launchOf(uint32_t Blocks,
                              std::vector<std::vector<uint32_t>> Classes) {
  ThreadVectors V;
  V.Launch = 1;
  V.Shape.Grid = {Blocks, 1, 1};
  V.Shape.Block = {128, 1, 1};
  std::mt19937 Draw(1);
  for (uint32_t B = 0; B != Blocks; ++B) {
    ThreadVectors::ThreadBlock Block{B, {}};
    for (int T = 0; T != 128; ++T)
      Block.ClassOf.push_back(uint32_t(Draw() % Classes.size()));
    V.Blocks.push_back(std::move(Block));
  }
  V.Classes = std::move(Classes);
  return V;
}

static double timeOf(const ThreadVectors &V, const std::vector<double> &Latency,
                     llvm::ArrayRef<uint32_t> Order) {
  const std::vector<double> Times = threadBlockTimes(V, Latency, 32, Order);
  return std::accumulate(Times.begin(), Times.end(), 0.0);
}

/// Each is an order of all threads, and all but the last, which leaves threads
/// where they are, take hardly longer than full warps of equal threads would.
static void checkOrders(const ThreadVectors &V,
                        const std::vector<double> &Latency, double Ideal) {
  const std::vector<LaunchOrder> Orders = ordersOf(V, Latency, 32);
  ASSERT_EQ(Orders.size(), 4u);
  for (const LaunchOrder &O : Orders) {
    std::vector<uint32_t> Sorted = O.Threads;
    std::ranges::sort(Sorted);
    ASSERT_EQ(Sorted.size(), V.Blocks.size() * 128) << O.Algorithm;
    for (uint32_t T = 0; T != Sorted.size(); ++T)
      ASSERT_EQ(Sorted[T], T) << O.Algorithm;
    const double Time = timeOf(V, Latency, O.Threads);
    if (&O == &Orders.back())
      EXPECT_DOUBLE_EQ(Time, timeOf(V, Latency, {}));
    else
      EXPECT_LT(Time, 1.02 * Ideal) << O.Algorithm;
  }
}

/// What full warps of equal threads take.
static double idealOf(const ThreadVectors &V,
                      const std::vector<double> &Latency) {
  double Sum = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    for (uint32_t Class : B.ClassOf)
      Sum += std::inner_product(Latency.begin(), Latency.end(),
                                V.Classes[Class].begin(), 0.0);
  return Sum / 32;
}

static const std::vector<double> Latency = {10, 3, 7};

TEST(LaunchOrders, OfAllThreads) {
  const ThreadVectors V = launchOf(64, {{1, 9, 0}, {1, 0, 40}, {1, 2, 2}});
  checkOrders(V, Latency, idealOf(V, Latency));
}

// Too many threads for the algorithms: a sample of them is grouped.
TEST(LaunchOrders, BySample) {
  const ThreadVectors V =
      launchOf(2200, {{1, 9, 0}, {1, 0, 40}, {1, 2, 2}, {1, 80, 1}});
  checkOrders(V, Latency, idealOf(V, Latency));
}

// Too many classes for Greedy, and classes that no sample has: they go to those
// nearest. In warps at random the longest of 32 would decide.
TEST(LaunchOrders, OfClassesThatTheSampleLacks) {
  std::vector<double> Latency(32);
  Latency[1] = 3;
  Latency[2] = 7;
  std::vector<std::vector<uint32_t>> Classes;
  for (uint32_t C = 0; C != 3000; ++C) {
    Classes.emplace_back(32);
    Classes.back()[1] = C % 60;
    Classes.back()[2] = C / 60;
  }
  const ThreadVectors V = launchOf(100, std::move(Classes));
  const double Ideal = idealOf(V, Latency), Now = timeOf(V, Latency, {});
  for (const LaunchOrder &O : ordersOf(V, Latency, 32))
    if (O.Algorithm != std::string("longest blocks first")) {
      const double Time = timeOf(V, Latency, O.Threads);
      // Most of what there is to gain.
      EXPECT_LT(Time - Ideal, 0.4 * (Now - Ideal)) << O.Algorithm;
    }
}
