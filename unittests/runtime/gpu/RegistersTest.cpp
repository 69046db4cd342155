//===- RegistersTest.cpp - What ptxas allots ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/Registers.h"

#include "instrument/Instrument.h"
#include "runtime/gpu/Build.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::gpu;

TEST(Registers, OfEachKernelAreRead) {
  const frontend::RegisterCounts Counts = frontend::parseRegisters(
      "ptxas info    : 0 bytes gmem, 80 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1kPi\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compile time = 5.6 ms\n"
      "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
      "ptxas info    : Function properties for f\n"
      "    16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 7 registers\n"
      "ptxas info    : Function properties for callee\n");
  EXPECT_EQ(Counts.size(), 2u);
  EXPECT_EQ(Counts.lookup("_Z1kPi"), 40u);
  EXPECT_FALSE(Counts.lookup("_Z1kPi").Spills);
  EXPECT_EQ(Counts.lookup("f"), 7u);
  EXPECT_TRUE(Counts.lookup("f").Spills);
}

TEST(Registers, LimitsAreWholeGranulesAndLeaveRoomForCalls) {
  LLVMContext Context;
  SMDiagnostic Error;
  auto M = parseAssemblyString(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @large() { ret void }
define ptx_kernel void @small() { ret void }
define ptx_kernel void @unknown() { ret void }
)",
                               Error, Context);
  ASSERT_TRUE(M);
  limitRegisters(*M, frontend::RegisterCounts({{"large", 41}, {"small", 9}}));
  std::string Text;
  raw_string_ostream(Text) << *M;
  EXPECT_NE(Text.find("ptr @large, !\"maxnreg\", i32 48"), Text.npos) << Text;
  EXPECT_NE(Text.find("ptr @small, !\"maxnreg\", i32 32"), Text.npos) << Text;
  EXPECT_EQ(Text.find("ptr @unknown"), Text.npos) << Text;
}

TEST(Registers, KernelsAsTheyAreStandBesideThoseWithProbes) {
  LLVMContext Context;
  SMDiagnostic Error;
  auto M = parseAssemblyString(R"(
target triple = "nvptx64-nvidia-cuda"
define i32 @f() noinline { ret i32 1 }
define ptx_kernel void @one() { ret void }
define ptx_kernel void @calls() { %x = call i32 @f() ret void }
define ptx_kernel void @points(ptr %p) { %x = call i32 %p() ret void }
define ptx_kernel void @two() { ret void }
)",
                               Error, Context);
  ASSERT_TRUE(M);
  const Options O;
  const auto cells = [&](function_ref<bool(const Function &)> Counts) {
    return instrument::ModuleProbes(*M, Counts).cells(*M->getFunction("calls"));
  };
  const unsigned Alone = cells([](const Function &) { return true; });
  const auto Plain = addPlainKernels(*M, O);
  EXPECT_EQ(Plain.size(), 4u);
  EXPECT_EQ(cells([&](const Function &F) { return !Plain.contains(&F); }),
            Alone)
      << "who reads the counters does not see the copies";
  EXPECT_TRUE(M->getFunction("one__rcplain"));
  EXPECT_TRUE(M->getFunction("two__rcplain"));
  ASSERT_TRUE(M->getFunction("calls__rcplain"));
  const auto &Call =
      cast<CallInst>(M->getFunction("calls__rcplain")->getEntryBlock().front());
  EXPECT_EQ(Call.getCalledFunction(), M->getFunction("f__rcplain"))
      << "f will have probes";
  EXPECT_FALSE(M->getFunction("points__rcplain")) << "it may lead to f";
  EXPECT_EQ(M->size(), 9u);
}
