//===- unittests/remedies/MeldForecastTest.cpp - What the plan gives back -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// if (tid & 1) ... else ..., an arm a block of 10 instructions, to which 100
// warps come.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Forecast.h"

#include "../model/HandMade.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::remedies;

namespace {

constexpr uint64_t Warps = 100;

/// So many of the warps split; the others take the first arm.
test::HandMadeKernel splitting(uint64_t Splits) {
  test::HandMadeKernel H;
  const uint32_t Entry = H.block(2, Warps, 32 * Warps),
                 First = H.block(10, Warps, 32 * Warps - 16 * Splits),
                 Second = H.block(10, Splits, 16 * Splits),
                 Last = H.block(1, Warps, 32 * Warps);
  (void)Last;
  H.branch(BranchKind::IfElse, Entry, {First, Second}, {First, Second}, Splits,
           {32 * Warps - 16 * Splits, 16 * Splits});
  return H;
}

/// \p Second: what the second arm does with %a and %b.
Foreseen foreseenOf(const test::HandMadeKernel &H, StringRef Second,
                    StringRef Parameters) {
  const std::string Text = (R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p, float %a, float %b) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  %at = getelementptr float, ptr addrspace(1) %p, i32 %tid
  br i1 %odd, label %first, label %second, !rc.branch !0
first:
  %q = fdiv float %a, %b
  %r = fdiv float %q, %a
  store float %r, ptr addrspace(1) %at
  br label %last
second:
)" + Second + R"(
  br label %last
last:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!0 = !{i32 )" + Twine(H.K.Info.Branches[0].Id) +
                            "}\n")
                               .str();
  LLVMContext Context;
  SMDiagnostic Error;
  const std::unique_ptr<Module> M = parseAssemblyString(Text, Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  return M ? meld::foresee(*M->getFunction("k"), H.K, Parameters) : Foreseen();
}

std::vector<double> foreseen(const test::HandMadeKernel &H, StringRef Second) {
  return foreseenOf(H, Second, "threshold=0").Slots;
}

constexpr StringLiteral Alike = R"(
  %s = fdiv float %b, %a
  %t = fdiv float %s, %a
  store float %t, ptr addrspace(1) %at)";
constexpr StringLiteral Short = R"(
  store float %b, ptr addrspace(1) %at)";

/// All split: of 20 slots a warp at most 10 come back, and a select costs.
TEST(MeldForecast, AlikeArmsGiveBackNearlyHalf) {
  const auto Back = foreseen(splitting(Warps), Alike);
  ASSERT_EQ(Back.size(), 1u);
  EXPECT_LT(Back[0], 1000);
  EXPECT_GT(Back[0], 800);
}

/// Warps run 125 arms, 50 of them of warps that split.
TEST(MeldForecast, OnlyWarpsThatSplitGain) {
  const double All = foreseen(splitting(Warps), Alike)[0] / 2000,
               Quarter = foreseen(splitting(Warps / 4), Alike)[0];
  EXPECT_NEAR(Quarter, All * 1250 * 50 / 125, 1e-9);
  EXPECT_EQ(foreseen(splitting(0), Alike)[0], 0);
}

TEST(MeldForecast, LittleAlikeGivesLittleBack) {
  const double Little = foreseen(splitting(Warps), Short)[0];
  EXPECT_LT(Little, foreseen(splitting(Warps), Alike)[0] / 2);
  EXPECT_EQ(foreseen(splitting(Warps), "")[0], 0) << "there is one arm";
}

/// Both arms' stores become one: of the 125 requests a quarter of the warps makes
/// twice, one in five need not be. Those to global memory still have their
/// lines, but for a wavefront.
TEST(MeldForecast, PairedAccessesAreMadeOnce) {
  for (const MemorySpace Space : {MemorySpace::Shared, MemorySpace::Global}) {
    test::HandMadeKernel H = splitting(Warps / 4);
    for (uint32_t Block : {1, 2}) {
      AccessInfo A;
      A.Id = 5000 + Block;
      A.Block = Block;
      A.Use = MemoryUse::Store;
      A.Space = Space;
      H.K.Info.Accesses.push_back(A);
      AccessCounts C;
      C.Requests = H.K.Blocks[Block].Warps;
      C.Wavefronts = 3 * C.Requests;
      H.K.Accesses.push_back(C);
    }
    const Foreseen F = foreseenOf(H, Alike, "");
    ASSERT_TRUE(F.Added);
    EXPECT_DOUBLE_EQ(F.Added->Requests, -25);
    EXPECT_DOUBLE_EQ(F.Added->Wavefronts,
                     Space == MemorySpace::Shared ? -75 : -25);
  }
}

/// Each candidate melds what it would: that with the usual threshold leaves
/// alone what another takes, and says so itself.
TEST(MeldForecast, CandidatesDiffer) {
  const auto H = splitting(Warps);
  EXPECT_FALSE(foreseenOf(H, Alike, "").IsRefused);
  EXPECT_FALSE(foreseenOf(H, Short, "threshold=0").IsRefused);
  const std::string Skip =
      "threshold=0;skip=" + std::to_string(H.K.Info.Branches[0].Id);
  EXPECT_TRUE(foreseenOf(H, Alike, Skip).IsRefused);
  EXPECT_EQ(foreseenOf(H, Alike, Skip).Slots[0], 0);
  EXPECT_TRUE(foreseenOf(H, Alike, "nonsense=1").IsRefused);
}

} // namespace
