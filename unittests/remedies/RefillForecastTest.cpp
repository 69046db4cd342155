//===- unittests/remedies/RefillForecastTest.cpp - Which loop, and how ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop, in which lanes make a mean number of rounds and warps eight times as
// many, between a prologue and an epilogue. An instruction takes a slot.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/refill/Forecast.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 1000;

/// \p Size: instructions of a round; \p Around: of all other code.
HandMadeKernel loopOf(uint64_t Mean, uint32_t Size, uint32_t Around) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  uint32_t First = H.block(Around, Warps, 32 * Warps),
           Body = H.block(Size, 8 * Mean * Warps, Mean * 32 * Warps),
           Last = H.block(1, Warps, 32 * Warps);
  (void)First;
  H.branch(BranchKind::LoopExit, Body, {Body, Last}, {Body}, Warps * Mean,
           {(Mean - 1) * 32 * Warps, 32 * Warps});
  return H;
}

KernelCost costOf(const KernelProfile &K) {
  Profile P;
  P.Kernels = {K};
  return model::costOf(P, {}).Kernels.front();
}

TEST(RefillForecast, LongLoopsOfFewLanesGain) {
  const HandMadeKernel H = loopOf(200, 40, 30);
  const KernelCost Cost = costOf(H.K);
  const BranchBound Bound = refill::boundAt(H.K, Cost, 0);
  // 7 of 8 lanes idle in 8 * 200 * 40 slots a warp.
  EXPECT_DOUBLE_EQ(Bound.Gain, 7.0 * 200 * 40 * Warps);
  // 200 * 40 slots of full warps, and what votes and idle lanes add to them.
  EXPECT_GT(Bound.Price, 200.0 * 8 * Warps);
  EXPECT_LT(Bound.Price, 200.0 * 20 * Warps);
}

TEST(RefillForecast, WhatIsGuessed) {
  const std::vector<std::string> All = refill::guess(loopOf(200, 40, 30).K);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(All[0], "threshold=4;rounds=4;source=counter;slice=1;branch=0");
  EXPECT_EQ(All[1], "threshold=4;rounds=4;slice=4;branch=0");
  EXPECT_EQ(All[2], "threshold=8;rounds=4;source=counter;slice=1;branch=0");
  // The more there is to do around the loop, the more lanes should share it.
  EXPECT_TRUE(refill::guess(loopOf(10, 40, 300).K)
                  .front()
                  .starts_with("threshold=16;"));
}

TEST(RefillForecast, ShortLoopsAreLeftAlone) {
  HandMadeKernel H = loopOf(2, 10, 400);
  EXPECT_TRUE(refill::guess(H.K).empty());
  EXPECT_EQ(refill::boundAt(H.K, costOf(H.K), 0).Gain, 0);
}

TEST(RefillForecast, KernelsWithSharedMemoryAreLeftAlone) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Info.StaticShared = 128;
  EXPECT_TRUE(refill::guess(H.K).empty());
}

TEST(RefillForecast, OtherBranchesAreNone) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Info.Branches[0].Kind = BranchKind::If;
  EXPECT_TRUE(refill::guess(H.K).empty());
}

/// In each of 64 rounds one lane of 16 has work of \p Size instructions.
HandMadeKernel workOf(uint32_t Size, bool InLoop) {
  constexpr uint64_t Rounds = 64 * Warps;
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  const uint32_t Round = H.block(8, Rounds, 32 * Rounds),
                 Work = H.block(Size, Rounds, 2 * Rounds);
  H.branch(BranchKind::If, Round, {Work, Round}, {Work}, Rounds,
           {2 * Rounds, 30 * Rounds});
  if (InLoop)
    H.K.Info.Blocks[Round].Entries = H.K.Info.Blocks[Work].Entries = {0};
  return H;
}

TEST(RefillForecast, RoundsThatSkipMuchWorkGain) {
  const HandMadeKernel H = workOf(200, true);
  const BranchBound Bound = refill::boundAt(H.K, costOf(H.K), 0);
  EXPECT_DOUBLE_EQ(Bound.Gain, 15.0 / 16 * 200 * 64 * Warps);
  EXPECT_LT(Bound.Price, Bound.Gain / 2);
  EXPECT_EQ(refill::guess(H.K).at(0),
            "threshold=24;rounds=4;source=counter;slice=1;branch=0");
}

TEST(RefillForecast, RoundsThatSkipLittleAreLeftAlone) {
  EXPECT_TRUE(refill::guess(workOf(8, true).K).empty());
}

TEST(RefillForecast, WhatIsInNoLoopHasNoRounds) {
  EXPECT_TRUE(refill::guess(workOf(200, false).K).empty());
}

TEST(RefillForecast, ManyItemsHaveLongSlices) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Threads = uint64_t(1) << 26;
  EXPECT_EQ(refill::guess(H.K)[1], "threshold=4;rounds=4;slice=128;branch=0");
}

} // namespace
