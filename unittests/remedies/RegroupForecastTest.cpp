//===- unittests/remedies/RegroupForecastTest.cpp - What is worth a trial -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half of the lanes of each warp take one side of a branch on data, half the
// other.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/regroup/Forecast.h"

#include "../model/HandMade.h"

#include "analysis/Numbering.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 31250; // a million threads
using Texts = std::vector<std::string>;

/// What is guessed if a launch of the kernel took \p Seconds on a GPU, or on a
/// CPU, and putting its threads in order gives back a tenth.
Texts guessed(double Seconds, bool OnGpu, uint64_t Launches = 1,
              size_t Shapes = 1, const char *Reason = "load") {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps * Launches;
  H.K.Launches = Launches;
  H.K.Shapes.resize(Shapes);
  H.K.Seconds = Seconds * double(Launches);
  H.K.OnGpu = OnGpu;
  const uint32_t First = H.block(10, Warps, 32 * Warps),
                 Then = H.block(500, Warps, 16 * Warps),
                 Else = H.block(500, Warps, 16 * Warps);
  H.block(1, Warps, 32 * Warps);
  H.branch(BranchKind::IfElse, First, {Then, Else}, {Then, Else}, Warps,
           {16 * Warps, 16 * Warps});
  H.K.Info.Branches[0].Reason = Reason;
  AccessInfo Gather;
  Gather.Id = 7;
  Gather.Use = MemoryUse::Load;
  H.K.Info.Accesses = {Gather};
  AccessCounts Counts;
  Counts.Sectors = 32 * Warps;
  Counts.LeastSectors = 4 * Warps;
  H.K.Accesses = {Counts};
  KernelCost Cost = model::costOf(H.K);
  Cost.Branches[0].RecoverSlots.InGrid = Cost.Slots / 10;
  return regroup::guess(H.K, Cost);
}

TEST(RegroupForecast, WithAndWithoutThePlace) {
  const Texts All = {"branch=0", "branch=0;window=on",
                     "branch=0;locality=12;gather=7"};
  EXPECT_EQ(guessed(1e-3, true), All);
  EXPECT_EQ(guessed(1e-6, false), All) << "a CPU runs small examples";
}

TEST(RegroupForecast, AKernelThatIsOverBeforeTheSortIsLeftAlone) {
  const Texts ByClass = {"branch=0", "branch=0;window=on"};
  EXPECT_EQ(guessed(60e-6, true), ByClass) << "a place takes 65 us";
  EXPECT_EQ(guessed(30e-6, true), Texts{"branch=0;window=on"})
      << "an order takes 35 us";
  EXPECT_EQ(guessed(14e-6, true), Texts{}) << "one within windows 15 us";
}

TEST(RegroupForecast, AnOrderServesLaunchesThatRepeat) {
  const Texts All = {"branch=0", "branch=0;reuse=on", "branch=0;window=on",
                     "branch=0;locality=12;gather=7",
                     "branch=0;locality=12;gather=7;reuse=on"};
  EXPECT_EQ(guessed(1e-3, true, 10), All);
  EXPECT_EQ(guessed(1e-3, true, 9).size(), 3u) << "too few";
  EXPECT_EQ(guessed(1e-3, true, 19, 2).size(), 3u) << "too few of each shape";
  EXPECT_EQ(guessed(1e-3, true, 800, 8).size(), 3u) << "more shapes than known";
  const Texts Reused = {"branch=0;reuse=on", "branch=0;window=on",
                        "branch=0;locality=12;gather=7;reuse=on"};
  EXPECT_EQ(guessed(30e-6, true, 10), Reused)
      << "a tenth of an order is shorter";
}

TEST(RegroupForecast, WhatTheThreadsNumberDecidesIsKnownBest) {
  EXPECT_EQ(guessed(1e-3, true, 1, 1, "thread id"),
            guessed(1e-3, true, 1, 1, "load"));
}

/// What is foreseen of a kernel whose threads read side by side, then a factor that
/// is one for all. Of a warp one in \p Rare goes the second way, at the branch
/// number \p Counted, of which the code has 0.
Foreseen foreseen(unsigned Rare, StringRef Parameters, uint32_t Counted = 0) {
  LLVMContext Context;
  SMDiagnostic Error;
  const std::unique_ptr<Module> M = parseAssemblyString(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) noalias readonly %p,
                          ptr addrspace(1) noalias %q) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %tid to i64
  %mine = getelementptr inbounds float, ptr addrspace(1) %p, i64 %wide
  %x = load float, ptr addrspace(1) %mine
  %f = load float, ptr addrspace(1) %p
  %out = getelementptr inbounds float, ptr addrspace(1) %q, i64 %wide
  %c = fcmp olt float %x, 0.0
  br i1 %c, label %then, label %else
then:
  %a = fdiv float %f, %x
  br label %last
else:
  %b = fmul float %f, %x
  br label %last
