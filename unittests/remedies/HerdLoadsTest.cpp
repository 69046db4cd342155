//===- unittests/remedies/HerdLoadsTest.cpp - What herding loads may come to =//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of 1e5 warps, each of which makes one gather; the limits are an
// H200's. An instruction takes a slot.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Loads.h"

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
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 100000;

/// out[tid] = table[index[tid]], and, with \p Follows, more[table[...]]. Numbers are those of the accesses, in this order.
std::unique_ptr<Module> gather(LLVMContext &Context, bool Follows) {
  SMDiagnostic Bad;
  auto M = parseAssemblyString(std::string(R"(
    target triple = "nvptx64-nvidia-cuda"
    target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    define ptx_kernel void @k(ptr addrspace(1) %index, ptr addrspace(1) %table,
                              ptr addrspace(1) %more, ptr addrspace(1) %out) {
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %pi = getelementptr i32, ptr addrspace(1) %index, i32 %tid
      %i = load i32, ptr addrspace(1) %pi
      %pt = getelementptr i32, ptr addrspace(1) %table, i32 %i
      %v = load i32, ptr addrspace(1) %pt
  )") +
                                   (Follows ? R"(
      %pn = getelementptr i32, ptr addrspace(1) %more, i32 %v
      %r = load i32, ptr addrspace(1) %pn
  )"
                                            : "%r = add i32 %v, 1") +
                                   R"(
      %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
      store i32 %r, ptr addrspace(1) %po
      ret void
    })",
                               Bad, Context);
  EXPECT_TRUE(M) << Bad.getMessage().str();
  if (M)
    analysis::numberBlocks(*M);
  return M;
}

/// Counts of that kernel: \p Work instructions besides, and gathers of \p Sectors
/// sectors and \p Bytes bytes a lane.
HandMadeKernel counts(const Function &F, uint32_t Work, uint64_t Sectors,
                      uint32_t Bytes = 4) {
  HandMadeKernel H;
  H.K.Launches = 1;
  H.K.Threads = 32 * Warps;
  H.K.WarpsRun = Warps;
  H.K.Shapes = {{{uint32_t(Warps / 8), 1, 1}, {256, 1, 1}, 0}};
  H.block(Work, Warps, 32 * Warps);
  const std::vector<uint32_t> Ids = analysis::numbersOf(F).Accesses;
  for (size_t I = 0; I != Ids.size(); ++I) {
    const bool IsStore = I + 1 == Ids.size(), IsGather = I && !IsStore;
    AccessInfo A;
    A.Id = Ids[I];
    A.Use = IsStore ? MemoryUse::Store : MemoryUse::Load;
    A.Bytes = IsGather ? Bytes : 4;
    H.K.Info.Accesses.push_back(A);
    AccessCounts C;
    C.Requests = Warps;
    C.Lanes = 32 * Warps;
    C.Sectors = Warps * (IsGather ? Sectors : 4);
    C.LeastSectors = 4 * Warps;
    C.Wavefronts = Warps * (IsGather ? std::max<uint64_t>(1, Sectors / 4) : 1);
    C.LeastWavefronts = Warps;
    H.K.Accesses.push_back(C);
    if (!IsStore) {
      H.K.Touched.GridLoads += C.Sectors;
      H.K.Touched.BlockLoads += C.Sectors;
    } else {
      H.K.Touched.GridStores += C.Sectors;
    }
  }
  H.K.Touched.ThreadBlocks = Warps / 8;
  return H;
}

class HerdLoadsTest : public ::testing::Test {
protected:
  std::optional<HerdedLoads> foreseen(uint32_t Work, uint64_t Sectors,
                                      uint32_t Bytes = 4,
                                      bool Follows = false) {
    const auto M = gather(Context, Follows);
    const Function &F = *M->getFunction("k");
    const auto Machine = cantFail(analysis::MachineModel::load(MACHINE_FILE));
    return herdedLoads(F, counts(F, Work, Sectors, Bytes).K, *Machine.limits());
  }
  LLVMContext Context;
};

TEST_F(HerdLoadsTest, GainsWhereMemoryDecides) {
  const auto L = foreseen(10, 32);
  ASSERT_TRUE(L);
  EXPECT_EQ(L->Loads, 1u);
  EXPECT_EQ(L->Now, 32);
  EXPECT_NEAR(L->Then, 4, 0.01);
  EXPECT_GT(L->Speedup, 2);
  EXPECT_NE(
      textOf(*L, "k").find(
          "herding 1 load of k would make 32.0 sectors of a request 4.0: "),
      std::string::npos);
  EXPECT_NE(textOf(*L, "k").find("warp_herd_load"), std::string::npos);
}

TEST_F(HerdLoadsTest, LosesWhereVotesTakeMore) {
  const auto L = foreseen(2000, 5);
  ASSERT_TRUE(L);
  EXPECT_LT(L->Speedup, 1);
  EXPECT_GT(L->Speedup, 0.9);
  EXPECT_FALSE(L->MayGain());
  EXPECT_NE(textOf(*L, "k").find("votes take more"), std::string::npos);
}

TEST_F(HerdLoadsTest, NothingWhereAWarpHasItsBlock) {
  EXPECT_FALSE(foreseen(10, 4));
  EXPECT_FALSE(foreseen(10, 8, 8)) << "32 values of 8 bytes have 8 sectors";
  EXPECT_TRUE(foreseen(10, 12, 8));
  EXPECT_FALSE(foreseen(10, 32, 16)) << "too wide";
}

TEST_F(HerdLoadsTest, NothingOfWhatDecidesAnAddress) {
  const auto L = foreseen(10, 32, 4, /*Follows=*/true);
  ASSERT_TRUE(L);
  EXPECT_EQ(L->Loads, 1u) << "the second alone";
}

} // namespace
