//===- BoundedTrialTest.cpp - A bound, from the trial to the report -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No remedy promises a bound only yet, so one is planted: it leaves work out
// that matters little. It is tried on the warp VM; what the log says of it is
// decided upon, written, read and printed as `optimize` does.
//
//===----------------------------------------------------------------------===//

#include "analysis/Numbering.h"
#include "core/DecisionJson.h"
#include "driver/Decide.h"
#include "report/Decisions.h"
#include "runtime/vm/Trials.h"
#include "warpvm/memory/DeviceMemory.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;
using warpvm::DeviceMemory;
using warpvm::MemoryKind;

namespace {

/// out[thread] = 1 + thread + in[thread] * in[thread] + in[thread], where in is
/// what out held: 64 floats. "sums" adds them up behind that, in any order.
const char Kernels[] = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @series(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %p = getelementptr inbounds float, ptr %out, i64 %i
  %x = load float, ptr %p, align 4
  %f = uitofp i32 %t to float
  %a = fadd float %f, 1.0
  %small = fmul float %x, %x
  %b = fadd float %a, %small
  store float %b, ptr %p, align 4
  ret void
}
define void @sums(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %p = getelementptr inbounds float, ptr %out, i64 %i
  %x = load float, ptr %p, align 4
  %small = fmul float %x, %x
  %f = uitofp i32 %t to float
  %g = fmul float %f, 0x3FB99999A0000000
  %b = fadd float %g, %small
  %n = getelementptr inbounds float, ptr %out, i64 64
  %old = atomicrmw fadd ptr %n, float %b monotonic
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @series, !"kernel", i32 1}
!1 = !{ptr @sums, !"kernel", i32 1}
)";

/// Takes what is added last for the nothing that it nearly is.
Expected<remedies::Applied> leaveOut(const Candidate &What, Function &F) {
  for (Instruction &I : instructions(F))
    if (I.getName() == "b" || I.getName() == "small") {
      Value *Left = I.getName() == "b" ? I.getOperand(0)
                                       : ConstantFP::get(I.getType(), 0);
      I.replaceAllUsesWith(Left);
      I.eraseFromParent();
      analysis::renumberBlocks(*F.getParent());
      return remedies::Applied{true, {}};
    }
  return remedies::Applied{false, {}};
}

const Candidate Rough{"rough", "", Promise::Bound},
    Strict{"rough", "as if exact", Promise::Bytes};

class BoundedTrialTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createTemporaryFile("plan", "json", PlanFile));
    ASSERT_FALSE(sys::fs::createTemporaryFile("log", "txt", LogFile));
    warpvm::MachineOptions Options;
    Options.Threads = 1;
    On = cantFail(warpvm::Machine::create(Options));
    LLVMContext Context;
    SMDiagnostic Problem;
    auto M = parseAssemblyString(Kernels, Problem, Context);
    ASSERT_TRUE(M) << Problem.getMessage().str();
    analysis::numberBlocks(*M);
    raw_svector_ostream OS(Bitcode);
    WriteBitcodeToFile(*M, OS);
    P = cantFail(
        On->load(MemoryBufferRef({Bitcode.data(), Bitcode.size()}, "series"),
                 [](uint64_t, uint64_t, StringRef) -> Expected<void *> {
                   return createStringError("no variables");
                 }));
    Out = static_cast<float *>(cantFail(
        DeviceMemory::instance().allocate(4096 * 4, MemoryKind::Device)));
  }
  void TearDown() override {
    EXPECT_TRUE(DeviceMemory::instance().release(Out));
    sys::fs::remove(PlanFile);
    sys::fs::remove(LogFile);
  }

  /// The decision on \p Name where out holds \p In, launched once for each.
  Decision decisionOn(const char *Name, std::vector<float> In,
                      std::optional<Tolerance> Bound,
                      std::vector<Candidate> Candidates,
                      bool AllowReorder = false) {
    TrialPlan Plan;
    Plan.Log = LogFile.str().str();
    Plan.Bound = Bound;
    Plan.Launches = 8; // all
    Plan.Kernels = {{Name, P->hash().str(), std::move(Candidates)}};
    cantFail(writeTrialPlan(Plan, PlanFile));
    (void)sys::fs::remove(LogFile);
    auto T = cantFail(VmTrials::create(
        PlanFile, cantFail(analysis::MachineModel::load(MACHINE_FILE)),
        leaveOut));
    warpvm::Kernel &K = *cantFail(P->kernel(Name));
    const LaunchShape Shape{{1, 1, 1}, {64, 1, 1}, 0};
    void *Args[] = {&Out};
    for (float X : In) {
      std::fill_n(Out, 4096, X);
      LaunchCounts Counts;
      cantFail(T->launch(
          {*On, *P, K, Shape, Args},
          [&] { return On->launch(K, Shape, Args, {&Counts}); }, Counts));
    }
    driver::DecideOptions Options;
    Options.Bound = Bound;
    Options.AllowReorder = AllowReorder;
    return driver::decide(Plan.Kernels[0], Name,
                          cantFail(readTrialLog(LogFile)), Options);
  }

  /// As the user reads it, by way of the file.
  std::string reportOf(const Decision &D) {
    DecisionFile File;
    File.Program = "series.cu";
    File.Device = "the warp VM";
    File.Kernels = {D};
    std::string Json, Text;
    raw_string_ostream JsonOS(Json), TextOS(Text);
    printDecisions(File, JsonOS);
    report::TerminalOptions Terminal;
    Terminal.Width = 200;
    report::printDecisions(cantFail(parseDecisions(Json, "d.json")), TextOS,
                           Terminal);
    return Text;
  }

  SmallString<64> PlanFile, LogFile;
  std::unique_ptr<warpvm::Machine> On;
  SmallVector<char, 0> Bitcode;
  std::unique_ptr<warpvm::Program> P;
  float *Out = nullptr;
};