last:
  %r = phi float [ %a, %then ], [ %b, %else ]
  store float %r, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)",
                                                        Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  if (!M)
    return {};
  analysis::numberBlocks(*M);
  Function &F = *M->getFunction("k");
  const analysis::KernelNumbers Numbers = analysis::numbersOf(F);
  HandMadeKernel H;
  H.K.Launches = 1;
  H.K.Threads = 32 * Warps;
  const uint32_t First = H.block(10, Warps, 32 * Warps),
                 Then = H.block(500, Warps, 32 * Warps / Rare),
                 Else = H.block(500, Warps, 32 * Warps - 32 * Warps / Rare);
  H.block(1, Warps, 32 * Warps);
  H.branch(BranchKind::IfElse, First, {Then, Else}, {Then, Else}, Warps,
           {32 * Warps / Rare, 32 * Warps - 32 * Warps / Rare});
  EXPECT_EQ(Numbers.Branches, std::vector<uint32_t>{0});
  H.K.Info.Branches[0].Id = Counted;
  H.K.Info.Branches[0].Reason = "load";
  for (size_t A : {0, 1, 2}) {
    AccessInfo Info;
    Info.Id = Numbers.Accesses[A];
    Info.Block = A == 2 ? 3 : 0;
    Info.Bytes = 4;
    Info.Use = A == 2 ? MemoryUse::Store : MemoryUse::Load;
    H.K.Info.Accesses.push_back(Info);
    AccessCounts C;
    C.Requests = C.Wavefronts = Warps;
    C.Lanes = 32 * Warps;
    C.Sectors = (A == 1 ? 1 : 4) * Warps;
    H.K.Accesses.push_back(C);
  }
  H.K.Vectors.Classes = {{1, 1, 0, 1}, {1, 0, 1, 1}};
  ThreadVectors::ThreadBlock &Block = H.K.Vectors.Blocks.emplace_back();
  for (unsigned T = 0; T != 32; ++T)
    Block.ClassOf.push_back(T % Rare ? 1 : 0);
  // As run, a warp comes to both sides; in order, to one or the other.
  RegroupedCounts &R = H.K.Regrouped;
  R.Launches = 1;
  R.Threads = 32 * Warps;
  for (const BlockCounts &Block : H.K.Blocks) {
    R.Lanes.push_back(Block.Lanes);
    R.Warps.push_back(Block.Warps);
    R.InGrid.push_back(Block.Lanes / 32);
  }
  R.InWarp = R.InBlock = R.Warps;
  return regroup::foresee(F, H.K, Parameters);
}

TEST(RegroupForecast, ThreadsOfAClassLieApart) {
  const double Sector = 32 * Warps; // a lane's, of all
  // Neighbours are two apart: twice the sectors; of what all read none more.
  const Foreseen Half = foreseen(2, "branch=0");
  ASSERT_TRUE(Half.Added);
  EXPECT_FALSE(Half.IsRefused);
  EXPECT_DOUBLE_EQ(Half.Added->LoadSectors, Sector / 8 + 4 * Warps)
      << "the key reads what decides";
  EXPECT_DOUBLE_EQ(Half.Added->FirstSectors, Sector / 8);
  EXPECT_DOUBLE_EQ(Half.Added->StoreSectors, Sector / 8);
  // One in 16 has a sector of its own, for the rest little changes.
  const Foreseen Few = foreseen(16, "branch=0");
  EXPECT_DOUBLE_EQ(Few.Added->LoadSectors, Sector / 16 + 4 * Warps);
  EXPECT_TRUE(foreseen(2, "nonsense=1").IsRefused);
}

TEST(RegroupForecast, AnOrderHasItsPrice) {
  const Foreseen Each = foreseen(2, "branch=0"),
                 Reused = foreseen(2, "branch=0;reuse=on"),
                 ByPlace = foreseen(2, "branch=0;locality=12");
  // A slice of the first of three blocks, and what writes its key.
  EXPECT_GT(Each.Added->Slots, 5.0 * Warps);
  EXPECT_LT(Each.Added->Slots, 50.0 * Warps);
  EXPECT_NEAR(Reused.Added->Slots, Each.Added->Slots / 10, Warps);
  EXPECT_DOUBLE_EQ(Each.Added->Seconds, 25e-12 * 32 * Warps);
  EXPECT_DOUBLE_EQ(Reused.Added->Seconds, Each.Added->Seconds / 10);
  EXPECT_DOUBLE_EQ(ByPlace.Added->Seconds, 45e-12 * 32 * Warps);
}

TEST(RegroupForecast, WithinWindowsNeighboursAreNear) {
  const Foreseen Grid = foreseen(2, "branch=0"),
                 Window = foreseen(2, "branch=0;window=on");
  EXPECT_DOUBLE_EQ(Window.Added->LoadSectors, Grid.Added->LoadSectors);
  EXPECT_EQ(Window.Added->FirstSectors, 0) << "blocks share them";
  EXPECT_DOUBLE_EQ(Window.Added->Seconds, 10e-12 * 32 * Warps);
}

TEST(RegroupForecast, WhatTheKeyLeavesOutDoesNotComeBack) {
  EXPECT_GT(foreseen(2, "branch=0").Slots[0], 0);
  EXPECT_EQ(foreseen(2, "branch=0", /*Counted=*/1).Slots[0], 0)
      << "what was counted is another branch";
  EXPECT_GT(foreseen(2, "estimate=base:1;locality=4").Slots[0], 0)
      << "an estimate may know it";
}

} // namespace
