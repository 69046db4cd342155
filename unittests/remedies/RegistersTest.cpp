//===- unittests/remedies/RegistersTest.cpp - Rounds within a budget -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What remapping does about registers, with a counter that says what the test
// wants: first of the kernel as it is, then of each attempt. On an sm_90, eight
// blocks of 256 threads have up to 32 registers a thread, six up to 40.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Remap.h"

#include "analysis/device/Annotations.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

using namespace llvm;

namespace reconverge::remedies {
namespace {

// if (x > 0) p[tid] = x * 3;  if (x > 1) ...;  if (x > 2) ...;
constexpr const char *Kernels = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @three(ptr addrspace(1) %p) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %p, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c0 = icmp sgt i32 %x, 0
  %c1 = icmp sgt i32 %x, 1
  %c2 = icmp sgt i32 %x, 2
  br i1 %c0, label %a, label %b
a:
  %ya = mul i32 %x, 3
  store i32 %ya, ptr addrspace(1) %pi
  br label %b
b:
  br i1 %c1, label %c, label %d, !rc.request.remap !0
c:
  %yc = mul i32 %x, 5
  store i32 %yc, ptr addrspace(1) %pi
  br label %d
d:
  br i1 %c2, label %e, label %f
e:
  %ye = mul i32 %x, 7
  store i32 %ye, ptr addrspace(1) %pi
  br label %f
f:
  ret void
}
define ptx_kernel void @another() {
  ret void
}
!0 = !{!"all", !"three.cu:1"}
)";

/// With a pragma on the second branch instead of an attribute.
std::string withPragma() {
  std::string Source = Kernels;
  Source.replace(Source.find("!\"all\""), 6, "!\"on\"");
  return Source;
}

class Said : public DiagnosticHandler {
public:
  Said(std::vector<std::string> &Into, bool On) : Into(Into), On(On) {}
  bool isAnyRemarkEnabled() const override { return On; }
  bool isPassedOptRemarkEnabled(StringRef) const override { return On; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return On; }
  bool isAnalysisRemarkEnabled(StringRef) const override { return On; }
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (const auto *R = dyn_cast<DiagnosticInfoOptimizationBase>(&Info))
      Into.push_back(R->getMsg());
    return true;
  }

private:
  std::vector<std::string> &Into;
  bool On;
};

struct Result {
  unsigned Rounds = 0, Counted = 0;
  bool Same = false; ///< the module is as it was
  std::vector<std::string> Remarks;
};

/// Remaps `three`; the counter says each of \p Answers once.
Result remapWith(std::vector<std::optional<unsigned>> Answers,
                 StringRef Parameters = "threshold=1",
                 std::string Source = Kernels, bool WithRemarks = true) {
  LLVMContext C;
  SMDiagnostic Slip;
  auto M = parseAssemblyString(Source, Slip, C);
  EXPECT_TRUE(M) << Slip.getMessage().str();
  Result R;
  C.setDiagnosticHandler(std::make_unique<Said>(R.Remarks, WithRemarks));
  auto Text = [&] {
    std::string S;
    raw_string_ostream(S) << *M;
    return S;
  };
  const std::string Before = Text();
  auto Options = cantFail(parseRemapOptions(Parameters));
  Options.CountRegisters = [&](const Module &Of) -> std::optional<unsigned> {
    EXPECT_EQ(count_if(Of, analysis::isKernel), 1) << "the one kernel";
    EXPECT_FALSE(verifyModule(Of, &errs()));
    EXPECT_EQ(Before, Text()) << "attempts are made on copies";
    EXPECT_LT(R.Counted, Answers.size()) << "an attempt too many";
    return R.Counted < Answers.size() ? Answers[R.Counted++] : 255;
  };
  Function &F = *M->getFunction("three");
  OptimizationRemarkEmitter Remarks(&F);
  R.Rounds = remapFunction(F, Options, Remarks);
  EXPECT_EQ(R.Counted, Answers.size());
  EXPECT_FALSE(verifyModule(*M, &errs()));
  R.Same = Before == Text();
  return R;
}

/// The remarks are as many as \p Parts, each of which is in its remark.
void expectRemarks(const Result &R, ArrayRef<StringRef> Parts) {
  EXPECT_EQ(R.Remarks.size(), Parts.size());
  for (auto [Remark, Part] : zip(R.Remarks, Parts))
    EXPECT_TRUE(StringRef(Remark).contains(Part)) << Remark << "\nhas no\n"
                                                  << Part.str();
}

