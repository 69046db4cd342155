//===- unittests/warpvm/StepsTest.cpp - Lists of steps against code -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that walks a list leaves in memory what the same function leaves
// that is compiled in place, and the list has the steps that it needs, no more.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Steps.h"

#include "warpvm/emit/Operations.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

using Memory = std::array<uint32_t, 256>;

std::unique_ptr<orc::LLJIT> newJit() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  return cantFail(orc::LLJITBuilder().create());
}

std::unique_ptr<Module> parse(LLVMContext &C, StringRef Body,
                              const DataLayout &DL) {
  SMDiagnostic Diagnostic;
  auto M = parseAssemblyString(
      ("define void @f(ptr %p) {\n" + Body + "\n}\n").str(), Diagnostic, C);
  EXPECT_TRUE(M) << Diagnostic.getMessage().str() << " at "
                 << Diagnostic.getLineNo();
  M->setDataLayout(DL);
  return M;
}

void add(orc::LLJIT &Jit, std::unique_ptr<Module> M,
         orc::ThreadSafeContext Context) {
  std::string Problem;
  raw_string_ostream OS(Problem);
  ASSERT_FALSE(verifyModule(*M, &OS)) << Problem;
  cantFail(Jit.addIRModule(orc::ThreadSafeModule(std::move(M), Context)));
}

Memory run(orc::LLJIT &Jit) {
  alignas(64) Memory Bytes;
  std::iota(Bytes.begin(), Bytes.end(), 103u);
  cantFail(Jit.lookup("f")).toPtr<void(void *)>()(Bytes.data());
  return Bytes;
}

/// Runs @f with \p Body in both ways. How many steps its list has.
size_t stepsOf(StringRef Body) {
  orc::ThreadSafeContext Context(std::make_unique<LLVMContext>());
  LLVMContext &C = *Context.getContext();
  auto Plain = newJit(), Listed = newJit();
  add(*Plain, parse(C, Body, Plain->getDataLayout()), Context);

  auto M = parse(C, Body, Listed->getDataLayout());
  auto Missing = std::make_unique<Module>("operations", C);
  Missing->setDataLayout(M->getDataLayout());
  const size_t Steps = makeSteps(*M, [](StringRef) { return false; }, *Missing);
  add(*Listed, std::move(Missing), Context);
  add(*Listed, std::move(M), Context);
  EXPECT_EQ(run(*Plain), run(*Listed));
  return Steps;
}

TEST(Steps, DoWhatTheInstructionsDo) {
  // Load, add with its multiplication in it, store with its address in it,
  // return.
  EXPECT_EQ(stepsOf(R"(
    %x = load <32 x i32>, ptr %p, align 64
    %y = mul <32 x i32> %x, %x
    %z = add <32 x i32> %y, %x
    %q = getelementptr i8, ptr %p, i64 128
    store <32 x i32> %z, ptr %q, align 64
    ret void)"),
            4u);
}

TEST(Steps, ReadWhatOthersComputedOnce) {
  // %y is used twice, so it is a step of its own.
  EXPECT_EQ(stepsOf(R"(
    %x = load <32 x i32>, ptr %p, align 64
    %y = mul <32 x i32> %x, %x
    %z = add <32 x i32> %y, %y
    store <32 x i32> %z, ptr %p, align 64
    ret void)"),
            5u);
}

TEST(Steps, SpreadScalarsOverLanes) {
  EXPECT_EQ(stepsOf(R"(
    %s = load i32, ptr %p, align 4
    %1 = insertelement <32 x i32> poison, i32 %s, i64 0
    %2 = shufflevector <32 x i32> %1, <32 x i32> poison, <32 x i32> zeroinitializer
    %x = load <32 x i32>, ptr %p, align 64
    %y = sub <32 x i32> %2, %x
    %z = shl <32 x i32> %y, splat (i32 2)
    store <32 x i32> %z, ptr %p, align 64
    ret void)"),
            5u);
  // Stored, it is itself wanted.
  EXPECT_EQ(stepsOf(R"(
    %s = load i32, ptr %p, align 4
    %1 = insertelement <32 x i32> poison, i32 %s, i64 0
    %2 = shufflevector <32 x i32> %1, <32 x i32> poison, <32 x i32> zeroinitializer
    store <32 x i32> %2, ptr %p, align 64
    ret void)"),
            4u);
}

