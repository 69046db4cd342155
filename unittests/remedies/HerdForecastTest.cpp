//===- unittests/remedies/HerdForecastTest.cpp - What is worth a trial ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three branches by which lanes idle for long, for half as long, and not at all.
// An instruction takes a slot.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/CommonOptions.h"
#include "remedies/herd/Forecast.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

/// Arms of \p Sizes instructions, each of which one lane of each warp runs; of
/// none, all do.
HandMadeKernel armsOf(std::initializer_list<uint32_t> Sizes) {
  constexpr uint64_t Warps = 100;
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  for (uint32_t Size : Sizes) {
    const bool Parts = Size != 0;
    const uint32_t From = H.block(4, Warps, 32 * Warps);
    const uint32_t Arm =
        H.block(Parts ? Size : 50, Warps, Parts ? Warps : 32 * Warps);
    const uint32_t Join = H.block(4, Warps, 32 * Warps);
    H.branch(BranchKind::If, From, {Arm, Join}, {Arm}, Parts ? Warps : 0,
             {Parts ? Warps : 32 * Warps, Parts ? 31 * Warps : 0});
  }
  return H;
}

TEST(Herd, BranchesGoTogether) {
  EXPECT_EQ(joinBranches("branch=7;every=8", "every=8;branch=3"),
            "every=8;branch=3;branch=7");
  EXPECT_EQ(joinBranches("branch=3;branch=7", "branch=5"),
            "branch=3;branch=5;branch=7");
  // Other parameters, nothing more, and all branches.
  EXPECT_EQ(joinBranches("branch=7;every=8", "branch=3"), std::nullopt);
  EXPECT_EQ(joinBranches("branch=7", "branch=7"), std::nullopt);
  EXPECT_EQ(joinBranches("branch=7", ""), std::nullopt);
}

TEST(HerdForecast, BranchesAtWhichMostIdlesThenAll) {
  EXPECT_EQ(
      herd::guess(armsOf({100, 0, 200}).K),
      (std::vector<std::string>{"branch=2", "threshold=8;branch=2", "branch=0",
                                "threshold=8;branch=0", "", "threshold=8"}));
}

TEST(HerdForecast, ThreeBranchesAtMost) {
  const std::vector<std::string> All =
      herd::guess(armsOf({100, 110, 120, 130, 140}).K);
  ASSERT_EQ(All.size(), 8u);
  EXPECT_EQ(All[4], "branch=2");
  EXPECT_EQ(All[6], "");
}

TEST(HerdForecast, OfLoopsFewerVotesToo) {
  HandMadeKernel H = armsOf({100});
  H.K.Info.Branches[0].Kind = BranchKind::LoopExit;
  EXPECT_EQ(herd::guess(H.K),
            (std::vector<std::string>{
                "branch=0", "every=4;branch=0", "every=16;branch=0",
                "threshold=8;branch=0", "threshold=4;branch=0", "", "every=4",
                "every=16", "threshold=8", "threshold=4"}));
}

TEST(HerdForecast, NothingWhereNoLaneIdles) {
  EXPECT_TRUE(herd::guess(armsOf({0, 0}).K).empty());
}

TEST(HerdForecast, PromisesNoMoreThanABound) {
  EXPECT_EQ(herd::Itself.Promises, Promise::Bound);
}

} // namespace
