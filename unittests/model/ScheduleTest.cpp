//===- unittests/model/ScheduleTest.cpp - Schedules drawn by hand ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/Schedule.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace reconverge::model;

using Lines = std::vector<std::string>;

/// Drawn so wide that a column is a unit of time.
static Lines drawn(const Schedule &S, size_t NameWidth = 4) {
  return draw(S, 16, unsigned(NameWidth + 3 + size_t(S.End)));
}

// On paper, two multiprocessors with room for one thread block each:
//
//   time  0         10        20
//   SM 0  0000000000003333333333     12, then 10
//   SM 1  11111112222222222244444    7, 11, 5
//
// 22 and 23; of 46 units of slot time 45 are used, and in the last one SM 0 has
// nothing left.
TEST(Schedule, TwoMultiprocessors) {
  const Schedule S = schedule({12, 7, 11, 10, 5}, {2, 1}, true);
  EXPECT_EQ(S.End, 23);
  EXPECT_EQ(S.Busy, 45);
  EXPECT_EQ(S.AllSlotsUntil, 22);
  EXPECT_EQ(S.AllMultiprocessorsUntil, 22);
  EXPECT_DOUBLE_EQ(S.busyShare(), 45.0 / 46);
  EXPECT_DOUBLE_EQ(S.tailShare(), 1.0 / 23);
  EXPECT_EQ(drawn(S), Lines({"SM 0 |0000000000003333333333.|",
                             "SM 1 |11111112222222222244444|"}));
}

// Figure 4 of the paper: by turns thread block 2 goes to SM 0, dynamically to
// SM 1, which is done with 1 before SM 0 is with 0. The figure's times are lost.
TEST(Schedule, ThreadBlock2GoesWhereOneEndsFirst) {
  const Schedule S = schedule({4, 3, 3, 1}, {2, 1}, true);
  EXPECT_EQ(S.Places[2].Multiprocessor, 1u);
  EXPECT_EQ(S.Places[2].Start, 3);
  EXPECT_EQ(S.Places[3].Multiprocessor, 0u);
  EXPECT_EQ(S.End, 6) << "by turns: 0 and 2 on SM 0 take 7";
}

// Figure 5 of the paper has three multiprocessors: 0, 1 and 2 go to SM 0, 1 and
// 2; 1 ends first and 3 takes its place on SM 1; 2 ends next and 4 takes its
// place on SM 2. In descending order of their times the same thread blocks end
// earlier. Its times are lost; these make that happen.
TEST(Schedule, LongestFirstEndsEarlier) {
  const Schedule Q1 = schedule({6, 2, 4, 5, 3, 9}, {3, 1}, true);
  EXPECT_EQ(drawn(Q1),
            Lines({"SM 0 |000000555555555|", "SM 1 |1133333........|",
                   "SM 2 |2222444........|"}));
  EXPECT_EQ(Q1.End, 15);
  EXPECT_EQ(Q1.AllMultiprocessorsUntil, 7);
  EXPECT_DOUBLE_EQ(Q1.tailShare(), 8.0 / 15);
  const Schedule Q2 = schedule({9, 6, 5, 4, 3, 2}, {3, 1}, true);
  EXPECT_EQ(Q2.End, 11);
  EXPECT_EQ(drawn(Q2), Lines({"SM 0 |00000000055|", // all end at 9
                              "SM 1 |111111444..|", //
                              "SM 2 |222223333..|"}));
  EXPECT_EQ(Q2.Busy, Q1.Busy);
}

// Two at once: first one each, then a second one each. A multiprocessor works
// until the last of its slots is empty.
TEST(Schedule, TwoAtOnce) {
  const Schedule S = schedule({5, 6, 2, 3, 1}, {2, 2}, true);
  EXPECT_EQ(drawn(S, 6), Lines({"SM 0.0 |00000.|", //
                                "SM 0.1 |224...|", //
                                "SM 1.0 |111111|", //
                                "SM 1.1 |333...|"}));
  EXPECT_EQ(S.AllSlotsUntil, 3);
  EXPECT_EQ(S.AllMultiprocessorsUntil, 5);
  EXPECT_DOUBLE_EQ(S.busyShare(), 17.0 / 24);
}

TEST(Schedule, FewerThreadBlocksThanMultiprocessors) {
  const Schedule S = schedule({4, 2}, {3, 2}, true);
  EXPECT_EQ(S.End, 4);
  EXPECT_EQ(S.AllSlotsUntil, 0);
  EXPECT_EQ(S.tailShare(), 1);
  EXPECT_DOUBLE_EQ(S.busyShare(), 6.0 / 24);
  EXPECT_EQ(draw(S, 16, 25),
            Lines({"SM 0.0 |0000000000000000|", "SM 1.0 |11111111........|"}));
}

TEST(Schedule, NothingToDo) {
  const Schedule None = schedule({}, {3, 2}, true);
  EXPECT_EQ(None.End, 0);
  EXPECT_EQ(None.busyShare(), 1);
  EXPECT_EQ(None.tailShare(), 0);
  EXPECT_TRUE(draw(None).empty());
  EXPECT_EQ(schedule({0, 0, 0}, {2, 1}).End, 0);
}

// As many as there are of equal ones fill round after round.
TEST(Schedule, AMillionThreadBlocks) {
  const std::vector<double> Times(132 * 8 * 1000, 2.5);
  const Schedule S = schedule(Times, {132, 8});
  EXPECT_EQ(S.End, 2500);
  EXPECT_EQ(S.busyShare(), 1);
  EXPECT_EQ(S.tailShare(), 0);
  EXPECT_TRUE(S.Places.empty());
}

// Whatever the times, no thread block starts while a slot is free earlier, and
// none begins before the one in front of it.
TEST(Schedule, StartsInOrder) {
  std::vector<double> Times(500);
  for (size_t I = 0; I != Times.size(); ++I)
    Times[I] = double(I * 7919 % 101);
  const Schedule S = schedule(Times, {5, 3}, true);
  for (size_t I = 1; I != Times.size(); ++I)
    EXPECT_LE(S.Places[I - 1].Start, S.Places[I].Start);
  EXPECT_LE(S.Places.back().Start, S.AllSlotsUntil);
  EXPECT_DOUBLE_EQ(S.Busy, std::accumulate(Times.begin(), Times.end(), 0.0));
  const Schedule Again = schedule(Times, {5, 3}, true);
  for (size_t I = 0; I != Times.size(); ++I)
    EXPECT_EQ(S.Places[I].Multiprocessor, Again.Places[I].Multiprocessor);
}

// 40 slots in 5 lines: of the slots sorted by their ends, the last first, those
// at 0, 13, 26 and 39, and how many there are.
TEST(Schedule, ADrawingIsSmall) {
  std::vector<double> Times(40);
  std::iota(Times.begin(), Times.end(), 1);
  const Schedule S = schedule(Times, {40, 1}, true);
  EXPECT_EQ(draw(S, 5, 48),
            Lines({"SM 39 |3333333333333333333333333333333333333333|",
                   "SM 26 |qqqqqqqqqqqqqqqqqqqqqqqqqqq.............|",
                   "SM 13 |dddddddddddddd..........................|",
                   "SM 0  |0.......................................|",
                   "4 of 40 slots, from the last to end to the first"}));
  for (const std::string &Line : draw(S))
    EXPECT_LE(Line.size(), 72u);
  EXPECT_EQ(draw(S).size(), 16u);
}