TEST_F(BoundedTrialTest, WhatLiesInsideIsKeptAndSaysSo) {
  // The square of 2^-10 is 9.5e-7 beside the 1 of the first thread.
  const Decision D =
      decisionOn("series", {1.0f / 1024}, Tolerance{1e-5, 0}, {Rough});
  EXPECT_EQ(D.Keep, Rough);
  const Verdict &V = D.Tried[0].Compared;
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_GE(V.Used.Values, 1u);
  EXPECT_NEAR(V.Used.Largest.Relative, 9.5e-7, 1e-8);
  const std::string Text = reportOf(D);
  EXPECT_NE(Text.find("by its issue slots; its result is within 9.5e-7 (bound "
                      "1e-5)\n"),
            std::string::npos)
      << Text;
  // The program's own result is the original's.
  EXPECT_EQ(Out[0], 1 + 1.0f / (1024 * 1024));
}

TEST_F(BoundedTrialTest, NobodyElseHasTheBound) {
  Decision D = decisionOn("series", {1.0f / 1024}, std::nullopt, {Rough});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].Compared.Kind, VerdictKind::Differs);
  D = decisionOn("series", {1.0f / 1024}, Tolerance{1e-5, 0}, {Strict});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].Compared.Kind, VerdictKind::Differs);
}

TEST_F(BoundedTrialTest, TheLargestOfAllLaunchesCounts) {
  Decision D = decisionOn("series", {0, 1.0f / 1024, 1.0f / 2048},
                          Tolerance{1e-5, 0}, {Rough});
  EXPECT_EQ(D.Keep, Rough);
  EXPECT_EQ(D.Tried[0].Compared.Launches, 3u);
  EXPECT_NEAR(D.Tried[0].Compared.Used.Largest.Relative, 9.5e-7, 1e-8);
  // Beyond it once.
  D = decisionOn("series", {0, 1.0f / 1024, 0.125f}, Tolerance{1e-5, 0},
                 {Rough});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Wrong);
  EXPECT_NE(reportOf(D).find("offset 0: 1.015625 became 1"), std::string::npos)
      << reportOf(D);
}

TEST_F(BoundedTrialTest, WhatVariesNeedsBoth) {
  auto With = [&](bool AllowReorder) {
    return decisionOn("sums", {1.0f / 256}, Tolerance{1e-3, 0}, {Rough},
                      AllowReorder);
  };
  Decision D = With(false);
  const Verdict &V = D.Tried[0].Compared;
  EXPECT_EQ(V.Kind, VerdictKind::Within);
  EXPECT_GT(V.OrderDependent, 0u) << "the sum depends on the order";
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Unproved);
  EXPECT_EQ(With(true).Keep, Rough);
}

} // namespace
