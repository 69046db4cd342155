//===- unittests/launch/NextArgumentsTest.cpp - Of a launch not made yet --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/NextArguments.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::launch;

namespace {

struct Data {
  const float *From = nullptr;
  int First = 0;
  float Scale = 0;
};

/// Of a kernel(Data, int *, int) whose keys use all but the second argument.
RecipeAhead ahead() {
  RecipeAhead A;
  A.Sizes = {sizeof(Data), 8, 4};
  A.Parts = {{{0, 0}, 8, true},
             {{0, 8}, 4, true},
             {{0, 12}, 4, false},
             {{2, 0}, 4, true}};
  return A;
}

struct Sequence : testing::Test {
  /// A launch; whether it was foretold. What is foretold of the next is in Next.
  bool launch(uint64_t From, int First, int Count, float Scale = 1) {
    Data D = {reinterpret_cast<const float *>(From), First, Scale};
    int *Out = reinterpret_cast<int *>(++Outputs);
    void *Args[] = {&D, &Out, &Count};
    const bool IsRight = Arguments.see(Args);
    void **Said = Arguments.foretell();
    Next.reset();
    if (Said)
      Next = *static_cast<Data *>(Said[0]);
    NextCount = Said ? *static_cast<int *>(Said[2]) : 0;
    return IsRight;
  }
  uint64_t next() const { return Next ? uint64_t(Next->From) : 0; }

  const RecipeAhead Of = ahead();
  NextArguments Arguments{Of};
  uint64_t Outputs = 0; // another one each time
  std::optional<Data> Next;
  int NextCount = 0;
};

TEST_F(Sequence, GoesOnInEqualSteps) {
  EXPECT_FALSE(launch(1000, 5, 100));
  EXPECT_FALSE(Next);
  EXPECT_FALSE(launch(1400, 7, 100));
  ASSERT_TRUE(Next);
  EXPECT_EQ(next(), 1800u);
  EXPECT_EQ(Next->First, 9);
  EXPECT_EQ(Next->Scale, 1);
  EXPECT_EQ(NextCount, 100);
  EXPECT_TRUE(launch(1800, 9, 100));
  EXPECT_EQ(next(), 2200u);
  EXPECT_TRUE(launch(2200, 11, 100));
}

TEST_F(Sequence, OfLaunchesThatAreAlikeIsNone) {
  launch(1000, 5, 100);
  launch(1000, 5, 100);
  EXPECT_FALSE(Next);
}

TEST_F(Sequence, BeginsAnewOverTheSameData) {
  for (int Round = 0; Round != 3; ++Round)
    for (int I = 0; I != 4; ++I) {
      // The first round shows the step; then the first launch alone is not
      // foretold, and the one behind the last was said wrongly: a pause of one.
      const bool IsRight = launch(1000 + 400 * I, 1, 100);
      EXPECT_EQ(IsRight, I >= 2) << Round << " " << I;
      if (I == 3) {
        EXPECT_EQ(next(), 2600u);
      }
    }
}

TEST_F(Sequence, BeginsAnewAtOnceWhereTheEndIsKnown) {
  for (int Round = 0; Round != 3; ++Round)
    for (int I = 0; I != 4; ++I) {
      const bool IsRight = launch(1000 + 400 * I, 1, 100);
      EXPECT_EQ(IsRight, I >= (Round ? 1 : 2)) << Round << " " << I;
      if (I == 3)
        Arguments.forget(); // there is nothing behind
    }
}

TEST_F(Sequence, TakesOtherStepsAfterTwoBreaks) {
  launch(1000, 1, 100);
  launch(1400, 1, 100);
  EXPECT_TRUE(launch(1800, 1, 100));
  Arguments.forget();
  launch(5000, 1, 100);
  EXPECT_EQ(next(), 5400u);
  Arguments.forget();
  launch(5100, 1, 100);
  EXPECT_EQ(next(), 5200u);
  EXPECT_TRUE(launch(5200, 1, 100));
}

TEST_F(Sequence, IsSaidLessOftenTheMoreOftenItIsWrong) {
  unsigned Said = 0;
  for (uint64_t I = 0; I != 200; ++I) {
    launch(1000 + I * I, 1, 100);
    Said += Next.has_value();
  }
  // After 2, 4, 7, 12, 21, 38 launches, then after 33 more each time.
  EXPECT_GE(Said, 8u);
  EXPECT_LE(Said, 12u);
}

TEST_F(Sequence, EndsWhereANumberLosesItsSign) {
  launch(1000, 6, 100);
  launch(1400, 3, 100);
  EXPECT_FALSE(Next); // 0 may be a stride
  launch(1800, 0, 100);
  EXPECT_FALSE(Next); // below 0, a number of rounds would be large
  launch(1000, -6, 100);
  Arguments.forget();
  launch(1400, -5, 100);
  EXPECT_EQ(next(), 1800u);
  launch(1800, -4, 100);
  EXPECT_EQ(next(), 2200u);
}

TEST_F(Sequence, MayBeginAtZero) {
  launch(1000, 0, 100);
  launch(1400, 1, 100);
  EXPECT_EQ(next(), 1800u);
  Arguments.forget();
  launch(1000, 0, 100);
  launch(1400, 0, 100);
  EXPECT_EQ(next(), 1800u);
}

TEST_F(Sequence, IsNotOfOtherNumbers) {
  launch(1000, 1, 100, 0.5f);
  launch(1400, 1, 100, 0.75f);
  EXPECT_EQ(Next->Scale, 0.75f);
  EXPECT_FALSE(launch(1800, 1, 100, 1));
}

} // namespace
