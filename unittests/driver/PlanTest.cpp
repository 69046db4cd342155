//===- unittests/driver/PlanTest.cpp - What is left out -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Plan.h"
#include "model/Forecast.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::driver;

namespace {

/// A candidate's own forecast goes before none; one without parameters is of
/// all of a remedy's.
TEST(Plan, ForecastsAreOfCandidates) {
  HotKernel K = {};
  K.Gains = {{"remap", "algorithm=head_or_tail", false, 0.5},
             {"remap", "", false, 2},
             {"refill", std::nullopt, false, 3}};
  EXPECT_EQ(forecastOf(K, {"remap", ""})->Speedup, 2);
  EXPECT_EQ(forecastOf(K, {"remap", "algorithm=head_or_tail"})->Speedup, 0.5);
  EXPECT_EQ(forecastOf(K, {"remap", "threads=256"}), nullptr);
  EXPECT_EQ(forecastOf(K, {"refill", "threshold=8"})->Speedup, 3);
}

/// 0.5x is no gain if it is as far too low as usual, and 0.9x may be one,
/// whatever the bounds. Where no code tells, the bound says that nothing comes
/// back. A kernel that waits for no unit, and what the source asks for, keeps
/// all.
TEST(Plan, WhatWouldLoseAnywayIsLeftOut) {
  const double Off = model::UsualForecastError;
  const Candidate Dear = {"remap", "algorithm=head_or_tail"},
                  Even = {"remap", ""}, Empty = {"collect", "items=4"},
                  Unknown = {"share", ""};
  HotKernel K = {};
  K.IsBusy = true;
  K.Gains = {{"remap", Dear.Parameters, false, 0.5, 0.4 / Off, 2 * Off},
             {"remap", "", false, 0.9, 0.8 / Off, 0.9 * Off},
             {"collect", std::nullopt, false, 1, 1 / Off, 1.001 * Off}};
  const std::vector<Candidate> All = {Dear, Even, Empty, Unknown};
  std::vector<Candidate> Left = All;
  leaveOut(K, Left);
  EXPECT_EQ(Left, (std::vector<Candidate>{Even, Unknown}));
  ASSERT_EQ(K.LeftOut.size(), 2u);
  EXPECT_EQ(K.LeftOut[0].What, Dear);
  EXPECT_EQ(K.LeftOut[0].Why, "0.675x at most by the forecast");
  EXPECT_EQ(K.LeftOut[1].Why, "1.001x at most by the forecast");

  Left = All;
  K.Asked = {Dear, Empty};
  leaveOut(K, Left);
  EXPECT_EQ(Left, All);
  K.Asked.clear();
  K.IsBusy = false;
  leaveOut(K, Left);
  EXPECT_EQ(Left, All);
}

} // namespace
