//===- unittests/remedies/RemapForecastTest.cpp - What rounds give back ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// if (in[tid] > 0) ... else ..., an arm a block of 100 instructions, to which
// blocks of 8 warps come. Sorted, a warp runs one arm.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Forecast.h"
#include "remedies/remap/Remap.h"

#include "../model/HandMade.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::remedies;

namespace {

constexpr uint64_t Warps = 800;

test::HandMadeKernel splitting(uint64_t Splits = Warps) {
  test::HandMadeKernel H;
  const uint64_t Half = 16 * Splits;
  const uint32_t Entry = H.block(2, Warps, 32 * Warps),
                 First = H.block(100, Warps, 32 * Warps - Half),
                 Second = H.block(100, Splits, Half),
                 Last = H.block(1, Warps, 32 * Warps);
  (void)Last;
  H.branch(BranchKind::IfElse, Entry, {First, Second}, {First, Second}, Splits,
           {32 * Warps - Half, Half});
  H.K.Launches = 1;
  H.K.Threads = 32 * Warps;
  H.K.WarpsRun = Warps;
  H.K.Shapes = {{}};
  H.K.Shapes[0].Grid = {Warps / 8, 1, 1};
  H.K.Shapes[0].Block = {256, 1, 1};
  RegroupedCounts &R = H.K.Regrouped;
  R.Launches = 1;
  R.Threads = H.K.Threads;
  for (const BlockCounts &B : H.K.Blocks) {
    R.Lanes.push_back(B.Lanes);
    R.Warps.push_back(B.Warps);
    R.InWarp.push_back(B.Warps);
    R.InBlock.push_back(B.Lanes / 32);
    R.InGrid.push_back(B.Lanes / 32);
  }
  return H;
}

/// \p Before: what stands before the branch; \p Ends: blocks at the end.
Foreseen foreseen(const test::HandMadeKernel &H, StringRef Parameters,
                  StringRef Before = "", StringRef Ends = "",
                  StringRef Attribute = "") {
  const std::string Text = (R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %in, i32 %n) "target-cpu"="sm_90" )" +
                            Attribute + R"( {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr addrspace(1) %in, i32 %tid
)" + Before + R"(
  %x = load i32, ptr addrspace(1) %at
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %first, label %second, !rc.branch !0
first:
  %y = mul i32 %x, 3
  br label %last
second:
  %z = mul i32 %x, 5
  br label %last
last:
  %r = phi i32 [ %y, %first ], [ %z, %second ]
  store i32 %r, ptr addrspace(1) %at
  ret void
)" + Ends + R"(
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!0 = !{i32 )" + Twine(H.K.Info.Branches[0].Id) +
                            "}\n")
                               .str();
  LLVMContext Context;
  SMDiagnostic Error;
  const std::unique_ptr<Module> M = parseAssemblyString(Text, Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  return M ? remap::foresee(*M->getFunction("k"), H.K, Parameters) : Foreseen();
}

constexpr StringLiteral Leaves = R"(
  %over = icmp sge i32 %tid, %n
  br i1 %over, label %end, label %work
work:)",
                        End = R"(
end:
  ret void)";

TEST(RemapForecast, SortedWarpsRunOneArm) {
  const Foreseen F = foreseen(splitting(), "threshold=0");
  EXPECT_FALSE(F.IsRefused);
  ASSERT_EQ(F.Slots.size(), 1u);
  EXPECT_DOUBLE_EQ(F.Slots[0], 100.0 * Warps);
  ASSERT_TRUE(F.Added);
  // Two groups; %x moves, and the thread's number.
  EXPECT_DOUBLE_EQ(F.Added->Slots, (2 * 85 + 12 * 2) * double(Warps));
  EXPECT_DOUBLE_EQ(F.Added->Wavefronts, (2 + 2 * 2) * double(Warps));
  EXPECT_EQ(F.Added->StaticShared, 32 + 2 * 4 * 1024u);
}

/// It has no sum to make of two groups, but many of three.
TEST(RemapForecast, HeadOrTailIsDearWhereThreadsLeave) {
  const std::string By = ";algorithm=head_or_tail";
  const auto Of = [&](const std::string &By, StringRef Before, StringRef Ends) {
    return foreseen(splitting(), "threshold=0" + By, Before, Ends).Added->Slots;
  };
  EXPECT_LT(Of(By, "", ""), Of("", "", ""));
  // 60 to vote, and 254 + 16 (16 + 16.6 2) to move.
  EXPECT_NEAR(Of(By, Leaves, End) - Of("", Leaves, End),
              (60 + 254 + 16 * (16 + 16.6 * 2)) * double(Warps), 1e-6);
}

/// With one mixed warp a block no order is better, and what automatic sees in a
/// vote the others see after moving.
TEST(RemapForecast, FewMixedWarpsMoveLittle) {
  const double Vote = 85.0 * Warps, Move = (85.0 + 24) * Warps;
  const double One = 1.0 / 8, None = std::pow(1 - One, 8);
  EXPECT_NEAR(foreseen(splitting(Warps / 8), "threshold=0").Added->Slots,
              Vote + Move * (1 - None - 8 * One * std::pow(1 - One, 7)), 1e-6);
  EXPECT_NEAR(
      foreseen(splitting(Warps / 8), "threshold=0;algorithm=warp_aggregated")
          .Added->Slots,
      Vote + Move * (1 - None), 1e-6);
  EXPECT_NEAR(foreseen(splitting(0), "threshold=0").Added->Slots, Vote, 1e-6);
}

/// Blocks for which there is no room skip the round, and gain nothing.
TEST(RemapForecast, LargerBlocksSkipIt) {
  const Foreseen F = foreseen(splitting(), "threshold=0;threads=128");
  EXPECT_EQ(F.Slots[0], 0);
  EXPECT_EQ(F.Added->Slots, 0);
  EXPECT_FALSE(F.IsRefused);
}

/// As the pass leaves it alone.
TEST(RemapForecast, WhatHasRoundsGetsNoOthers) {
  const Foreseen F =
      foreseen(splitting(), "threshold=0", "", "", "\"reconverge-remapped\"");
  EXPECT_TRUE(F.IsRefused);
  EXPECT_EQ(F.Slots[0], 0);
}

TEST(RemapForecast, WhatIsRefusedHasNone) {
  EXPECT_TRUE(foreseen(splitting(), "").IsRefused) << "below the threshold";
  EXPECT_TRUE(foreseen(splitting(), "nonsense=1").IsRefused);
}

} // namespace
