//===- unittests/remedies/FlattenForecastTest.cpp - Which nest, and how ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop in a loop: lanes come to the inner one some times, make a mean number
// of rounds of it each time, and warps eight times as many. An instruction takes
// a slot.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/flatten/Forecast.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 1000;

/// \p Size: instructions of a round of the inner loop; \p Slowest: rounds of
/// warps over those of lanes.
HandMadeKernel nestOf(uint64_t Times, uint64_t Mean, uint32_t Size,
                      uint64_t Slowest = 8) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  H.K.Shapes = {{}};
  H.K.Shapes[0].Block = {256, 1, 1};
  const uint64_t Visits = Times * Warps;
  const uint32_t First = H.block(20, Warps, 32 * Warps);
  H.block(4, Visits, 32 * Visits);
  const uint32_t Body =
      H.block(Size, Slowest * Mean * Visits, Mean * 32 * Visits);
  const uint32_t Behind = H.block(4, Visits, 32 * Visits);
  H.K.Info.Blocks[Body].Entries = {First};
  H.branch(BranchKind::LoopExit, Body, {Body, Behind}, {Body}, Visits * Mean,
           {(Mean - 1) * 32 * Visits, 32 * Visits});
  return H;
}

BranchBound boundOf(const HandMadeKernel &H) {
  Profile P;
  P.Kernels = {H.K};
  return flatten::boundAt(H.K, model::costOf(P, {}).Kernels.front(), 0);
}

TEST(FlattenForecast, NestsOfFewLanesGain) {
  const BranchBound Bound = boundOf(nestOf(100, 20, 40));
  // 7 of 8 lanes idle in 8 * 20 * 40 slots a warp and visit.
  const double Visits = 100.0 * Warps, Idle = 7.0 * 20 * 40 * Visits;
  EXPECT_DOUBLE_EQ(Bound.Gain, Idle);
  // A tenth of it is what sums over 100 visits differ by. Of the three ways that
  // without votes costs least: lanes merge in each fourth round, and 3.2 of them
  // leave until then.
  const double Together = 4 * 32 / (2 * 20.0),
               Made = 32 / (32 - Together / 2) * (1 + 3 / (2 * 20.0)) * 20;
  EXPECT_NEAR(Bound.Price,
              Idle / 10 + Visits * (Made * (5.0 / 4 + 3) + 40 * (Made - 20)),
              1e-6 * Bound.Price);
}

TEST(FlattenForecast, FewLanesRunTheRest) {
  // With so many instructions in each of two blocks around the inner loop.
  auto Around = [](unsigned Size) {
    HandMadeKernel H = nestOf(100, 20, 40);
    for (uint32_t B : {1, 3}) {
      H.K.Info.Blocks[B].Entries = {0};
      H.K.Info.Blocks[B].IssueSlots = Size;
    }
    return boundOf(H).Price;
  };
  // Eight lanes wait, and half of the others that leave in four rounds.
  const double Together = 8 + 4 * 24 / (2 * 20.0);
  EXPECT_NEAR((Around(80) - Around(40)) / (2 * 40 * 100.0 * Warps),
              32 / Together - 1, 1e-9);
}

TEST(FlattenForecast, OneVisitGainsNothing) {
  EXPECT_EQ(boundOf(nestOf(1, 20, 40)).Gain, 0);
  EXPECT_TRUE(flatten::guess(nestOf(1, 20, 40).K).empty());
}

TEST(FlattenForecast, LanesThatLeaveAtOnceGainNothing) {
  HandMadeKernel H = nestOf(100, 20, 40, 1);
  H.K.Branches[0].Splits = 0;
  EXPECT_EQ(boundOf(H).Gain, 0);
  EXPECT_TRUE(flatten::guess(H.K).empty());
}

TEST(FlattenForecast, VotesOfShortRoundsCostMoreThanTheyGain) {
  EXPECT_FALSE(flatten::guess(nestOf(100, 20, 10, 3).K).empty());
  // Two rounds idle, 4 slots, for each full one, which takes more to merge.
  EXPECT_TRUE(flatten::guess(nestOf(100, 20, 2, 3).K).empty());
}

TEST(FlattenForecast, WhatIsGuessed) {
  HandMadeKernel H = nestOf(100, 20, 40);
  const std::vector<std::string> All = flatten::guess(H.K);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(All[0], "threshold=8;rounds=4;branch=0");
  EXPECT_EQ(All[1], "threshold=0;rounds=4;branch=0");
  EXPECT_EQ(All[2], "threshold=8;branch=0");
  // Where registers are known, also with those that leave as many warps.
  H.K.Info.Registers = 35;
  const std::vector<std::string> Limited = flatten::guess(H.K);
  ASSERT_EQ(Limited.size(), 4u);
  EXPECT_EQ(Limited[1], "threshold=8;rounds=4;branch=0;registers=40");
}

/// A loop of rounds of \p Search instructions, whose first three lanes of 32
/// work, in \p Size instructions more.
HandMadeKernel skipsOf(uint32_t Search, uint32_t Size) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  H.K.Shapes = {{}};
  H.K.Shapes[0].Block = {256, 1, 1};
  const uint64_t Rounds = 100 * Warps;
  const uint32_t Round = H.block(Search, Rounds, 32 * Rounds),
                 Work = H.block(Size, Rounds, 3 * Rounds);
  for (uint32_t B : {Round, Work})
    H.K.Info.Blocks[B].Entries = {0};
  H.branch(BranchKind::If, Round, {Work, Round}, {Work}, Rounds,
           {3 * Rounds, 29 * Rounds});
  return H;
}

TEST(FlattenForecast, RoundsThatSkipMuchWorkGain) {
  const BranchBound Bound = boundOf(skipsOf(10, 200));
  const double Rounds = 100.0 * Warps;
  EXPECT_DOUBLE_EQ(Bound.Gain, 29.0 / 32 * 200 * Rounds);
  // 24 lanes wait, and half of the others that have work four rounds later.
  const double OfLane = 32.0 / 3, Together = 24 + 4 * 8 / (2 * OfLane),
               Made = 32 / (32 - Together / 2) * (1 + 3 / (2 * OfLane));
  EXPECT_NEAR(Bound.Price / Rounds,
              Made * (9.0 / 4 + 3) + 200 * 3.0 / 32 * (32 / Together - 1) +
                  10 * (Made - 1) + 30 * 3 / Together,
              1e-9);
  const std::vector<std::string> All = flatten::guess(skipsOf(10, 200).K);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(All[0], "ahead=1;branch=0");
  EXPECT_EQ(All[1], "threshold=24;rounds=4;branch=0");
  EXPECT_EQ(All[2].substr(0, 13), "threshold=16;");
}

TEST(FlattenForecast, LongRoundsAreBetterLookedAhead) {
  const BranchBound Bound = boundOf(skipsOf(60, 200));
  // Of 32 lanes with three hits each in 32 rounds, the one with the most.
  const double Most = 3 + 2.07 * std::sqrt(3 * 29.0 / 32);
  EXPECT_NEAR(Bound.Price / (100.0 * Warps),
              4 + Most / 32 * (60 + 200 + 8) - 200 * 3 / 32.0, 1e-9);
}

TEST(FlattenForecast, RoundsThatSkipLittleAreLeftAlone) {
  EXPECT_EQ(boundOf(skipsOf(10, 8)).Gain, 0);
  EXPECT_TRUE(flatten::guess(skipsOf(10, 8).K).empty());
}

} // namespace