TEST(Registers, AreEnough) {
  Result R = remapWith({24, 32});
  EXPECT_EQ(R.Rounds, 1u);
  expectRemarks(R, {"32 registers instead of 24, 8 blocks of 256 threads on a "
                    "multiprocessor as before",
                    "; 8 paths of 3 branches"});
}

TEST(Registers, AreEnoughForFewerPaths) {
  Result R = remapWith({24, 41, 32});
  EXPECT_EQ(R.Rounds, 2u);
  expectRemarks(
      R, {"32 registers instead of 24, 8 blocks of 256 threads on a "
          "multiprocessor as before; at most 4 paths a round, for more take 41 "
          "registers instead of 24, 5 blocks of 256 threads on a "
          "multiprocessor instead of 8",
          "; 4 paths of 2 branches", "remapped: "});
  R = remapWith({24, 41, 40, 30});
  EXPECT_EQ(R.Rounds, 3u);
  expectRemarks(R, {"; at most 2 paths a round, for more take 40 registers",
                    "remapped: ", "remapped: ", "remapped: "});
}

TEST(Registers, AreEnoughForHeadOrTail) {
  Result R = remapWith({24, 41, 41, 40, 32});
  EXPECT_EQ(R.Rounds, 3u);
  expectRemarks(R, {"; by head_or_tail, for else it takes 40 registers",
                    "; head_or_tail", "; head_or_tail", "; head_or_tail"});
}

// The algorithm that is asked for is not another one.
TEST(Registers, LeaveTheKernelAsItWas) {
  const StringRef Left =
      "not remapped: its registers would let fewer blocks run at a time (33 "
      "registers instead of 24, 6 blocks of 256 threads on a multiprocessor "
      "instead of 8) [RC225]";
  Result R = remapWith({24, 41, 41, 40, 33});
  EXPECT_TRUE(R.Same);
  expectRemarks(R, {Left, Left, Left});
  R = remapWith({24, 41, 41, 33}, "threshold=1;algorithm=warp_aggregated");
  EXPECT_TRUE(R.Same);
  expectRemarks(R, {Left, Left, Left});
}

// A pragma on the second branch gets its round, whatever it costs; the others
// are refused.
TEST(Registers, ArePaidForWhatAPragmaAsks) {
  Result R = remapWith({24, 41, 41, 41, 41, 38}, "threshold=1", withPragma());
  EXPECT_EQ(R.Rounds, 1u);
  expectRemarks(R, {"38 registers instead of 24, 6 blocks of 256 threads on a "
                    "multiprocessor instead of 8",
                    "remapped: ", "[RC225]"});
}

TEST(Registers, DoNotMatterIfOccupancyDoesNot) {
  Result R = remapWith({24, 41}, "threshold=1;occupancy=0");
  expectRemarks(R, {"5 blocks of 256 threads on a multiprocessor instead of 8",
                    "; 8 paths of 3 branches"});
}

TEST(Registers, MayNotBeKnown) {
  Result R = remapWith({std::nullopt});
  expectRemarks(R, {"registers are not known", "; 8 paths of 3 branches"});
}

// Nothing is counted where there is no round, or where the count would change
// nothing and nobody hears of it.
TEST(Registers, AreNotCountedForNothing) {
  EXPECT_EQ(remapWith({}, "threshold=100").Rounds, 0u);
  const std::string ByPragma = withPragma();
  EXPECT_EQ(remapWith({}, "marked=1", ByPragma, false).Rounds, 1u);
  EXPECT_EQ(remapWith({24, 40}, "marked=1", ByPragma).Rounds, 1u);
  EXPECT_EQ(remapWith({}, "threshold=1;occupancy=0", Kernels, false).Rounds,
            1u);
  const StringRef Marked = "threshold=1;marked=1"; // by an attribute
  EXPECT_EQ(remapWith({24, 40, 32}, Marked, Kernels, false).Rounds, 1u);
}

// By registers, five blocks: shared memory for so many is no loss.
TEST(Registers, LeaveRoomForSharedMemory) {
  const std::string Large = "threshold=1;threads=256;shared=";
  Result R = remapWith({44, 44}, Large + "36000");
  expectRemarks(R, {"5 blocks", "; 8 paths of 3 branches"});
  R = remapWith({24}, Large + "28000");
  expectRemarks(R, {"[RC224]", "[RC224]", "[RC224]"});
}

} // namespace
} // namespace reconverge::remedies
