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
  EXPECT_NEAR(All[0].High, 11.0 / 7, 1e-9);
  EXPECT_NEAR(All[0].Low, 11.0 / 12, 1e-9);
}

TEST(Forecast, NoneWithoutTime) {
  EXPECT_TRUE(
      forecastsOf(KernelProfile(), KernelCost(), {}, test::oneScheduler())
          .empty());
}

} // namespace
