//===- unittests/model/ThreadTreeTest.cpp - What threads take, by a tree --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/ThreadTree.h"
#include "model/Regression.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace llvm;

namespace reconverge::model {
namespace {

constexpr uint32_t Loads[] = {17, 23};

struct Rows : ThreadRows {
  Rows() { ThreadRows::Loads = 2; }
  void add(float A, float B, double Cycles) {
    Number.push_back(size());
    Read.insert(Read.end(), {A, B});
    Took.push_back(Cycles);
  }
};

} // namespace

// Two questions part the threads in three that take 10, 50 and 90 cycles. The
// bounds lie halfway between the values on either side: 9 and 10, 3 and 4.
TEST(ThreadTree, FindsWhatWasPutIn) {
  Rows R;
  for (unsigned I = 0; I != 800; ++I) {
    const unsigned A = I % 20, B = I / 20 % 8;
    R.add(float(A), float(B), A < 10 ? 10 : B < 4 ? 50 : 90);
  }
  const PathTree T = growTree(R, Loads);
  EXPECT_EQ(textOf(T), "17:9.5/10/23:3.5/50/90");
  EXPECT_EQ(T.leaves(), 3u);
  EXPECT_EQ(T.loads(), std::vector<uint32_t>({17, 23}));
  EXPECT_EQ(T.ranks(), std::vector<uint32_t>({0, 2, 0, 1, 0}));
  EXPECT_EQ(estimated(T, Loads, R), R.Took);
}

// What no sum can tell: long is who lies in the middle.
TEST(ThreadTree, WhatNoSumTells) {
  KernelProfile K;
  K.Info.Blocks.resize(1);
  K.Info.Blocks[0].Latency = 1;
  ThreadVectors &V = K.Vectors;
  V.Launch = 1;
  V.Loads = {17};
  V.Classes = {{100}, {1000}};
  V.Shape.Block = {32, 1, 1};
  V.Shape.Grid = {128, 1, 1};
  std::mt19937 Random(1);
  for (uint64_t B = 0; B != 128; ++B) {
    ThreadVectors::ThreadBlock &Block = V.Blocks.emplace_back();
    Block.Number = B;
    for (unsigned T = 0; T != 32; ++T) {
      const float X = float(Random() % 1000) - 500;
      Block.Features.push_back(X);
      Block.ClassOf.push_back(std::abs(X) < 100);
    }
  }
  const auto F = estimateFor(K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_LT(F->BySum.R2, 0.05);
  EXPECT_GT(F->ByTree.R2, 0.95);
  EXPECT_GT(F->ByTree.Purity, 0.99);
  // A fifth of the threads are long, at random: nearly each warp has one.
  EXPECT_NEAR(F->AsItIs.Purity, 0.8, 0.02);
  EXPECT_EQ(F->AsItIs.Gain, 0);
  EXPECT_NEAR(F->ByTree.Gain, F->ByTime.Gain, 0.02);
  EXPECT_EQ(F->ByTime.Purity, F->ByTree.Purity);
  double Gain = 0;
  EXPECT_EQ(textOfBest(*F, Gain), textOfTree(*F));
  EXPECT_EQ(Gain, F->ByTree.Gain);
}

// By the thread's number, where loads tell nothing.
TEST(ThreadTree, TheNumberCounts) {
  Rows R;
  for (unsigned I = 0; I != 256; ++I)
    R.add(1, 1, I < 64 ? 7 : 3);
  EXPECT_EQ(textOf(growTree(R, Loads)), "thread:63.5/7/3");
}

// Nothing parts them: too few on a side, all alike, or values that tell nothing.
TEST(ThreadTree, NothingToAsk) {
  Rows Alike, Few;
  for (unsigned I = 0; I != 256; ++I) {
    Alike.add(float(I), 0, 5);
    Few.add(I == 255, 0, I == 255 ? 1000 : 5);
  }
  EXPECT_EQ(textOf(growTree(Alike, Loads)), "5");
  EXPECT_EQ(growTree(Rows(), Loads).Nodes.size(), 0u);
  for (const PathTree::Node &N : growTree(Few, Loads).Nodes)
    EXPECT_NE(N.Of, PathTree::Node::Load); // but not so many as it takes
}

// What is no number goes right, the largest and least numbers where they belong.
TEST(ThreadTree, NotANumber) {
  const float Infinite = std::numeric_limits<float>::infinity(),
              Most = std::numeric_limits<float>::max();
  Rows R;
  for (unsigned I = 0; I != 320; ++I) {
    const float Values[] = {std::nanf(""), -Infinite, Infinite, Most, -Most};
    R.add(Values[I % 5], 0, I % 5 == 1 || I % 5 == 4 ? 100 : 200);
  }
  const PathTree T = growTree(R, Loads);
  EXPECT_EQ(estimated(T, Loads, R), R.Took);
  for (const PathTree::Node &N : T.Nodes)
    EXPECT_TRUE(std::isfinite(N.Value));
  EXPECT_TRUE(parsePathTree(textOf(T)));
}

// 64 steps: a tree of five questions has 32 leaves and no more.
TEST(ThreadTree, NoDeeperThanMayBe) {
  Rows R;
  for (unsigned I = 0; I != 4096; ++I)
    R.add(float(I / 64), 0, 100.0 + I / 64);
  const PathTree T = growTree(R, Loads);
  EXPECT_EQ(T.leaves(), 32u);
  EXPECT_EQ(textOf(T), textOf(growTree(R, Loads)));
  const auto Again = parsePathTree(textOf(T));
  ASSERT_TRUE(Again);
  EXPECT_EQ(textOf(*Again), textOf(T));
  EXPECT_EQ(estimated(*Again, Loads, R), estimated(T, Loads, R));
}

TEST(ThreadTree, TextsThatAreNoTree) {
  for (const char *Text : {"", "5", "17:1", "17:1/2", "17:1/2/3/4",
                           "17:nan/2/3", "17:1/2/inf", "17:1/-2/3", "x:1/2/3",
                           "17:1/2/", "17:/2/3", "thread/2/3", "17:1e99/2/3",
                           // six questions one below the other
                           "1:6/1:5/1:4/1:3/1:2/1:1/1/2/3/4/5/6/7"})
    EXPECT_FALSE(parsePathTree(Text)) << Text;
  for (const char *Text : {"17:0.5/1/2", "thread:-3/1:4/0/2/7:1/3/4",
                           "1:5/1:4/1:3/1:2/1:1/1/2/3/4/5/6"})
    EXPECT_TRUE(parsePathTree(Text)) << Text;
}

// Few values are classes of their own; many, steps of one ratio. 1 to 1024 in ten
// steps: a power of two each.
TEST(TimeClasses, AreStepsOfOneRatio) {
  EXPECT_EQ(timeClasses({5, 9, 5, 0, 700}, 4),
            std::vector<uint32_t>({2, 1, 2, 3, 0}));
  std::vector<double> Took;
  for (unsigned I = 1; I <= 1024; ++I)
    Took.push_back(I);
  const auto Classes = timeClasses(Took, 10);
  EXPECT_EQ(Classes[0], 9u); // 1
  EXPECT_EQ(Classes[2], 8u); // 3
  EXPECT_EQ(Classes[699], 0u);
  EXPECT_EQ(Classes[399], 1u);
  // Steps in which nothing falls leave no gap.
  Took.assign({1, 2, 1000, 1001, 1e6, 1e6 + 1});
  EXPECT_EQ(timeClasses(Took, 5), std::vector<uint32_t>({2, 2, 1, 1, 0, 0}));
  EXPECT_TRUE(timeClasses({}, 4).empty());
}

} // namespace reconverge::model
