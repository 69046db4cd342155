//===- unittests/model/ForecastTest.cpp - Forecasts derived by hand -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Forecast.h"
#include "model/Model.h"

#include "HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::model;

namespace {

BranchBound halfTheLoss(const KernelProfile &, const KernelCost &Cost,
                        uint32_t Branch) {
  return {Cost.Branches[Branch].SelfSlots, 1};
}

BranchBound nothing(const KernelProfile &, const KernelCost &, uint32_t) {
  return {};
}

/// test::alternating() takes 11 slots, of which 4 idle at its one branch. A
/// remedy that gives them back and takes one: 11 / 8; for nothing 11 / 7; with
/// nothing given back 11 / 12.
TEST(Forecast, GainAndPrice) {
  const auto H = test::issuing(test::alternating());
  const KernelCost Cost = costOf(H.K);
  const RemedyRule Rules[] = {{{"melt", "melt it"}, false, halfTheLoss},
                              {{"pray", "pray"}, false, nothing}};
  const Forecasts All = forecastsOf(H.K, Cost, Rules, test::oneScheduler());
  ASSERT_EQ(All.size(), 1u) << "one gives nothing back, no thread was sampled";
  EXPECT_EQ(All[0].Remedy, "melt");
  EXPECT_FALSE(All[0].ByHand);
  EXPECT_NEAR(All[0].Speedup, 11.0 / 8, 1e-9);
  EXPECT_NEAR(All[0].High, 11.0 / 7 * UsualForecastError, 1e-9);
  EXPECT_NEAR(All[0].Low, 11.0 / 12 / UsualForecastError, 1e-9);
}

/// A candidate pays for what its code adds, and may give back more than the
/// rule's bound: 11 / (11 - 5 + 2), at least 11 / 13, at most 11 / 6. What is
/// refused has no forecast, and neither has another candidate.
TEST(Forecast, CandidatesHaveTheirOwn) {
  const auto H = test::issuing(test::alternating());
  const KernelCost Cost = costOf(H.K);
  const RemedyRule Rules[] = {{{"melt", "melt it"}, false, nothing}};
  const Foreseen Code[] = {{"melt", "slow", {5}, AddedWork{2}},
                           {"melt", "quick", {5}, AddedWork{}},
                           {"melt", "not", {5}, AddedWork{}, true}};
  const Forecasts All =
      forecastsOf(H.K, Cost, Rules, test::oneScheduler(), Code);
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Parameters, "quick");
  EXPECT_NEAR(All[0].Speedup, 11.0 / 6, 1e-9);
  EXPECT_EQ(All[1].Parameters, "slow");
  EXPECT_NEAR(All[1].Speedup, 11.0 / 8, 1e-9);
  EXPECT_NEAR(All[1].Low, 11.0 / 13 / UsualForecastError, 1e-9);
  EXPECT_NEAR(All[1].High, 11.0 / 6 * UsualForecastError, 1e-9);
}

/// The code says that 2 of the 4 come back: 11 / 10; not more than the bound,
/// whatever it says; and of a remedy of which it says nothing, all do.
TEST(Forecast, CodeTellsWhatComesBack) {
  const auto H = test::issuing(test::alternating());
  const KernelCost Cost = costOf(H.K);
  const RemedyRule Rules[] = {{{"melt", "melt it"}, false, halfTheLoss}};
  auto Of = [&](const Foreseen &Code) {
    return forecastsOf(H.K, Cost, Rules, test::oneScheduler(), {&Code, 1})[0];
  };
  EXPECT_NEAR(Of({"melt", "", {2}}).Speedup, 11.0 / 10, 1e-9);
  EXPECT_NEAR(Of({"melt", "", {2}}).High, 11.0 / 7 * UsualForecastError, 1e-9)
      << "the bound stays";
  EXPECT_NEAR(Of({"melt", "", {9}}).Speedup, 11.0 / 8, 1e-9);
  EXPECT_NEAR(Of({"pray", "", {2}}).Speedup, 11.0 / 8, 1e-9);
}

TEST(Forecast, NoneWithoutTime) {
  EXPECT_TRUE(
      forecastsOf(KernelProfile(), KernelCost(), {}, test::oneScheduler())
          .empty());
}

/// A block of latency 4 that threads run 1 or 9 times, in turns, four a warp and
/// a thread block; two thread blocks, one multiprocessor. T0 = 2 (4 9); put
/// together 4 9 + 4 1.
TEST(Forecast, Groupings) {
  test::HandMadeKernel H;
  H.block(1, 2, 8);
  H.K.WarpSize = 4;
  EXPECT_FALSE(groupingForecastsOf(H.K, test::oneScheduler())) << "no vectors";
  H.K.Vectors.Launch = 3;
  H.K.Vectors.Shape = {{2, 1, 1}, {4, 1, 1}};
  H.K.Vectors.Classes = {{1}, {9}};
  H.K.Vectors.Blocks = {{0, {0, 1, 0, 1}}, {1, {0, 1, 0, 1}}};
  const auto F = groupingForecastsOf(H.K, test::oneScheduler());
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Launch, 3u);
  EXPECT_EQ(F->Threads, 8u);
  EXPECT_EQ(F->Sampled, 8u);
  EXPECT_EQ(F->Classes, 2u);
  ASSERT_EQ(F->By.size(), 4u);
  const char *Names[] = {"Sorting", "Greedy", "Greedy-Max"};
  for (int I = 0; I != 3; ++I) {
    EXPECT_EQ(F->By[I].Algorithm, Names[I]);
    EXPECT_DOUBLE_EQ(F->By[I].Improvement.Weighted, 1 - 10.0 / 18);
    // Both thread blocks are resident at once, so the longer one is the end.
    EXPECT_DOUBLE_EQ(F->By[I].Improvement.Scheduled, 0);
  }
  EXPECT_EQ(F->By[3].Algorithm, "longest blocks first");
  EXPECT_EQ(F->By[3].Improvement.Weighted, 0) << "the same thread blocks";
}

} // namespace
