//===- ProbePlanTest.cpp - Counters by hand, and what follows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "instrument/Decode.h"

#include "analysis/Numbering.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <optional>

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

/// A loop whose rounds have \p Tests divergent branches, then \p Inner; lanes
/// enter it in two places if it is to be \p Irreducible.
static std::string loop(StringRef Name, unsigned Tests, StringRef Inner,
                        StringRef Exit, bool Irreducible) {
  std::string Text;
  raw_string_ostream OS(Text);
  auto At = [&](unsigned I) { return (Name + Twine(I)).str(); };
  OS << Name << ":\n  br "
     << (Irreducible ? "i1 %c, label %" + At(1) + ", label %" : "label %")
     << At(0) << "\n";
  for (unsigned I = 0; I != Tests; ++I)
    OS << At(I) << ":\n  br i1 %c, label %" << At(I) << "side, label %"
       << At(I + 1) << "\n"
       << At(I) << "side:\n  store volatile i32 1, ptr %p\n  br label %"
       << At(I + 1) << "\n";
  const std::string Back = "br i1 %c, label %" + At(0) + ", label %";
  OS << At(Tests) << ":\n  "
     << (Inner.empty() ? Back + Exit.str() : "br label %" + Inner.str())
     << "\n";
  if (!Inner.empty())
    OS << Name << "end:\n  " << Back << Exit << "\n";
  return Text;
}

namespace {
class ProbeWords : public testing::Test {
protected:
  void plan(const std::string &Loops);

  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::optional<ProbePlan> Plan;
};
} // namespace

/// Every counter with a byte is looked at in each round of its loop.
void ProbeWords::plan(const std::string &Loops) {
  const std::string Text = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br label %outer
)" + Loops + "end:\n  ret void\n}\n";
  SMDiagnostic Error;
  M = parseAssemblyString(Text, Error, Context);
  ASSERT_TRUE(M) << Error.getMessage().str() << Text;
  analysis::numberBlocks(*M);
  Function &F = *M->getFunction("k");
  Plan.emplace(F);
  CycleInfo Cycles;
  Cycles.compute(F);
  auto Check = [&](ProbeCounter C, unsigned Site) {
    if (!Plan->isNarrow(C.Word))
      return;
    const unsigned Register =
        (C.Word - Plan->WholeWords) / ProbePlan::BytesOfRegister;
    const Cycle *Where = Cycles.getCycle(Plan->Code[Site]);
    ASSERT_TRUE(Where && Where->isReducible());
    EXPECT_TRUE(any_of(Plan->Carries,
                       [&](const ProbePlan::Carry &At) {
                         return Plan->Code[At.Header] == Where->getHeader() &&
                                At.First <= Register && Register <= At.Last;
                       }))
        << "of block " << Site;
  };
  for (const FlowEdge &E : Plan->Edges)
    if (E.Probe)
      Check(*E.Probe, E.Site);
  for (const WarpGroup &G : Plan->Groups)
    Check(G.Probe, G.Site);
  for (const SplitProbe &S : Plan->Splits)
    Check(S.Probe, S.Side.value_or(S.Block));
}

TEST_F(ProbeWords, BytesAreLookedAtInEachRound) {
  plan(loop("outer", 3, "inner", "end", false) +
       loop("inner", 3, "", "outerend", false));
  EXPECT_EQ(Plan->Carries.size(), 2u);
  EXPECT_GT(Plan->NarrowWords, 20u);
}

TEST_F(ProbeWords, RegistersGoToInnerLoopsFirst) {
  plan(loop("outer", 9, "inner", "end", false) +
       loop("inner", 9, "", "outerend", false));
  EXPECT_LE(Plan->WholeWords + Plan->narrowRegisters(), 10u);
  EXPECT_GT(Plan->wideWords(), 40u);
  for (const FlowEdge &E : Plan->Edges)
    if (E.Probe && !Plan->isPacked(E.Probe->Word) &&
        Plan->Code[E.Site]->getName().starts_with("inner0"))
      EXPECT_TRUE(Plan->isNarrow(E.Probe->Word));
}

TEST_F(ProbeWords, LoopsOfTwoEntriesHaveNoBytes) {
  plan(loop("outer", 9, "", "end", true));
  EXPECT_EQ(Plan->NarrowWords, 0u);
  EXPECT_TRUE(Plan->Carries.empty());
  EXPECT_GT(Plan->wideWords(), 20u);
}

TEST_F(ProbeWords, AreTheSameForEveryCopyOfTheCode) {
  // Who inserts probes and who reads counters have different copies, whose uses
  // are in another order.
  plan(loop("outer", 9, "inner", "end", false) +
       loop("inner", 5, "", "outerend", false));
  for (BasicBlock &BB : *M->getFunction("k"))
    BB.reverseUseList();
  const ProbePlan Other(*M->getFunction("k"));
  for (auto [A, B] : zip_equal(Plan->Edges, Other.Edges))
    EXPECT_EQ(A.Probe ? A.Probe->Word : ~0u, B.Probe ? B.Probe->Word : ~0u);
  for (auto [A, B] : zip_equal(Plan->Groups, Other.Groups))
    EXPECT_EQ(A.Probe.Word, B.Probe.Word);
  for (auto [A, B] : zip_equal(Plan->Splits, Other.Splits))
    EXPECT_EQ(A.Probe.Word, B.Probe.Word);
}