TEST(Steps, TakeMasksForWhatTheyAre) {
  // The bits of the comparison are the number that is shifted.
  EXPECT_EQ(stepsOf(R"(
    %x = load <32 x i32>, ptr %p, align 64
    %c = icmp ult <32 x i32> %x, splat (i32 111)
    %f = freeze <32 x i1> %c
    %b = bitcast <32 x i1> %f to i32
    %d = shl i32 %b, 3
    store i32 %d, ptr %p, align 4
    ret void)"),
            5u);
}

TEST(Steps, CutNumbersOffThatHaveNoBytesOfTheirOwn) {
  // LLVM makes this of `x & 3`.
  stepsOf(R"(
    %x = load i32, ptr %p, align 4
    %y = trunc i32 %x to i2
    %z = zext i2 %y to i32
    %w = mul i32 %z, 5
    store i32 %w, ptr %p, align 4
    ret void)");
  stepsOf(R"(
    %x = load <32 x i32>, ptr %p, align 64
    %y = trunc <32 x i32> %x to <32 x i3>
    %z = sext <32 x i3> %y to <32 x i32>
    %w = mul <32 x i32> %z, splat (i32 5)
    store <32 x i32> %w, ptr %p, align 64
    ret void)");
}

TEST(Steps, TurnValuesRoundInALoop) {
  // %a and %b change places in each round.
  stepsOf(R"(
  entry:
    %x = load <32 x i32>, ptr %p, align 64
    br label %loop
  loop:
    %i = phi i32 [ 0, %entry ], [ %next, %loop ]
    %a = phi <32 x i32> [ %x, %entry ], [ %b, %loop ]
    %b = phi <32 x i32> [ splat (i32 7), %entry ], [ %a, %loop ]
    %next = add i32 %i, 1
    %more = icmp ult i32 %next, 4
    br i1 %more, label %loop, label %done
  done:
    %q = getelementptr i8, ptr %p, i64 128
    store <32 x i32> %a, ptr %p, align 64
    store <32 x i32> %b, ptr %q, align 64
    ret void)");
}

TEST(Steps, LeaveVariablesInTheirSlots) {
  // The variable is the slot of %y, and read there: nothing is copied.
  EXPECT_EQ(stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    %y = udiv i32 %x, 2
    store i32 %y, ptr %v
    %z = load i32, ptr %v
    %w = udiv i32 %z, %y
    store i32 %w, ptr %p, align 4
    ret void)"),
            5u);
}

TEST(Steps, CopyVariablesThatChangeBeforeTheyAreUsed) {
  // %old is used after the variable has got %y: that load is a copy, and %y
  // cannot be computed there before.
  EXPECT_EQ(stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    store i32 %x, ptr %v
    %y = udiv i32 %x, 2
    %old = load i32, ptr %v
    store i32 %y, ptr %v
    %w = udiv i32 %old, %y
    store i32 %w, ptr %p, align 4
    ret void)"),
            7u);
}

TEST(Steps, DoNotComputeWhereAnotherValueIsStillRead) {
  // %y and %z are both stored to the variable; %y is used after %z was.
  stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    %y = udiv i32 %x, 2
    store i32 %y, ptr %v
    %z = udiv i32 %x, 3
    store i32 %z, ptr %v
    %u = udiv i32 1000, %y
    %l = load i32, ptr %v
    %w = add i32 %l, %u
    store i32 %w, ptr %p, align 4
    ret void)");
  // ... and between %z and its store.
  stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    %y = udiv i32 %x, 2
    store i32 %y, ptr %v
    %z = udiv i32 %x, 3
    %u = udiv i32 1000, %y
    store i32 %z, ptr %v
    %l = load i32, ptr %v
    %w = add i32 %l, %u
    store i32 %w, ptr %p, align 4
    ret void)");
}

