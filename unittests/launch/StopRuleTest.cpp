//===- unittests/launch/StopRuleTest.cpp - Which launches are stopped -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of launches 0, 1, 2, ... by hand: "H" by the recipe, "." the kernel
// as it was. A launch is heard of Lag launches later.
//
//===----------------------------------------------------------------------===//

#include "launch/StopRule.h"

#include <gtest/gtest.h>

#include <string>

using namespace reconverge::launch;

namespace {

/// What launches take that would count \p Lanes, one after the other, of which
/// 10 are allowed.
std::string formsOf(const std::vector<uint64_t> &Lanes, StopRule &Rule) {
  std::string Forms;
  for (size_t N = 0; N != Lanes.size(); ++N) {
    if (N >= StopRule::Lag && Forms[N - StopRule::Lag] == 'H')
      Rule.heard(Lanes[N - StopRule::Lag], 10);
    Forms += Rule.next() == Form::Recipe ? 'H' : '.';
  }
  return Forms;
}

std::vector<uint64_t>
lanes(std::initializer_list<std::pair<int, uint64_t>> In) {
  std::vector<uint64_t> All;
  for (auto [Count, Each] : In)
    All.insert(All.end(), Count, Each);
  return All;
}

TEST(StopRule, StopsFourLaunchesLater) {
  StopRule Rule(1000);
  EXPECT_EQ(formsOf(lanes({{3, 10}, {9, 11}}), Rule), "HHHHHHH.....");
  EXPECT_TRUE(Rule.isStopped());
  EXPECT_EQ(Rule.stops(), 1u);
  EXPECT_EQ(Rule.resumptions(), 0u);
}

TEST(StopRule, NeverStopsWithin) {
  StopRule Rule(2);
  EXPECT_EQ(formsOf(lanes({{12, 10}}), Rule), "HHHHHHHHHHHH");
  EXPECT_EQ(Rule.stops(), 0u);
}

// Launch 3 is the first of too many, 7 the first that knows. Of three, one
// counts: 9 and 12 still too many, 15 not. 19 knows, and goes on.
TEST(StopRule, GoesOnOnceALaunchCountsFewer) {
  StopRule Rule(3);
  EXPECT_EQ(formsOf(lanes({{3, 0}, {10, 99}, {10, 0}}), Rule),
            "HHHHHHH..H..H..H..HHHHH");
  EXPECT_EQ(Rule.stops(), 1u);
  EXPECT_EQ(Rule.resumptions(), 1u);
}

// What was launched before it stopped is heard of later, and counts as well.
TEST(StopRule, IsAboutTheLastThatWasHeard) {
  StopRule Rule(1000);
  EXPECT_EQ(formsOf({0, 99, 0, 0, 0, 0, 0, 0}, Rule), "HHHHH.HH");
  EXPECT_EQ(Rule.stops(), 1u);
  EXPECT_EQ(Rule.resumptions(), 1u);
}

TEST(StopRule, OneInOneIsEach) {
  StopRule Rule(1);
  EXPECT_EQ(formsOf(lanes({{10, 99}}), Rule), "HHHHHHHHHH");
  EXPECT_TRUE(Rule.isStopped());
}

} // namespace
