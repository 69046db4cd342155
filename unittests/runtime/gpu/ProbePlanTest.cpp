//===- ProbePlanTest.cpp - Counters by hand, and what follows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "instrument/Decode.h"

#include "analysis/Numbering.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::instrument;

// if (tid < 7) *p = 1;  if (tid & 1) *p = 2;
static constexpr StringLiteral Source = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp slt i32 %tid, 7
  br i1 %few, label %first, label %join
first:
  store i32 1, ptr %p
  br label %join
join:
  %bit = trunc i32 %tid to i1
  br i1 %bit, label %second, label %end
second:
  store i32 2, ptr %p
  br label %end
end:
  ret void
}
)";
enum { Entry, First, Join, Second, End };

namespace {
class ProbePlans : public testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic Error;
    M = parseAssemblyString(Source, Error, Context);
    ASSERT_TRUE(M) << Error.getMessage().str();
    analysis::numberBlocks(*M);
    Plan = std::make_unique<ProbePlan>(*M->getFunction("k"));
    Cells.resize(2 * Plan->cells());
  }
  void set(ProbeCounter C, uint64_t N) { Cells[Plan->cellOf(C)] = N; }

  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::unique_ptr<ProbePlan> Plan;
  std::vector<uint64_t> Cells;
};
} // namespace

TEST_F(ProbePlans, WarpsAreCountedWhereTheyMayComeInParts) {
  // Nobody has parted before the first branch; before the second some have.
  EXPECT_EQ(Plan->GroupOf[Entry], ProbePlan::NoGroup);
  ASSERT_NE(Plan->GroupOf[Join], ProbePlan::NoGroup);
  EXPECT_EQ(Plan->Groups[Plan->GroupOf[Join]].Site, unsigned(Join));
  EXPECT_EQ(Plan->GroupOf[End], ProbePlan::NoGroup);
}

TEST_F(ProbePlans, PartsOfAWarpMaySplitEach) {
  // One warp. Lanes 0 to 6 come to the second branch on their own, and the
  // others do; both parts split.
  for (const FlowEdge &E : Plan->Edges)
    if (E.Probe)
      set(*E.Probe, E.To == First     ? 7
                    : E.To == Second  ? 16
                    : E.From == Entry ? 25
                    : E.From == Join  ? 16
                    : E.From == First ? 7
                                      : 16);
  for (const WarpGroup &G : Plan->Groups)
    set(G.Probe, G.Site == First ? 1 : 2);
  for (const SplitProbe &S : Plan->Splits)
    set(S.Probe, S.Block == Entry ? 1 : 2);
  LaunchShape Shape;
  Shape.Block = {32, 1, 1};
  const FunctionCounts Counts = decode(*Plan, Cells, threadsOf(Shape));
  EXPECT_EQ(Counts.Blocks[Entry].Warps, 1u);
  EXPECT_EQ(Counts.Blocks[Join].Warps, 2u);
  EXPECT_EQ(Counts.Blocks[Join].Lanes, 32u);
  EXPECT_EQ(Counts.Branches[Join].Warps, 2u);
  EXPECT_EQ(Counts.Branches[Join].Splits, 2u);
  EXPECT_EQ(Counts.Branches[Join].LanesTo, (std::vector<uint64_t>{16, 16}));
}
