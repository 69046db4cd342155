//===- unittests/remedies/RefillForecastTest.cpp - Which loop, and how ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop, in which lanes make a mean number of rounds and warps eight times as
// many, between a prologue and an epilogue. An instruction takes a slot. Warps
// are so many that a GPU holds few of them at once.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/refill/Forecast.h"

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

constexpr uint64_t Warps = 1000000;

/// \p Size: instructions of a round; \p Around: of all other code.
HandMadeKernel loopOf(uint64_t Mean, uint32_t Size, uint32_t Around,
                      uint64_t Warps = ::Warps) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  uint32_t First = H.block(Around, Warps, 32 * Warps),
           Body = H.block(Size, 8 * Mean * Warps, Mean * 32 * Warps),
           Last = H.block(1, Warps, 32 * Warps);
  (void)First;
  H.branch(BranchKind::LoopExit, Body, {Body, Last}, {Body}, Warps * Mean,
           {(Mean - 1) * 32 * Warps, 32 * Warps});
  return H;
}

KernelCost costOf(const KernelProfile &K) {
  Profile P;
  P.Kernels = {K};
  return model::costOf(P, {}).Kernels.front();
}

/// Slots of \p H refilled.
double slotsOf(const HandMadeKernel &H) {
  const KernelCost Cost = costOf(H.K);
  const BranchBound Bound = refill::boundAt(H.K, Cost, 0);
  return Cost.Slots - Bound.Gain + Bound.Price;
}

double forecastOf(const HandMadeKernel &H) {
  return costOf(H.K).Slots / slotsOf(H);
}

TEST(RefillForecast, LongLoopsOfFewLanesGain) {
  const HandMadeKernel H = loopOf(200, 40, 30);
  const KernelCost Cost = costOf(H.K);
  const BranchBound Bound = refill::boundAt(H.K, Cost, 0);
  // 7 of 8 lanes idle in 8 * 200 * 40 slots a warp.
  EXPECT_DOUBLE_EQ(Bound.Gain, 7.0 * 200 * 40 * Warps);
  // 200 * 40 slots of full warps, and what votes and idle lanes add to them.
  EXPECT_GT(Bound.Price, 200.0 * 6 * Warps);
  EXPECT_LT(Bound.Price, 200.0 * 20 * Warps);
}

TEST(RefillForecast, WhatIsGuessed) {
  const std::vector<std::string> All = refill::guess(loopOf(200, 40, 30).K);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(All[0], "threshold=4;rounds=4;branch=0");
  EXPECT_EQ(All[1], "threshold=8;rounds=4;branch=0");
  EXPECT_EQ(All[2], "threshold=4;rounds=4;source=slice;slice=32;branch=0");
  // The more there is to do around the loop, the more lanes should share it.
  EXPECT_TRUE(refill::guess(loopOf(10, 40, 300).K)
                  .front()
                  .starts_with("threshold=16;"));
}

TEST(RefillForecast, ShortItemsComeInLongerSlices) {
  // 528 schedulers issue what 32 items take in less than two cycles.
  EXPECT_EQ(refill::guess(loopOf(10, 36, 96).K)[0],
            "threshold=16;rounds=4;slice=8;branch=0");
}

TEST(RefillForecast, ALaneWithOneItemGainsNothing) {
  // The GPU holds 8,448 warps: these are one, two and many for each of them.
  const double Once = forecastOf(loopOf(200, 40, 30, 8448)),
               Twice = forecastOf(loopOf(200, 40, 30, 2 * 8448)),
               Often = forecastOf(loopOf(200, 40, 30, 64 * 8448));
  EXPECT_LT(Once, Often);
  EXPECT_LT(Twice, Often);
  // So fewer warps are launched, as far as they hide latencies.
  EXPECT_EQ(refill::guess(loopOf(200, 40, 30, 8448).K)[0],
            "threshold=4;rounds=4;items=4;branch=0");
  HandMadeKernel Waits = loopOf(200, 40, 30, 8448);
  Waits.K.Info.Blocks[1].Path = 40 * 16;
  EXPECT_TRUE(refill::guess(Waits.K).empty());
}

