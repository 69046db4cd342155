//===- unittests/remedies/RunsTest.cpp - How often melded code runs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 100 warps come to a branch, of which 25 run both arms: 100 runs of the first,
// 25 of the second. Each instruction of the IR is taken to become one of the
// machine, so that issue slots are the runs of all instructions.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Runs.h"

#include "../model/HandMade.h"

#include "analysis/MachineCode.h"
#include "remedies/meld/Meld.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::remedies;

namespace {

constexpr uint64_t Warps = 100, Split = 25;

class Runs : public testing::Test {
protected:
  void parse(StringRef Second) {
    const uint32_t Entry = H.block(3, Warps, 32 * Warps),
                   First = H.block(3, Warps, 32 * Warps - 16 * Split),
                   Other = H.block(3, Split, 16 * Split),
                   Last = H.block(1, Warps, 32 * Warps);
    H.branch(BranchKind::IfElse, Entry, {First, Other}, {First, Other}, Split,
             {32 * Warps - 16 * Split, 16 * Split});
    std::string Numbers;
    for (uint32_t Block : {Entry, First, Other, Last})
      Numbers += ("!" + Twine(Block) + " = !{i32 " +
                  Twine(H.K.Info.Blocks[Block].Id) + "}\n")
                     .str();
    const std::string Text = (R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p, float %a, float %b) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  br i1 %odd, label %first, label %second, !rc.block !0, !rc.branch !9
first:
  %q = fdiv float %a, %b
  store float %q, ptr addrspace(1) %p
  br label %last, !rc.block !1
second:
)" + Second + R"(
  br label %last, !rc.block !2
last:
  ret void, !rc.block !3
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!9 = !{i32 )" + Twine(H.K.Info.Branches[0].Id) +
                              "}\n" + Numbers)
                                 .str();
    SMDiagnostic Error;
    M = parseAssemblyString(Text, Error, Context);
    ASSERT_TRUE(M) << Error.getMessage().str();
    markRuns(kernel(), H.K);
  }
  Function &kernel() { return *M->getFunction("k"); }
  unsigned melded() {
    OptimizationRemarkEmitter Remarks(&kernel());
    auto Options = cantFail(parseMeldOptions("threshold=0"));
    Options.Polish = false;
    return meldFunction(kernel(), Options, Remarks).Branches;
  }
  /// None: workOf has nothing.
  std::optional<double> slots() {
    analysis::MachineCode Code;
    auto &Made = Code.Functions["k"];
    constexpr uint64_t Add = 0x010, Exit = 0x14d, Always = 7 << 12;
    for (const Instruction &I : instructions(kernel()))
      Made.push_back({&I, Always | (isa<ReturnInst>(I) ? Exit : Add)});
    const auto Work = workOf(kernel(), Code, Machine);
    return Work ? std::optional(Work->Busy[size_t(Unit::Issue)]) : std::nullopt;
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
  test::HandMadeKernel H;
  analysis::MachineModel Machine =
      cantFail(analysis::MachineModel::load(MACHINES_DIR "/h200.json"));
};

TEST_F(Runs, OfCodeAsItIs) {
  parse("store float %a, ptr addrspace(1) %p");
  EXPECT_EQ(slots(), 3 * Warps + 3 * Warps + 2 * Split + Warps);
}

/// Division and store of both arms run once a warp, whichever way it went; so do
/// a select of each operand, which has no mark of its own, and two jumps, to where
/// the arms were and away from there.
TEST_F(Runs, WhatBothArmsHaveRunsOnceAWarp) {
  parse("%s = fdiv float %b, %a\n store float %s, ptr addrspace(1) %p");
  ASSERT_EQ(melded(), 1u);
  EXPECT_EQ(slots(), double(kernel().getInstructionCount() * Warps));
}

/// A store more in the second arm stands in a guard, for 25 runs alone, with the
/// jump behind it.
TEST_F(Runs, WhatOneArmHasRunsAsBefore) {
  parse("%s = fdiv float %b, %a\n store float %s, ptr addrspace(1) %p\n"
        "store float %a, ptr addrspace(1) %p");
  ASSERT_EQ(melded(), 1u);
  unsigned Guarded = 0;
  for (const BasicBlock &BB : kernel())
    if (BB.getName().starts_with("meld.only"))
      Guarded += BB.size();
  ASSERT_GT(Guarded, 0u);
  EXPECT_EQ(slots(), double((kernel().getInstructionCount() - Guarded) * Warps +
                            Guarded * Split));
}

TEST_F(Runs, UnmarkedCodeHasNone) {
  parse("store float %a, ptr addrspace(1) %p");
  for (Instruction &I : instructions(kernel()))
    I.setMetadata("rc.runs", nullptr);
  EXPECT_EQ(slots(), std::nullopt);
}

} // namespace
