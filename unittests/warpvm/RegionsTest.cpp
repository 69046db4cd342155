//===- unittests/warpvm/RegionsTest.cpp - Loops in which threads wait -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops go back to the scheduler each round, so that others get on, and
// which stay in one piece of compiled code, which is fast.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "analysis/Uniformity.h"
#include "warpvm/emit/Regions.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// Warp 0 goes round %Loop, which begins at `loop` and leaves to `done`; warp 1
/// sets the flag.
std::string withLoop(StringRef Loop) {
  return (R"(
    declare void @llvm.nvvm.nanosleep(i32)
    declare void @llvm.nvvm.bar.warp.sync(i32)
    declare void @llvm.nvvm.membar.gl()
    define ptx_kernel void @k(ptr %flag, ptr %data) {
    entry:
      %own = alloca [4 x i32]
      %place = alloca ptr
      store ptr %flag, ptr %place
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %slot = and i32 %t, 3
      %mine = getelementptr i32, ptr %own, i32 %slot
      store i32 0, ptr %own
      store i32 0, ptr %mine
      %waits = icmp ult i32 %t, 32
      br i1 %waits, label %loop, label %set
    )" + Loop +
          R"(
    set:
      %old = atomicrmw xchg ptr %flag, i32 1 seq_cst
      br label %done
    done:
      ret void
    })")
      .str();
}

/// Whether the loop is taken for one in which lanes may wait.
bool mayWait(const std::string &Text) {
  LLVMContext Context;
  auto M = parseKernel(Context, Text);
  PreparedKernel K = cantFail(prepareKernel(*M->getFunction("k")));
  DominatorTree DT(*K.F);
  LoopInfo LI(DT);
  auto Uniform = analysis::computeUniformity(*K.F);
  RegionPlanner Plan(*K.F, LI, Uniform, Tier::Fused, /*Limit=*/1000);
  EXPECT_FALSE(LI.empty());
  return Plan.opensWait(*(*LI.begin())->getHeader());
}

struct Case {
  const char *Name, *Loop;
};

const Case Waits[] = {
    {"a volatile load", R"(
    loop:
      %x = load volatile i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"a plain load and a fence", R"(
    loop:
      %x = load i32, ptr %flag
      call void @llvm.nvvm.membar.gl()
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"a clobber of memory", R"(
    loop:
      fence syncscope("singlethread") seq_cst
      %x = load i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"a pause", R"(
    loop:
      call void @llvm.nvvm.nanosleep(i32 20)
      %x = load i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"__syncwarp", R"(
    loop:
      call void @llvm.nvvm.bar.warp.sync(i32 -1)
      %x = load i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"a plain load, not optimised", R"(
    loop:
      store i32 1, ptr %own
      %p = load ptr, ptr %place
      %x = load i32, ptr %p
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done)"},
    {"by way of a local array", R"(
    loop:
      %x = load volatile i32, ptr %flag
      store i32 %x, ptr %mine
      %y = load i32, ptr %own
      %z = load i32, ptr %mine
      %c = icmp eq i32 %z, 0
      br i1 %c, label %loop, label %done)"},
    {"a local that a branch sets", R"(
    loop:
      %x = cmpxchg ptr %flag, i32 1, i32 1 seq_cst seq_cst
      %got = extractvalue { i32, i1 } %x, 1
      br i1 %got, label %note, label %look
    note:
      store i32 1, ptr %mine
      br label %look
    look:
      %z = load i32, ptr %mine
      %c = icmp eq i32 %z, 0
      br i1 %c, label %loop, label %done)"},
    {"an exit that a branch leads to", R"(
    loop:
      %n = phi i32 [ 1, %entry ], [ %n, %loop ], [ %n, %exit ]
      %x = load volatile i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %exit
    exit:
      %e = icmp eq i32 %n, 1
      br i1 %e, label %done, label %loop)"},
};

const Case GoesOn[] = {
    {"a walk through a list", R"(
    loop:
      %p = phi ptr [ %data, %entry ], [ %next, %loop ]
      %next = load ptr, ptr %p
      %c = icmp eq ptr %next, null
      br i1 %c, label %done, label %loop)"},
    {"a count with fences and loads", R"(
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
      %p = getelementptr i32, ptr %data, i32 %i
      %x = load i32, ptr %p
      store i32 %x, ptr %flag
      call void @llvm.nvvm.membar.gl()
      %i1 = add i32 %i, 1
      %c = icmp eq i32 %i1, 100
      br i1 %c, label %done, label %loop)"},
    {"a count with a branch on an atomic", R"(
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %next ]
      %x = atomicrmw add ptr %data, i32 1 seq_cst
      %even = icmp eq i32 %x, 4
      br i1 %even, label %then, label %next
    then:
      store i32 1, ptr %flag
      br label %next
    next:
      %i1 = add i32 %i, 1
      %c = icmp eq i32 %i1, 100
      br i1 %c, label %done, label %loop)"},
    {"an end in memory that no thread writes", R"(
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
      call void @llvm.nvvm.membar.gl()
      %end = load i32, ptr %data, !invariant.load !{}
      %i1 = add i32 %i, 1
      %c = icmp sge i32 %i1, %end
      br i1 %c, label %done, label %loop)"},
    {"an end that is loaded each time", R"(
    loop:
      %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
      %x = atomicrmw add ptr %flag, i32 %i seq_cst
      %end = load i32, ptr %data
      %i1 = add i32 %i, 1
      %c = icmp sge i32 %i1, %end
      br i1 %c, label %done, label %loop)"},
};

TEST(WaitingLoops, AreTold) {
  for (const Case &C : Waits)
    EXPECT_TRUE(mayWait(withLoop(C.Loop))) << C.Name;
  for (const Case &C : GoesOn)
    EXPECT_FALSE(mayWait(withLoop(C.Loop))) << C.Name;
  EXPECT_TRUE(mayWait(withLoop("loop:\nbr label %loop"))) << "without end";
}

/// A loop that is left in one piece would meet the step limit.
TEST(WaitingLoops, LetOthersGoOn) {
  for (const Case &C : Waits) {
    MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
    O.StepLimit = 100000;
    SCOPED_TRACE(C.Name);
    TestProgram P(withLoop(C.Loop), O);
    uint32_t Flag = 0, Data = 0;
    P.run(shape(1, 64), &Flag, &Data);
    EXPECT_EQ(Flag, 1u);
  }
}

/// Block 0 waits, at a barrier each round, for what block 1 does.
TEST(WaitingLoops, WithABarrierLetOtherBlocksGoOn) {
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
  TestProgram P(R"(
    define ptx_kernel void @k(ptr %flag) {
    entry:
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %waits = icmp eq i32 %b, 0
      br i1 %waits, label %loop, label %set
    loop:
      call void @llvm.nvvm.barrier0()
      %x = load i32, ptr %flag
      %c = icmp eq i32 %x, 0
      br i1 %c, label %loop, label %done
    set:
      store i32 1, ptr %flag
      br label %done
    done:
      ret void
    })",
                O);
  uint32_t Flag = 0;
  P.run(shape(2, 64), &Flag);
  EXPECT_EQ(Flag, 1u);
}

} // namespace
} // namespace reconverge::warpvm