/// With more than one item a lane wanted, a launch that is somewhat larger than the
/// GPU would take a part of it.
TEST(RefillForecast, ASmallLaunchStandsForALargeOne) {
  const std::vector<std::string> Small =
      refill::guess(loopOf(200, 40, 30, 100).K);
  EXPECT_EQ(Small[0], "threshold=4;rounds=4;branch=0");
  for (const std::string &Way : Small)
    EXPECT_EQ(Way.find("items=") + 1 + Way.find("slice=") + 1, 0u) << Way;
  // On a GPU it is as large as it will be: fewer warps take as much longer.
  HandMadeKernel Whole = loopOf(200, 40, 30, 100);
  Whole.K.OnGpu = true;
  EXPECT_TRUE(refill::guess(Whole.K).empty());
  HandMadeKernel Large = loopOf(200, 40, 30);
  Large.K.OnGpu = true;
  EXPECT_EQ(refill::guess(Large.K), refill::guess(loopOf(200, 40, 30).K));
}

/// A side that a third of the lanes take in each round: in seven of ten of the
/// original's, or \p Together.
HandMadeKernel withSide(bool Together) {
  HandMadeKernel H = loopOf(200, 40, 30);
  const uint64_t Lanes = H.K.Blocks[1].Lanes / 3;
  const uint64_t Rounds = H.K.Blocks[1].Warps;
  const uint32_t Side =
      H.block(60, Together ? Rounds / 3 : Rounds * 7 / 10, Lanes);
  H.K.Info.Branches[0].Region.push_back(Side);
  return H;
}

TEST(RefillForecast, FullWarpsTakeAllSides) {
  // Some 220 rounds of nearly full warps. Lanes that decide alike take the side
  // in a third of them, others in all.
  EXPECT_GT(slotsOf(withSide(false)) - slotsOf(withSide(true)),
            100.0 * 60 * Warps);
}

TEST(RefillForecast, InnerLoopsThatFewEnterTakeTheirRounds) {
  // 200 rounds of a lane, of which a warp makes twice as many. In every second
  // round a lane makes one of an inner loop, and a warp makes two in each.
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  H.block(20, Warps, 32 * Warps);
  const uint32_t Head = H.block(10, 400 * Warps, 200 * 32 * Warps),
                 Inner = H.block(20, 800 * Warps, 100 * 32 * Warps),
                 Last = H.block(1, Warps, 32 * Warps);
  H.branch(BranchKind::LoopExit, Head, {Inner, Last}, {Head, Inner},
           200 * Warps, {199 * 32 * Warps, 32 * Warps});
  // Full warps do not make fewer of them in a round.
  EXPECT_GT(slotsOf(H), 200.0 * (10 + 2 * 20) * Warps);
}

TEST(RefillForecast, ShortLoopsAreLeftAlone) {
  HandMadeKernel H = loopOf(2, 10, 400);
  EXPECT_TRUE(refill::guess(H.K).empty());
  EXPECT_EQ(refill::boundAt(H.K, costOf(H.K), 0).Gain, 0);
}

TEST(RefillForecast, SharedMemoryMayBeFilledBeforeTheLoop) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Info.StaticShared = 128;
  H.K.Shapes = {{.Block = {256, 1, 1}}};
  EXPECT_TRUE(refill::guess(H.K).empty()) << "nobody fills it";
  AccessInfo Store;
  Store.Block = 0; // before the loop
  Store.Use = MemoryUse::Store;
  Store.Space = MemorySpace::Shared;
  H.K.Info.Accesses = {Store};
  EXPECT_FALSE(refill::guess(H.K).empty());
  EXPECT_LT(slotsOf(H), slotsOf(loopOf(200, 40, 30)))
      << "it costs nothing more with each stop";
  H.K.Info.Accesses[0].Block = 1; // of the loop
  EXPECT_TRUE(refill::guess(H.K).empty());
  H.K.Info.Accesses[0].Block = H.block(1, Warps, 32 * Warps);
  EXPECT_TRUE(refill::guess(H.K).empty()) << "behind the loop";
}

TEST(RefillForecast, OtherBranchesAreNone) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Info.Branches[0].Kind = BranchKind::If;
  EXPECT_TRUE(refill::guess(H.K).empty());
}

