//===- unittests/launch/TripsTest.cpp - A loop over the grid --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/Trips.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::launch;

namespace {

using Terms = std::vector<TripCount::Term>;

struct Trips : testing::Test {
  std::optional<uint64_t> of(Terms All) {
    void *Args[] = {&Small, &Large, &Pair};
    return tripsOf({std::move(All)}, Shape, Args);
  }
  static TripCount::Term number(uint64_t Value, uint32_t Bits = 32) {
    return {TripCount::Constant, Bits, 0, Value};
  }
  /// Of two numbers of 32 bits.
  std::optional<uint64_t> of(TripCount::Kind What, uint32_t A, uint32_t B) {
    return of({number(A), number(B), {What, 32}});
  }
  LaunchShape Shape = {{5, 6, 7}, {96, 2, 3}};
  int32_t Small = -3;
  uint64_t Large = uint64_t(5) << 32;
  struct {
    int64_t First = 7;
    int16_t Second = -1;
  } Pair;
};

TEST_F(Trips, ReadsArguments) {
  EXPECT_EQ(of({{TripCount::Argument, 32, 0, 0}}), 0xfffffffd);
  EXPECT_EQ(of({{TripCount::Argument, 64, 1, 0}}), uint64_t(5) << 32);
  EXPECT_EQ(of({{TripCount::Argument, 16, 2, 8}}), 0xffffu);
}

TEST_F(Trips, ReadsSizesOfTheLaunch) {
  EXPECT_EQ(of({{TripCount::Dimension, 32, 0, 0}}), 5u);
  EXPECT_EQ(of({{TripCount::Dimension, 32, 2, 0}}), 7u);
  EXPECT_EQ(of({{TripCount::Dimension, 32, 3, 0}}), 96u);
  EXPECT_EQ(of({{TripCount::Dimension, 32, 5, 0}}), 3u);
}

TEST_F(Trips, ComputesInAsManyBits) {
  EXPECT_EQ(of(TripCount::Add, 0xffffffff, 2), 1u);
  EXPECT_EQ(of(TripCount::Sub, 1, 2), 0xffffffffu);
  EXPECT_EQ(of(TripCount::Mul, 0x10000, 0x10001), 0x10000u);
  EXPECT_EQ(of(TripCount::UDiv, 0xffffffff, 16), 0x0fffffffu);
  EXPECT_EQ(of(TripCount::SDiv, uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(of(TripCount::Shl, 3, 31), 0x80000000u);
  EXPECT_EQ(of(TripCount::LShr, uint32_t(-8), 1), 0x7ffffffcu);
  EXPECT_EQ(of(TripCount::AShr, uint32_t(-8), 1), uint32_t(-4));
  EXPECT_EQ(of(TripCount::UMin, uint32_t(-1), 1), 1u);
  EXPECT_EQ(of(TripCount::SMin, uint32_t(-1), 1), uint32_t(-1));
  EXPECT_EQ(of(TripCount::UMax, uint32_t(-1), 1), uint32_t(-1));
  EXPECT_EQ(of(TripCount::SMax, uint32_t(-1), 1), 1u);
  EXPECT_EQ(of({number(0x80000001), {TripCount::SExt, 64, 32}}),
            0xffffffff80000001);
  EXPECT_EQ(of({number(0x80000001), {TripCount::ZExt, 64, 32}}), 0x80000001u);
  EXPECT_EQ(of({number(0x1ffff, 64), {TripCount::Trunc, 16, 64}}), 0xffffu);
}

TEST_F(Trips, AreNoneWhereThatCannotBeComputed) {
  EXPECT_FALSE(of(TripCount::UDiv, 1, 0));
  EXPECT_FALSE(of(TripCount::SDiv, 1, 0));
  EXPECT_FALSE(of(TripCount::SDiv, 0x80000000, uint32_t(-1)));
  EXPECT_FALSE(of(TripCount::Shl, 1, 32));
  EXPECT_FALSE(of({{TripCount::Add, 32}}));
  EXPECT_FALSE(of({number(1), number(2)}));
  EXPECT_FALSE(of(Terms()));
}

LaunchShape shape(std::array<uint32_t, 3> Grid, std::array<uint32_t, 3> Block) {
  return {Grid, Block};
}

TEST_F(Trips, MakeALaunchOfAThreadEach) {
  Recipe R;
  const LaunchShape Flat = shape({3, 1, 1}, {128, 1, 1});
  EXPECT_EQ(takenAs(R, Flat, nullptr), Flat);
  auto Blocks = [&](uint64_t Count, LaunchShape Shape) {
    R.Trips = TripCount{{number(Count, 64)}};
    const LaunchShape As = takenAs(R, Shape, nullptr);
    EXPECT_EQ(takenAs(R, As, nullptr).Grid, As.Grid);
    EXPECT_EQ(As.Block, Shape.Block);
    return As.blocks();
  };
  EXPECT_EQ(Blocks(0, Flat), 0u);
  EXPECT_EQ(Blocks(1, Flat), 1u);
  EXPECT_EQ(Blocks(128, Flat), 1u);
  EXPECT_EQ(Blocks(129, Flat), 2u);
  // The number of the last thread has a sign.
  EXPECT_EQ(Blocks(0x7fffff80, Flat), 0x7fffff80u / 128);
  EXPECT_EQ(Blocks(0x7fffff81, Flat), 0u);
  EXPECT_EQ(Blocks(1000, shape({3, 2, 1}, {128, 1, 1})), 0u);
  EXPECT_EQ(Blocks(1000, shape({3, 1, 1}, {32, 4, 1})), 0u);
  R.Trips = TripCount{{{TripCount::Argument, 32, 0, 0}}};
  EXPECT_EQ(takenAs(R, Flat, nullptr).blocks(), 0u);
}

} // namespace
