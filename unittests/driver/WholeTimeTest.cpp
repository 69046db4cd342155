//===- unittests/driver/WholeTimeTest.cpp ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/WholeTime.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

TEST(Alternation, ProgramsTakeTurnsAndTheMedianCounts) {
  std::string Order;
  double Slow = 1;
  auto Times = alternate({"a", "b"}, 3, 100, [&](const std::string &Program) {
    Order += Program;
    Slow *= 2; // 2 to 64
    return Expected<double>(Program == "a" ? Slow : 0.25);
  });
  ASSERT_TRUE(bool(Times)) << toString(Times.takeError());
  EXPECT_EQ(Order, "ababab");
  EXPECT_EQ(Times->Rounds, 3u);
  EXPECT_EQ(Times->Medians, (std::vector<double>{8, 0.25}));
}

TEST(Alternation, NoRoundBeginsAfterTheTimeIsUp) {
  auto Times = alternate({"a", "b"}, 5, 3, [](const std::string &) {
    return Expected<double>(1);
  });
  ASSERT_TRUE(bool(Times)) << toString(Times.takeError());
  EXPECT_EQ(Times->Rounds, 2u); // the second ends at 4
}

TEST(Alternation, OnlyWhatIsAlwaysFasterTakesThePlaceOfTheFirst) {
  Alternation T;
  T.Rounds = 3;
  T.Times = {{10, 11, 12}, {1, 1, 1}, {9.8, 9, 8}, {8, 11, 7}, {0, 0, 0}};
  T.Medians = {11, 1, 9, 8, 0}; // the last could not be run
  EXPECT_EQ(surelyFaster(T, 2), 2u);
  T.Times[2][0] = 9.95; // half a percent
  EXPECT_EQ(surelyFaster(T, 2), 0u);
  EXPECT_EQ(surelyFaster(T, 1), 1u);
  T.Rounds = 2;
  EXPECT_EQ(surelyFaster(T, 1), 0u);
}

TEST(Alternation, ARunThatFailsEndsIt) {
  auto Times = alternate({"a"}, 5, 60, [](const std::string &) {
    return Expected<double>(createStringError("no"));
  });
  ASSERT_FALSE(bool(Times));
  EXPECT_EQ(toString(Times.takeError()), "no");
}

} // namespace