/// In each of 64 rounds one lane of 16 has work of \p Size instructions.
HandMadeKernel workOf(uint32_t Size, bool InLoop) {
  constexpr uint64_t Rounds = 64 * Warps;
  HandMadeKernel H;
  H.K.Threads = 32 * Warps;
  H.K.Launches = 1;
  const uint32_t Round = H.block(8, Rounds, 32 * Rounds),
                 Work = H.block(Size, Rounds, 2 * Rounds);
  H.branch(BranchKind::If, Round, {Work, Round}, {Work}, Rounds,
           {2 * Rounds, 30 * Rounds});
  if (InLoop)
    H.K.Info.Blocks[Round].Entries = H.K.Info.Blocks[Work].Entries = {0};
  return H;
}

TEST(RefillForecast, RoundsThatSkipMuchWorkGain) {
  const HandMadeKernel H = workOf(200, true);
  const BranchBound Bound = refill::boundAt(H.K, costOf(H.K), 0);
  EXPECT_DOUBLE_EQ(Bound.Gain, 15.0 / 16 * 200 * 64 * Warps);
  EXPECT_LT(Bound.Price, Bound.Gain / 2);
  const std::string First = refill::guess(H.K).at(0);
  EXPECT_EQ(First.substr(0, 22), "threshold=24;rounds=4;") << First;
  EXPECT_NE(First.find("branch=0"), std::string::npos) << First;
}

TEST(RefillForecast, RoundsThatSkipLittleAreLeftAlone) {
  EXPECT_TRUE(refill::guess(workOf(8, true).K).empty());
}

/// The rounds of workOf(200), 32 for each item, between other code of \p Size
/// instructions, some in loops of its own.
HandMadeKernel workBeside(uint32_t Size) {
  HandMadeKernel H = workOf(200, true);
  const uint32_t Items = 2 * Warps, First = H.block(1, Items, 32 * Items),
                 Other = H.block(Size, Items, 32 * Items);
  H.K.Info.Blocks[0].Successors = {0, 1, Other};
  H.K.Info.Blocks[1].Successors = {0};
  H.K.Info.Blocks[First].Successors = {0};
  H.K.Info.Blocks[Other].Successors = {Other};
  H.K.Info.Blocks[Other].Entries = {0};
  return H;
}

/// Not as many as find work together.
TEST(RefillForecast, FewLanesLeaveRoundsThatSkipWorkTogether) {
  // An item has two lanes' rounds with work in 32: of some 24 lanes that stop, 12
  // leave and run the other code.
  const double More = slotsOf(workBeside(150)) - slotsOf(workBeside(50)),
               Full = 100.0 * 2 * Warps;
  EXPECT_GT(More, Full * 32 / 16);
  EXPECT_LT(More, Full * 32 / 10);
}

/// An inner loop, of ten rounds, that a round of the outer one comes to, or one in
/// four, whose other code is \p Around.
HandMadeKernel seldomIn(uint64_t Often, uint32_t Around) {
  HandMadeKernel H = loopOf(10, 40, 1);
  const uint32_t Outer =
      H.block(Around, Often * Warps, Often * 32 * Warps); // block 3
  H.K.Info.Blocks[0].Successors = {Outer};
  H.K.Info.Blocks[1].Successors = {1, 2};
  H.K.Info.Blocks[2].Successors = {Outer};
  H.K.Info.Blocks[Outer].Successors = {1, Outer};
  return H;
}

TEST(RefillForecast, LanesThatSeldomComeToTheLoopWaitForTheLast) {
  auto More = [](uint64_t Often) {
    return (slotsOf(seldomIn(Often, 9)) - slotsOf(seldomIn(Often, 5))) /
           double(4 * Often * Warps);
  };
  // Of the lanes that stop, more than ten, the last makes three times as many.
  EXPECT_GT(More(4), 2 * More(1));
  EXPECT_LT(More(4), 4 * More(1));
}

TEST(RefillForecast, WhatIsInNoLoopHasNoRounds) {
  EXPECT_TRUE(refill::guess(workOf(200, false).K).empty());
}

/// As of a loop that ends where it finds something, and works on that.
TEST(RefillForecast, WorkBehindTheWayOutOfALoopIsNoRound) {
  HandMadeKernel H = workOf(200, true);
  const uint32_t Behind = H.block(1, Warps, 32 * Warps);
  H.K.Info.Blocks[0].Successors = {0, 1};
  H.K.Info.Blocks[1].Successors = {Behind};
  EXPECT_TRUE(refill::guess(H.K).empty());
}

