//===- unittests/remedies/CollectForecastTest.cpp - What is worth a trial -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half of the lanes of each warp take one side of a branch on data, half the
// other; an instruction takes a slot.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/collect/Forecast.h"
#include "remedies/common/WarpCost.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 100000;
constexpr uint32_t Before = 10, Side = 500;

HandMadeKernel twoPaths(BranchKind Kind = BranchKind::IfElse) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  H.K.Shapes = {{{Warps / 8, 1, 1}, {256, 1, 1}, 0}};
  const uint32_t First = H.block(Before, Warps, 32 * Warps),
                 Then = H.block(Side, Warps, 16 * Warps),
                 Else = H.block(Side, Warps, 16 * Warps);
  H.block(1, Warps, 32 * Warps);
  H.branch(Kind, First, {Then, Else}, {Then, Else}, Warps,
           {16 * Warps, 16 * Warps});
  H.K.Info.Branches[0].Reason = "load";
  return H;
}

/// As if regrouping in a block gave back so much of what idles.
KernelCost costOf(const KernelProfile &K, double Share) {
  KernelCost Cost = model::costOf(K);
  Cost.Branches[0].RecoverSlots.InBlock = Share * Cost.Branches[0].LossSlots;
  return Cost;
}

TEST(CollectForecast, MoreItemsComeNearerToAllThatIdles) {
  const HandMadeKernel H = twoPaths();
  const BranchBound Bound = collect::boundAt(H.K, costOf(H.K, 0.8), 0);
  // Half of two sides; of the fifth that a block leaves, 0.8 of three quarters.
  EXPECT_NEAR(Bound.Gain, Side * Warps * 0.92, 1);
  EXPECT_EQ(collect::boundAt(H.K, costOf(H.K, 0), 0).Gain, 0);
  EXPECT_NEAR(Bound.Price, Warps * (12.0 + 35.0 / 4 + 32 + 12.0 / 4 + Before),
              1);
}

TEST(CollectForecast, ThePriceIsPaidOnce) {
  HandMadeKernel H = twoPaths();
  const uint32_t In = H.block(Side, Warps, 8 * Warps);
  H.K.Info.Branches[0].Region.push_back(In);
  H.branch(BranchKind::If, 1, {In, 3}, {In}, Warps, {8 * Warps, 8 * Warps});
  KernelCost Cost = costOf(H.K, 1);
  Cost.Branches[1].RecoverSlots.InBlock = Cost.Branches[1].LossSlots;
  const BranchBound A = collect::boundAt(H.K, Cost, 0),
                    B = collect::boundAt(H.K, Cost, 1);
  EXPECT_GT(A.Gain, 0);
  EXPECT_GT(B.Gain, 0);
  EXPECT_TRUE((A.Price == 0) != (B.Price == 0));
  EXPECT_NEAR(A.Price + B.Price,
              Warps * (12.0 + 35.0 / 4 + 2 * (32 + 12.0 / 4) + Before), 1);
}

/// By hand, of 16384 registers a partition, given out to warps by 256: of 39 a
/// thread, 12 warps (1280 each), and 40 are 1280 as well; of 65, 7 warps, of
/// which blocks of 8 warps on 4 partitions use 6, and 80 are 2560 each.
TEST(CollectForecast, RegistersThatKeepTheWarps) {
  HandMadeKernel H = twoPaths();
  EXPECT_EQ(registersAsBefore(H.K, 256, 256), "") << "not known";
  H.K.Info.Registers = 39;
  EXPECT_EQ(registersAsBefore(H.K, 256, 256), "registers=40");
  EXPECT_EQ(collect::guess(H.K)[1], "items=4;threads=256;registers=40");
  H.K.Info.Registers = 65;
  EXPECT_EQ(registersAsBefore(H.K, 256, 256), "registers=80");
  H.K.Info.Registers = 32;
  EXPECT_EQ(registersAsBefore(H.K, 256, 256), "registers=32");
}

TEST(CollectForecast, WhatIsGuessed) {
  using Texts = std::vector<std::string>;
  HandMadeKernel H = twoPaths();
  EXPECT_EQ(collect::guess(H.K),
            (Texts{"items=4;threads=256", "items=8;threads=256",
                   "items=2;threads=256"}));
  H.K.Launches = 20; // 5,000 warps: of eight items a thread they fill no GPU
  EXPECT_EQ(collect::guess(H.K),
            (Texts{"items=4;threads=256", "items=2;threads=256"}));
  H.K.Launches = 100;
  EXPECT_EQ(collect::guess(H.K), (Texts{"items=2;threads=256"}));
}

TEST(CollectForecast, PathsByTheThreadAreTriedBesideThoseByData) {
  using Texts = std::vector<std::string>;
  HandMadeKernel H = twoPaths();
  const uint32_t In = H.block(Side, Warps, 8 * Warps);
  H.K.Info.Branches[0].Region.push_back(In);
  H.branch(BranchKind::If, 1, {In, 3}, {In}, Warps, {8 * Warps, 8 * Warps});
  H.K.Info.Branches[1].Reason = "thread id";
  KernelCost Cost = costOf(H.K, 1);
  Cost.Branches[1].RecoverSlots.InBlock = Cost.Slots / 10;
  EXPECT_EQ(collect::guess(H.K, Cost),
            (Texts{"items=4;threads=256;ids=1", "items=4;threads=256",
                   "items=8;threads=256;ids=1", "items=2;threads=256;ids=1",
                   "items=2;threads=256"}));
}

TEST(CollectForecast, BranchesOnTheThreadCountWhereTheyGiveBack) {
  HandMadeKernel H = twoPaths();
  H.K.Info.Branches[0].Reason = "thread id";
  EXPECT_GT(collect::boundAt(H.K, costOf(H.K, 0.8), 0).Gain, 0);
  EXPECT_EQ(collect::boundAt(H.K, costOf(H.K, 0.01), 0).Gain, 0);
}

/// Eight iterations a thread, in a loop that 256 threads a block run.
TEST(CollectForecast, IterationsOfALoopOverTheGridAreItems) {
  HandMadeKernel H = twoPaths();
  H.branch(BranchKind::LoopExit, 3, {0, 3}, {0, 1, 2, 3}, Warps,
           {28 * Warps, 4 * Warps});
  H.K.Threads = 4 * Warps;
  EXPECT_TRUE(collect::guess(H.K).empty()) << "a loop like others";
  H.K.Info.Branches[1].EndsGridLoop = true;
  EXPECT_EQ(collect::guess(H.K).size(), 3u);
  const BranchBound Bound = collect::boundAt(H.K, costOf(H.K, 0), 0);
  // Of 1024 items two paths leave half a warp each; of that three quarters of
  // what regrouping in a block gives back are left to gain.
  const double Block = 1 - 32.0 / 1024, More = (1 - Block) * 0.75 * Block;
  EXPECT_NEAR(Bound.Gain, Side * Warps * (Block + More), 1);
  EXPECT_NEAR(Bound.Price, Warps * (12.0 + 35.0 / 4 + 32 + 12.0 / 4 + Before),
              1);
}

TEST(CollectForecast, LoopsAndSharedMemoryAreLeftAlone) {
  const HandMadeKernel Loop = twoPaths(BranchKind::LoopExit);
  EXPECT_TRUE(collect::guess(Loop.K).empty());
  HandMadeKernel Shared = twoPaths();
  Shared.K.Shapes[0].DynamicShared = 64;
  EXPECT_TRUE(collect::guess(Shared.K).empty());
  EXPECT_EQ(collect::boundAt(Shared.K, costOf(Shared.K, 1), 0).Gain, 0);
}

} // namespace
