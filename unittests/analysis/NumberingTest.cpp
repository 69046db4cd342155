//===- unittests/analysis/NumberingTest.cpp - Numbers and counts ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Numbering.h"
#include "Parsed.h"
#include "analysis/Costs.h"
#include "analysis/device/Annotations.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::analysis;

namespace {

TEST(Numbering, ProgramOrderOverTheModule) {
  Parsed P(R"(
    declare void @outside()
    define i32 @f(i1 %c) {
    entry: br i1 %c, label %a, label %b
    a:     ret i32 1
    b:     ret i32 2
    }
    define ptx_kernel void @k(i1 %c, i32 %n) {
    entry: br label %next
    next:  switch i32 %n, label %end [ i32 0, label %next ]
    end:   ret void
    }
  )");
  numberBlocks(P.module());
  EXPECT_EQ(blockNumber(P.block("entry", "f")), 0u);
  EXPECT_EQ(blockNumber(P.block("b", "f")), 2u);
  EXPECT_EQ(blockNumber(P.block("entry")), 3u);
  EXPECT_EQ(blockNumber(P.block("end")), 5u);
  EXPECT_EQ(branchNumber(P.block("entry", "f")), 0u);
  EXPECT_EQ(branchNumber(P.block("entry")), std::nullopt);
  EXPECT_EQ(branchNumber(P.block("next")), 1u);
}

TEST(Numbering, ReplacesOldNumbers) {
  Parsed P(R"(
    define ptx_kernel void @k(i1 %c) {
    entry: br label %end, !rc.block !0, !rc.branch !0, !rc.count !0
    end:   ret void
    }
    !0 = !{i32 77}
  )");
  EXPECT_EQ(blockNumber(P.block("entry")), 77u);
  EXPECT_EQ(blockNumber(P.block("end")), std::nullopt);
  numberBlocks(P.module());
  EXPECT_EQ(blockNumber(P.block("entry")), 0u);
  EXPECT_EQ(branchNumber(P.block("entry")), std::nullopt);
  EXPECT_EQ(countedInstructions(P.block("entry")), 0u);
}

TEST(Numbering, BrokenMetadataIsNoNumber) {
  Parsed P(R"(
    define ptx_kernel void @k() {
    entry: br label %end, !rc.block !0, !rc.branch !1
    end:   ret void, !rc.block !2
    }
    !0 = !{!"text"}
    !1 = !{}
    !2 = !{i64 5000000000}
  )");
  EXPECT_EQ(blockNumber(P.block("entry")), std::nullopt);
  EXPECT_EQ(branchNumber(P.block("entry")), std::nullopt);
  EXPECT_EQ(blockNumber(P.block("end")), std::nullopt);
}

/// An inlined copy has the numbers of its source, and each counts once.
TEST(Numbering, CopiesShareNumbers) {
  Parsed P(R"(
    define internal void @f(i1 %c) {
    entry: br i1 %c, label %a, label %b
    a:     br label %b
    b:     ret void
    }
    define ptx_kernel void @k(i1 %c, i1 %d) {
    entry: call void @f(i1 %c)
           call void @f(i1 %d)
           ret void
    }
  )");
  numberBlocks(P.module());
  std::vector<CallBase *> Calls;
  for (Instruction &I : P.block("entry"))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    InlineFunctionInfo Info;
    ASSERT_TRUE(InlineFunction(*Call, Info).isSuccess());
  }
  EXPECT_EQ(numbersOf(P.function()).Branches, (std::vector<uint32_t>{0}));
  unsigned Copies = 0;
  for (BasicBlock &BB : P.function())
    Copies += branchNumber(BB) == 0u;
  EXPECT_EQ(Copies, 2u);
}

TEST(Numbering, FunctionsThatAKernelCanCall) {
  Parsed P(R"(
    @table = global [1 x ptr] [ptr @virtual]
    define void @unused() { ret void }
    define void @leaf() { ret void }
    define void @middle() { call void @leaf() ret void }
    define void @virtual() { ret void }
    define ptx_kernel void @other() { ret void }
    define ptx_kernel void @k() { call void @middle() ret void }
    define ptx_kernel void @pointer(ptr %f) { call void %f() ret void }
  )");
  auto Names = [&](StringRef Kernel) {
    std::vector<std::string> Result;
    for (const Function *F : functionsOf(P.function(Kernel)))
      Result.push_back(F->getName().str());
    return Result;
  };
  EXPECT_EQ(Names("k"), (std::vector<std::string>{"k", "leaf", "middle"}));
  EXPECT_EQ(Names("pointer"), (std::vector<std::string>{"pointer", "virtual"}));
  numberBlocks(P.module());
  EXPECT_EQ(numbersOf(P.function()).Blocks, (std::vector<uint32_t>{5, 1, 2}));
}

