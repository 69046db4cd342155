//===- unittests/remedies/ShareForecastTest.cpp - Which loop --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that lanes come to once, and make a mean number of rounds of, warps
// eight times as many. An instruction takes a slot.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/share/Forecast.h"
#include "remedies/share/Weights.h"

#include "../model/HandMade.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 1000;

/// \p Size: instructions of a round; \p Slowest: rounds of warps over lanes'.
HandMadeKernel loopOf(uint64_t Mean, uint32_t Size, uint64_t Slowest = 8) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  H.K.Shapes = {{}};
  H.K.Shapes[0].Block = {256, 1, 1};
  const uint32_t First = H.block(20, Warps, 32 * Warps);
  const uint32_t Body =
      H.block(Size, Slowest * Mean * Warps, Mean * 32 * Warps);
  const uint32_t Behind = H.block(4, Warps, 32 * Warps);
  H.K.Info.Blocks[Body].Entries = {First};
  H.branch(BranchKind::LoopExit, Body, {Body, Behind}, {Body}, Warps * Mean,
           {(Mean - 1) * 32 * Warps, 32 * Warps});
  return H;
}

BranchBound boundOf(const HandMadeKernel &H) {
  Profile P;
  P.Kernels = {H.K};
  return share::boundAt(H.K, model::costOf(P, {}).Kernels.front(), 0);
}

TEST(ShareForecast, LoopsOfFewLanesGain) {
  const BranchBound Bound = boundOf(loopOf(20, 40));
  // 7 of 8 lanes idle in 8 * 20 * 40 slots a warp.
  EXPECT_DOUBLE_EQ(Bound.Gain, 7.0 * 20 * 40 * Warps);
  // 26 slots a full round, and 40 a warp.
  EXPECT_DOUBLE_EQ(Bound.Price, (26.0 * 20 + 40) * Warps);
}

TEST(ShareForecast, LanesThatLeaveAtOnceGainNothing) {
  HandMadeKernel H = loopOf(20, 40, 1);
  H.K.Branches[0].Splits = 0;
  EXPECT_EQ(boundOf(H).Gain, 0);
  EXPECT_TRUE(share::guess(H.K).empty());
}

TEST(ShareForecast, DealingCostsMoreThanShortRoundsGain) {
  // A round idles for each full one, which costs 26 to deal.
  EXPECT_FALSE(share::guess(loopOf(1000, 27, 2).K).empty());
  EXPECT_TRUE(share::guess(loopOf(1000, 26, 2).K).empty());
}

TEST(ShareForecast, WhatIsGuessed) {
  HandMadeKernel H = loopOf(20, 40);
  H.K.Info.Branches[0].Id = 7;
  const std::vector<std::string> Expected = {
      "threshold=100;branch=7", "threshold=0;branch=7", "threshold=100"};
  EXPECT_EQ(share::guess(H.K), Expected);
}

constexpr const char *Sum = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %ends, ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %ends, i32 %t
  %end = load i32, ptr %at
  br label %loop
loop:
  %j = phi i32 [ 0, %entry ], [ %j1, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s1, %loop ]
  %p = getelementptr float, ptr %in, i32 %j
  %x = load float, ptr %p
  %s1 = fadd float %s, %x
  %j1 = add nuw nsw i32 %j, 1
  %c = icmp ult i32 %j1, %end
  br i1 %c, label %loop, label %behind, !rc.branch !0
behind:
  %q = getelementptr float, ptr %out, i32 %t
  store float %s1, ptr %q
  ret void
}
!0 = !{i32 7}
)";

double foreseen(const HandMadeKernel &H, const std::string &Parameters) {
  llvm::LLVMContext Context;
  llvm::SMDiagnostic Error;
  const auto M = llvm::parseAssemblyString(Sum, Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  const Foreseen F = share::foresee(*M->getFunction("k"), H.K, Parameters);
  EXPECT_EQ(F.Slots.size(), 1u);
  return F.Slots[0];
}

/// A candidate that names another loop gives nothing back in this one.
TEST(ShareForecast, CandidatesAreOfTheLoopThatTheyName) {
  HandMadeKernel H = loopOf(20, 40);
  H.K.Info.Branches[0].Id = 7;
  const double Any = foreseen(H, "threshold=100");
  EXPECT_GT(Any, 0);
  EXPECT_LT(Any, 7.0 * 20 * 40 * Warps) << "the chain's steps stay";
  EXPECT_EQ(foreseen(H, "threshold=100;branch=7"), Any);
  EXPECT_EQ(foreseen(H, "threshold=100;branch=8"), 0);
}

/// What a warp weighs: chains whose steps come one after the other.
TEST(ShareWeights, FewIterationsDoNotPayLongSteps) {
  share::Weights W;
  W.Alone = 1000;
  W.PerRound = 2000;
  W.Once = 4000;
  EXPECT_EQ(W.least(), 6u);
  W.PerStep = 500; // 12 * 1000 = 2000 + 12 * 500 + 4000
  EXPECT_EQ(W.least(), 12u);
  W.PerStep = 900; // 32 steps at most: 34.8 * 1000 = 2000 + 32 * 900 + 4000
  EXPECT_EQ(W.least(), 35u);
  EXPECT_TRUE(W.mayPay());
  W.PerStep = 1000;
  EXPECT_FALSE(W.mayPay());
}

} // namespace
