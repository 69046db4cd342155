//===- unittests/remedies/MixingTest.cpp - Sectors of mixed warps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block of 100 full warps, whose lanes read four bytes each.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Mixing.h"

#include "analysis/Numbering.h"

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

/// \p Sectors of each request, of which \p Counted were looked at.
test::HandMadeKernel reading(uint64_t Sectors, uint64_t Counted = Warps,
                             MemoryUse Use = MemoryUse::Load) {
  test::HandMadeKernel H;
  const uint32_t Block = H.block(4, Warps, 32 * Warps);
  H.K.Launches = 1;
  H.K.Info.Accesses.push_back({0, Block, Use, MemorySpace::Global, 4, {}});
  AccessCounts C;
  C.Requests = Counted;
  C.Lanes = 32 * Counted;
  C.Sectors = Sectors * Counted;
  C.Wavefronts = Counted;
  H.K.Accesses.push_back(C);
  return H;
}

AddedWork alone(const test::HandMadeKernel &H) {
  return mixed(H.K, 32,
               [](const AccessInfo &, const LaneSectors &S) { return S.Most; });
}

/// Four sectors of a request become 32, of as many lines: eight wavefronts, and
/// the fullest of four banks has more.
TEST(Mixing, LanesThatMoveApartHaveSectorsOfTheirOwn) {
  const AddedWork Added = alone(reading(4));
  EXPECT_DOUBLE_EQ(Added.LoadSectors, 28 * Warps);
  EXPECT_EQ(Added.StoreSectors, 0);
  EXPECT_GT(Added.Wavefronts, 7 * Warps);
  EXPECT_LT(Added.Wavefronts, 12 * Warps);
  EXPECT_DOUBLE_EQ(Added.PathCycles, Added.Wavefronts);
  const AddedWork Stores = alone(reading(4, Warps, MemoryUse::Store));
  EXPECT_EQ(Stores.LoadSectors, 0);
  EXPECT_DOUBLE_EQ(Stores.StoreSectors, 28 * Warps);
}

TEST(Mixing, LanesThatAreApartStaySo) {
  const AddedWork Added = alone(reading(32));
  EXPECT_EQ(Added.LoadSectors, 0);
  EXPECT_EQ(Added.Wavefronts, 0);
  EXPECT_EQ(Added.PathCycles, 0);
  EXPECT_EQ(Added.ApartLoads, 0);
}

TEST(Mixing, LanesInUnlikePlacesMissEachForItself) {
  test::HandMadeKernel H = reading(4);
  EXPECT_DOUBLE_EQ(alone(H).ApartLoads, 1);
  EXPECT_DOUBLE_EQ(alone(H).Apart, 1 + 28) << "four sectors were one place";
  // Beside as many requests that stay as they are.
  H.K.Info.Accesses.push_back(H.K.Info.Accesses[0]);
  H.K.Accesses.push_back(reading(32).K.Accesses[0]);
  EXPECT_DOUBLE_EQ(alone(H).ApartLoads, 0.5);
  EXPECT_DOUBLE_EQ(alone(H).Apart, 29);
}

TEST(Mixing, WhatWasLookedAtStandsForAll) {
  EXPECT_DOUBLE_EQ(alone(reading(4, Warps / 4)).LoadSectors, 28 * Warps);
  test::HandMadeKernel H = reading(4);
  H.K.Accesses.clear();
  EXPECT_EQ(alone(H).LoadSectors, 0) << "nothing was counted";
}

/// A table of 8 sectors has no more of them for whoever asks.
TEST(Mixing, SmallTablesHaveFewSectors) {
  test::HandMadeKernel H = reading(7);
  H.K.Touched.GridLoads = 8;
  EXPECT_LT(alone(H).LoadSectors, 1.0 * Warps);
  EXPECT_GT(alone(H).LoadSectors, 0.5 * Warps);
  EXPECT_DOUBLE_EQ(distinct(1, 8), 1);
  EXPECT_NEAR(distinct(2, 8), 15.0 / 8, 1e-12);
  EXPECT_EQ(distinct(5, 1), 1);
}

TEST(Mixing, OtherMemoryIsLeftAlone) {
  for (MemorySpace Space : {MemorySpace::Shared, MemorySpace::Local}) {
    test::HandMadeKernel H = reading(4);
    H.K.Info.Accesses[0].Space = Space;
    EXPECT_EQ(alone(H).LoadSectors, 0);
  }
}

/// p[0] is one address for all; p[j], in the inner loop, for all that run it
/// together; p[i] for all that are in one round of the outer loop, and p[tid] for
/// no two.
TEST(Mixing, AddressesInCommon) {
  LLVMContext Context;
  SMDiagnostic Error;
  const std::unique_ptr<Module> M = parseAssemblyString(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr addrspace(1) %p, i32 %tid
  %n = load i32, ptr addrspace(1) %mine
  %first = load i32, ptr addrspace(1) %p
  br label %outer
outer:
  %i = phi i32 [ 0, %0 ], [ %i.next, %latch ]
  %at.i = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %u = load i32, ptr addrspace(1) %at.i
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %at.j = getelementptr i32, ptr addrspace(1) %p, i32 %j
  %v = load i32, ptr addrspace(1) %at.j
  %j.next = add i32 %j, 1
  %more.j = icmp slt i32 %j.next, 10
  br i1 %more.j, label %inner, label %latch
latch:
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %outer, label %last
last:
  store i32 %first, ptr addrspace(1) %mine
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)",
                                                        Error, Context);
  ASSERT_TRUE(M) << Error.getMessage().str();
  analysis::numberBlocks(*M);
  Function &F = *M->getFunction("k");
  // In program order: mine, first, i, j, mine.
  const std::vector<uint32_t> Ids = analysis::numbersOf(F).Accesses;
  ASSERT_EQ(Ids.size(), 5u);
  const auto Named = [&](StringRef Name) -> const BasicBlock & {
    return *find_if(F,
                    [&](const BasicBlock &B) { return B.getName() == Name; });
  };
  const auto RoundsOf = [&](StringRef Header) {
    return commonAddresses(F, &Named(Header));
  };
  using Numbers = DenseSet<uint32_t>;
  const Numbers All = {Ids[1], Ids[2], Ids[3]};
  EXPECT_EQ(commonAddresses(F).InStep, All);
  EXPECT_EQ(commonAddresses(F).InAnyRound, All);
  EXPECT_EQ(RoundsOf("outer").InStep, All);
  EXPECT_EQ(RoundsOf("outer").InAnyRound, Numbers({Ids[1], Ids[3]}));
  EXPECT_EQ(RoundsOf("inner").InAnyRound, Numbers({Ids[1]}));
  // A thread's own addresses, too.
  EXPECT_EQ(sameInRounds(F, Named("outer"), 1),
            Numbers({Ids[0], Ids[1], Ids[3], Ids[4]}));
  EXPECT_EQ(sameInRounds(F, Named("inner"), 1),
            Numbers({Ids[0], Ids[1], Ids[2], Ids[4]}));
  EXPECT_EQ(sameInRounds(F, Named("inner"), 2),
            Numbers({Ids[0], Ids[1], Ids[4]}));
}

} // namespace