TEST(Numbering, Kernels) {
  Parsed P(R"(
    define ptx_kernel void @a() { ret void }
    define void @b() { ret void }
    define void @c() { ret void }
    define void @d() { ret void }
    !nvvm.annotations = !{!0, !1, !2, !3}
    !0 = !{ptr @b, !"maxntidx", i32 64, !"kernel", i32 1}
    !1 = !{ptr @c, !"kernel", i32 0}
    !2 = !{null, !"kernel", i32 1}
    !3 = !{ptr @d, !"maxntidx", i32 1}
  )");
  EXPECT_TRUE(isKernel(P.function("a")));
  EXPECT_TRUE(isKernel(P.function("b")));
  EXPECT_FALSE(isKernel(P.function("c")));
  EXPECT_FALSE(isKernel(P.function("d")));
}

/// if (i < n) y[i] = a * x[i] + y[i], counted by hand.
TEST(Numbering, CountsByHand) {
  Parsed P(R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare float @llvm.fma.f32(float, float, float)
    declare void @llvm.assume(i1)
    define ptx_kernel void @k(i32 %n, float %a, ptr %x, ptr %y) {
    entry:
      %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()      ; 1
      %c = icmp slt i32 %i, %n                            ; 2
      br i1 %c, label %then, label %end                   ; 3
    then:
      call void @llvm.assume(i1 %c)
      %w = sext i32 %i to i64                             ; folds into the
      %px = getelementptr float, ptr %x, i64 %w           ; 1 multiply-adds
      %py = getelementptr float, ptr %y, i64 %w           ; 2
      %vx = load float, ptr %px                           ; 3
      %vy = load float, ptr %py                           ; 4
      %r = call float @llvm.fma.f32(float %a, float %vx, float %vy) ; 5
      store float %r, ptr %py                             ; 6
      br label %end
    end:
      %done = phi i1 [ true, %then ], [ false, %entry ]
      ret void                                            ; 1
    }
  )");
  numberBlocks(P.module());
  EXPECT_EQ(countedInstructions(P.block("entry")), 3u);
  EXPECT_EQ(countedInstructions(P.block("then")), 6u);
  EXPECT_EQ(countedInstructions(P.block("end")), 1u);
}

struct CountRow {
  const char *Body; ///< the last instruction before ret is judged
  bool Counts;
};

TEST(Numbering, WhatCounts) {
  const CountRow Rows[] = {
      {"%x = alloca i32", false},
      {"%x = freeze i32 %n", false},
      {"%x = bitcast i32 %n to float", false},
      {"%x = trunc i32 %n to i8", false},
      {"%x = zext i32 %n to i64", true},
      {"%x = zext i1 %c to i64 %y = getelementptr i8, ptr %p, i64 %x "
       "store ptr %y, ptr %p",
       true},
      {"%x = addrspacecast ptr %p to ptr addrspace(1)", false},
      {"%x = getelementptr i32, ptr %p, i64 0", false},
      {"%y = getelementptr i32, ptr %p, i64 4 %x = load i32, ptr %y", true},
      {"%x = getelementptr i32, ptr %p, i32 %n", true},
      {"%x = extractvalue {i32, i1} %s, 0", false},
      {"%x = extractelement <2 x i32> %v, i32 0", false},
      {"%x = extractelement <2 x i32> %v, i32 %n", true},
      {"%x = select i1 %c, i32 1, i32 %n", true},
      {"call void asm sideeffect \"\", \"~{memory}\"()", false},
      {"call void asm sideeffect \"bar.sync 0;\", \"\"()", true},
      {"call void @llvm.lifetime.start.p0(i64 4, ptr %p)", false},
      {"call void @llvm.nvvm.barrier0()", true},
      {"call void @f()", true},
  };
  for (const CountRow &R : Rows) {
    SCOPED_TRACE(R.Body);
    Parsed P(("declare void @llvm.lifetime.start.p0(i64, ptr)\n"
              "declare void @llvm.nvvm.barrier0()\ndeclare void @f()\n"
              "define ptx_kernel void @k(i32 %n, ptr %p, i1 %c, {i32, i1} %s,"
              " <2 x i32> %v) {" +
              std::string(R.Body) + "\nret void }"));
    const Instruction *Judged = nullptr;
    for (const Instruction &I : P.function().getEntryBlock())
      if (I.getName() == "x" || (!Judged && !I.isTerminator()))
        Judged = &I;
    EXPECT_EQ(countsAsInstruction(*Judged), R.Counts);
  }
}