TEST(Steps, DoNotComputeWhereTheVariableIsStillWanted) {
  // Something else is stored between %y and its store.
  stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    %y = udiv i32 %x, 2
    store i32 5, ptr %v
    store i32 %y, ptr %v
    %l = load i32, ptr %v
    store i32 %l, ptr %p, align 4
    ret void)");
  // What the variable had before is used there.
  stepsOf(R"(
    %v = alloca i32
    %x = load i32, ptr %p, align 4
    store i32 %x, ptr %v
    %old = load i32, ptr %v
    %y = udiv i32 %x, 2
    %u = udiv i32 %old, 3
    store i32 %y, ptr %v
    %l = load i32, ptr %v
    %w = add i32 %l, %u
    store i32 %w, ptr %p, align 4
    ret void)");
}

TEST(Steps, KeepValuesForOtherBlocks) {
  // %x is used in the loop, whose own values share slots.
  stepsOf(R"(
  entry:
    %a = load i32, ptr %p, align 4
    %gone = udiv i32 %a, 3
    store i32 %gone, ptr %p, align 4
    %x = udiv i32 1000, %a
    br label %loop
  loop:
    %i = phi i32 [ 0, %entry ], [ %next, %loop ]
    %q = getelementptr i32, ptr %p, i32 %i
    %l = load i32, ptr %q, align 4
    %d = udiv i32 %l, 2
    %m = udiv i32 %x, 7
    %s = add i32 %d, %m
    store i32 %s, ptr %q, align 4
    %next = add i32 %i, 1
    %more = icmp ult i32 %next, 9
    br i1 %more, label %loop, label %done
  done:
    ret void)");
}

TEST(Steps, HaveArraysThatLanesIndex) {
  stepsOf(R"(
    %array = alloca <32 x i32>, align 64
    %x = load <32 x i32>, ptr %p, align 64
    store <32 x i32> %x, ptr %array, align 64
    %e = getelementptr i32, ptr %array, i64 9
    %l = load i32, ptr %e, align 4
    store i32 %l, ptr %p, align 4
    ret void)");
}

TEST(Steps, NameWhatDiffersApart) {
  LLVMContext C;
  auto M = parse(C, R"(
    store i32 undef, ptr %p, align 4
    store i64 undef, ptr %p, align 4
    store i64 undef, ptr %p, align 8
    %v = load <32 x i32>, ptr %p, align 64
    %a = extractelement <32 x i32> %v, i64 3
    %b = extractelement <32 x i32> %v, i64 4
    %c = icmp slt i32 %a, %b
    %d = icmp ult i32 %a, %b
    %e = getelementptr i8, ptr %p, i32 %a
    %f = getelementptr i32, ptr %p, i32 %a
    ret void)",
                 DataLayout(""));
  Function &F = *M->getFunction("f");
  StringSet<> Names;
  for (Instruction &I : F.getEntryBlock()) {
    SmallString<64> Name;
    operationName(I, StepParts(F), Name);
    EXPECT_TRUE(Names.insert(Name).second) << Name.str().str();
  }
}

TEST(Steps, AreMadeOfOperationsThatAreThere) {
  LLVMContext C;
  constexpr StringRef Body = R"(
    %x = load i32, ptr %p, align 4
    %y = udiv i32 %x, 5
    store i32 %y, ptr %p, align 4
    ret void)";
  auto M = parse(C, Body, DataLayout(""));
  Module Missing("operations", C);
  SmallString<64> Division;
  Function &F = *M->getFunction("f");
  for (Instruction &I : F.getEntryBlock())
    if (I.getOpcode() == Instruction::UDiv)
      operationName(I, StepParts(F), Division);
  makeSteps(*M, [&](StringRef Name) { return Name == Division; }, Missing);
  EXPECT_EQ(Missing.getFunction(Division), nullptr);
  EXPECT_NE(M->getFunction(Division), nullptr);
  EXPECT_EQ(Missing.size(), 3u);
}

} // namespace
} // namespace reconverge::warpvm
