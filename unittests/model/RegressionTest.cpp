//===- unittests/model/RegressionTest.cpp - What threads take -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Regression.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace llvm;

namespace reconverge::model {
namespace {

/// Threads of a kernel of two blocks, of 10 and 4 cycles, the first run once. How
/// often the second is, and what two loads read, a test says.
class Threads {
public:
  Threads() {
    K.Info.Name = "k";
    K.Info.Blocks.resize(2);
    K.Info.Blocks[0].Latency = 10;
    K.Info.Blocks[1].Latency = 4;
    K.Vectors.Launch = 1;
    K.Vectors.Loads = {17, 23};
  }
  void add(uint32_t Rounds, float A, float B) {
    ThreadVectors &V = K.Vectors;
    if (V.Blocks.empty() || V.Blocks.back().ClassOf.size() == OfBlock)
      V.Blocks.push_back({V.Blocks.size(), {}});
    V.Blocks.back().ClassOf.push_back(uint32_t(V.Classes.size()));
    V.Classes.push_back({1, Rounds});
    V.Blocks.back().Features.insert(V.Blocks.back().Features.end(), {A, B});
    V.Shape.Block = {OfBlock, 1, 1};
    V.Shape.Grid = {uint32_t(V.Blocks.size()), 1, 1};
  }
  static constexpr uint32_t OfBlock = 32;
  KernelProfile K;
};

} // namespace

// A thread runs the second block 3 + 2 a times: it takes 10 + 4 (3 + 2 a) = 22 + 8
// a cycles. What the other load reads has nothing to do with it, nor has the
// thread's number.
TEST(Regression, FindsWhatWasPutIn) {
  Threads T;
  std::mt19937 Random(1);
  for (unsigned I = 0; I != 4096; ++I) {
    const uint32_t A = Random() % 50, B = Random() % 1000;
    T.add(3 + 2 * A, float(A), float(B));
  }
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Fitted, 2048u);
  EXPECT_EQ(F->Tested, 2048u);
  EXPECT_NEAR(F->Sum.Base, 22, 1e-6);
  EXPECT_NEAR(F->Sum.PerUnit[0], 8, 1e-9);
  EXPECT_EQ(F->Sum.PerUnit[1], 0);
  EXPECT_EQ(F->Sum.PerThread, 0);
  EXPECT_NEAR(F->BySum.R2, 1, 1e-9);
  EXPECT_GT(F->ByTime.Gain, 0.3);
  EXPECT_DOUBLE_EQ(F->BySum.Gain, F->ByTime.Gain);
  EXPECT_EQ(textOfSum(*F), "estimate=17:8;estimate=base:22");
}

// By the thread's number, and by what it loads: rounds are a + i / 64.
TEST(Regression, TheNumberCounts) {
  Threads T;
  std::mt19937 Random(2);
  for (unsigned I = 0; I != 4096; ++I) {
    const uint32_t A = Random() % 50;
    T.add(A + I / 64, float(A), 1);
  }
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_NEAR(F->Sum.PerUnit[0], 4, 0.05);
  EXPECT_NEAR(F->Sum.PerThread, 4.0 / 64, 1e-3);
  EXPECT_GT(F->BySum.R2, 0.99);
}

// Where loads tell nothing, no order is made of them.
TEST(Regression, NothingToTell) {
  Threads T;
  std::mt19937 Random(3);
  for (unsigned I = 0; I != 4096; ++I)
    T.add(Random() % 100, 7, 7);
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Sum.PerUnit, std::vector<double>({0, 0}));
  EXPECT_LT(F->BySum.R2, 0.02);
  EXPECT_LT(F->BySum.Gain, 0.02);
  EXPECT_GT(F->ByTime.Gain, 0.3);
}

// Every second thread is long, whatever it loads: no input is worth its weight,
// the thread's number neither, and the mean is all that is left.
TEST(Regression, NoInputIsWorthItsWeight) {
  Threads T;
  for (unsigned I = 0; I != 4096; ++I)
    T.add(I % 2 ? 100 : 0, float(I / 2 % 50), 7);
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Sum.PerUnit, std::vector<double>({0, 0}));
  EXPECT_EQ(F->Sum.PerThread, 0);
  EXPECT_NEAR(F->Sum.Base, 10 + 4 * 50, 1e-9);
}

// All threads take the same: there is no variance to explain, nor anything to gain.
TEST(Regression, AllAlike) {
  Threads T;
  for (unsigned I = 0; I != 256; ++I)
    T.add(5, float(I % 7), float(I));
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->BySum.R2, 0);
  EXPECT_EQ(F->BySum.Gain, 0);
  EXPECT_EQ(textOfSum(*F), "");
}

// What a load reads may be no number, or too large for one.
TEST(Regression, NotANumber) {
  Threads T;
  for (unsigned I = 0; I != 1024; ++I) {
    const uint32_t A = (I * 37) % 50;
    T.add(A,
          I == 3    ? std::nanf("")
          : I == 50 ? std::numeric_limits<float>::infinity()
                    : float(A),
          1);
  }
  const auto F = estimateFor(T.K, nullptr);
  ASSERT_TRUE(F);
  EXPECT_TRUE(std::isfinite(F->Sum.Base));
  EXPECT_GT(F->BySum.R2, 0.9);
}

// On another run of the same kernel, of another law: the fit is none there.
TEST(Regression, AnotherRun) {
  Threads Train, Test;
  for (unsigned I = 0; I != 1024; ++I) {
    const uint32_t A = (I * 37) % 50;
    Train.add(A, float(A), 1);
    Test.add(50 - A, float(A), 1);
  }
  const auto F = estimateFor(Train.K, &Test.K);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Fitted, 1024u);
  EXPECT_EQ(F->Tested, 1024u);
  EXPECT_LT(F->BySum.R2, 0);
  // Of a kernel with other loads nothing is known.
  Test.K.Vectors.Loads = {17, 24};
  EXPECT_FALSE(estimateFor(Train.K, &Test.K));
}

TEST(Regression, TooLittleToFit) {
  Threads None;
  EXPECT_FALSE(estimateFor(None.K, nullptr));
  Threads One;
  for (unsigned I = 0; I != 32; ++I)
    One.add(I, float(I), 1);
  EXPECT_FALSE(estimateFor(One.K, nullptr)); // nothing would be left to test
  KernelProfile Without = One.K;
  Without.Vectors.Loads.clear();
  EXPECT_FALSE(estimateFor(Without, nullptr));
}

} // namespace reconverge::model