/// A division or a root weighs what its routine does; a quick one is one.
TEST(Numbering, RoutinesCountAsTheirLength) {
  const std::pair<const char *, unsigned> Rows[] = {
      {"%x = add i32 %n, 7", 1},
      {"%x = trunc i32 %n to i8", 0},
      {"%x = udiv i32 7, %n", 18},
      {"%x = srem i32 7, %n", 23},
      {"%x = urem i32 %n, 7", 3},
      {"%x = sdiv i64 7, %l", 26},
      {"%x = udiv i64 %l, 7", 10},
      {"%x = fdiv float %f, %f", 10},
      {"%x = fdiv afn float %f, %f", 1},
      {"%x = call float @llvm.nvvm.div.approx.f(float %f, float %f)", 1},
      {"%x = fdiv double %d, %d", 16},
      {"%x = call float @llvm.nvvm.sqrt.rn.f(float %f)", 10},
      {"%x = call float @llvm.nvvm.sqrt.approx.f(float %f)", 1},
      {"%x = call double @llvm.sqrt.f64(double %d)", 16},
      {"%x = fmul double %d, %d", 1},
  };
  for (const auto &[Body, Count] : Rows) {
    SCOPED_TRACE(Body);
    Parsed P(
        "declare float @llvm.nvvm.div.approx.f(float, float)\n"
        "declare float @llvm.nvvm.sqrt.rn.f(float)\n"
        "declare float @llvm.nvvm.sqrt.approx.f(float)\n"
        "declare double @llvm.sqrt.f64(double)\n"
        "define ptx_kernel void @k(i32 %n, i64 %l, float %f, double %d) {" +
        std::string(Body) + "\nret void }");
    EXPECT_EQ(
        machineInstructions(*P.function().getEntryBlock().getFirstNonPHI()),
        Count);
    EXPECT_EQ(machineInstructions(P.function().getEntryBlock()), Count + 1);
  }
}

/// An immediate offset folds into the access, but not into a stored pointer.
TEST(Numbering, ConstantOffsetFoldsIntoAccesses) {
  Parsed P(R"(
    define ptx_kernel void @k(ptr %p) {
      %folds = getelementptr i32, ptr %p, i64 4
      %v = load i32, ptr %folds
      store i32 %v, ptr %folds
      %escapes = getelementptr i32, ptr %p, i64 5
      store ptr %escapes, ptr %folds
      ret void
    }
  )");
  EXPECT_FALSE(countsAsInstruction(P.value("folds")));
  EXPECT_TRUE(countsAsInstruction(P.value("escapes")));
}

/// x[i + 1] is at an offset from x[i], if that is there, and then i + 1 is not
/// computed; y[j + 1] has no neighbour: byte j of y is another thing.
TEST(Numbering, AddressesOfNeighboursFold) {
  Parsed P(R"(
    define ptx_kernel void @k(ptr %x, ptr %y, i32 %i, i64 %j) {
      %wide = sext i32 %i to i64
      %first = getelementptr float, ptr %x, i64 %wide
      store float 0.0, ptr %first
      %next = add nsw i32 %i, 1
      %wideNext = sext i32 %next to i64
      %second = getelementptr float, ptr %x, i64 %wideNext
      store float 0.0, ptr %second
      %byte = getelementptr i8, ptr %y, i64 %j
      store i8 0, ptr %byte
      %alone = add i64 %j, 1
      %third = getelementptr float, ptr %y, i64 %alone
      store float 0.0, ptr %third
      ret void
    }
  )");
  for (const char *Name : {"first", "alone", "third"})
    EXPECT_EQ(machineInstructions(P.value(Name)), 1u) << Name;
  for (const char *Name : {"wide", "next", "wideNext", "second"})
    EXPECT_EQ(machineInstructions(P.value(Name)), 0u) << Name;
}

/// A shuffle of a double takes two registers apart and puts two together.
TEST(Numbering, HalvesOf64BitsAreRegisters) {
  Parsed P(R"(
    define ptx_kernel void @k(i64 %v, ptr %p) {
      %low = trunc i64 %v to i32
      %shifted = lshr i64 %v, 32
      %high = trunc i64 %shifted to i32
      %wideLow = zext i32 %high to i64
      %wideHigh = zext i32 %low to i64
      %above = shl nuw i64 %wideHigh, 32
      %pair = or disjoint i64 %above, %wideLow
      store i64 %pair, ptr %p
      %used = lshr i64 %v, 32
      store i64 %used, ptr %p
      %odd = or i64 %pair, %v
      store i64 %odd, ptr %p
      ret void
    }
  )");
  for (const char *Name : {"shifted", "wideLow", "wideHigh", "above", "pair"})
    EXPECT_EQ(machineInstructions(P.value(Name)), 0u) << Name;
  for (const char *Name : {"used", "odd"})
    EXPECT_EQ(machineInstructions(P.value(Name)), 1u) << Name;
}

/// After a transform blocks are counted anew, and a branch keeps its number at
/// the first place that has it.
TEST(Numbering, RenumberingKeepsBranches) {
  Parsed P(R"(
    define ptx_kernel void @k(i1 %c) {
    entry:
      br i1 %c, label %a, label %b, !rc.branch !0, !rc.block !1
    a:
      br i1 %c, label %b, label %end, !rc.branch !0, !rc.block !1
    b:
      br i1 %c, label %end, label %last
    last:
      br i1 %c, label %end, label %last, !rc.branch !1
    end:
      ret void
    }
    !0 = !{i32 4}
    !1 = !{i32 2}
  )");
  renumberBlocks(*P.function().getParent());
  std::vector<uint32_t> Blocks, Branches;
  for (const BasicBlock &BB : P.function()) {
    Blocks.push_back(*blockNumber(BB));
    Branches.push_back(branchNumber(BB).value_or(99));
  }
  EXPECT_EQ(Blocks, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Branches, (std::vector<uint32_t>{4, 5, 6, 2, 99}));
}

} // namespace