TEST(RefillForecast, ManyItemsHaveLongSlices) {
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Threads = uint64_t(1) << 26;
  EXPECT_EQ(refill::guess(H.K)[2],
            "threshold=4;rounds=4;source=slice;slice=128;branch=0");
}

/// What is foreseen of loopOf(200, 40, 30), whose lanes read \p Index of p in each
/// round, four sectors for 32 lanes, if refilled by \p Parameters.
Foreseen foreseen(StringRef Index, StringRef Parameters) {
  const std::string Text = (R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr addrspace(1) %p, i32 %tid
  %n = load i32, ptr addrspace(1) %mine
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i32 [ 0, %0 ], [ %more, %loop ]
  %row = mul i32 %i, 4096
  %mixed = add i32 %row, %tid
  %at = getelementptr i32, ptr addrspace(1) %p, i32 )" +
                            Index + R"(
  %v = load i32, ptr addrspace(1) %at
  %more = add i32 %sum, %v
  %next = add i32 %i, 1
  %on = icmp slt i32 %next, %n
  br i1 %on, label %loop, label %last
last:
  store i32 %sum, ptr addrspace(1) %mine
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)")
                               .str();
  LLVMContext Context;
  SMDiagnostic Error;
  const std::unique_ptr<Module> M = parseAssemblyString(Text, Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  if (!M)
    return {};
  analysis::numberBlocks(*M);
  Function &F = *M->getFunction("k");
  const analysis::KernelNumbers Numbers = analysis::numbersOf(F);
  HandMadeKernel H = loopOf(200, 40, 30);
  H.K.Info.Branches[0].Id = Numbers.Branches[0];
  for (uint32_t Block : {0, 1, 2}) { // one in each
    AccessInfo A;
    A.Id = Numbers.Accesses[Block];
    A.Block = Block;
    A.Bytes = 4;
    A.Use = Block == 2 ? MemoryUse::Store : MemoryUse::Load;
    H.K.Info.Accesses.push_back(A);
    AccessCounts C;
    C.Requests = H.K.Blocks[Block].Warps;
    C.Lanes = H.K.Blocks[Block].Lanes;
    C.Sectors = C.Lanes / 8;
    C.Wavefronts = C.Requests;
    H.K.Accesses.push_back(C);
  }
  return refill::foresee(F, H.K, Parameters);
}

TEST(RefillForecast, LanesInOtherRoundsReadFurtherApart) {
  const Foreseen Mixed = foreseen("%mixed", "threshold=4;rounds=4");
  ASSERT_TRUE(Mixed.Added);
  EXPECT_FALSE(Mixed.IsRefused);
  // A sector a lane in place of an eighth, of the loop's access alone.
  EXPECT_NEAR(Mixed.Added->LoadSectors, 7.0 / 8 * 200 * 32 * Warps, 1);
  EXPECT_EQ(Mixed.Added->StoreSectors, 0);
  EXPECT_EQ(Mixed.Added->FirstSectors, 0) << "a block touches what it did";
  EXPECT_GT(Mixed.Added->Wavefronts, 0);
  EXPECT_DOUBLE_EQ(Mixed.Slots[0], 7.0 * 200 * 40 * Warps);
  EXPECT_GT(Mixed.Added->Slots, 0);
  // All read one place, whatever the round.
  EXPECT_EQ(foreseen("7", "threshold=4;rounds=4").Added->LoadSectors, 0);
  // 200 rounds are in 25 sectors, of which 30 lanes read some 18.
  const Foreseen Table = foreseen("%i", "threshold=4;rounds=4");
  EXPECT_GT(Table.Added->LoadSectors, 0.3 * 200 * 32 * Warps);
  EXPECT_LT(Table.Added->LoadSectors, 0.6 * 200 * 32 * Warps);
}

TEST(RefillForecast, EachCandidateHasItsPrice) {
  const double Fewer = foreseen("7", "threshold=4;rounds=4").Added->Slots;
  EXPECT_LT(Fewer, foreseen("7", "threshold=1;rounds=1").Added->Slots);
  EXPECT_LT(Fewer, foreseen("7", "threshold=16;rounds=1").Added->Slots);
  EXPECT_TRUE(foreseen("7", "nonsense=1").IsRefused);
  EXPECT_TRUE(foreseen("7", "threshold=4;branch=99").IsRefused)
      << "there is no such loop";
}

} // namespace
