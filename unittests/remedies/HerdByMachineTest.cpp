//===- unittests/remedies/HerdByMachineTest.cpp - What hardware may herd --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel loads %v by the thread's index, which is what its branches and
// accesses hang on.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/ByMachine.h"

#include "analysis/Numbering.h"

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

/// What is found of a kernel with \p Body behind its entry: names of blocks, to
/// which side lanes may be sent, then names of loads.
std::string found(const std::string &Body, bool Branches = true,
                  bool Loads = true) {
  LLVMContext Context;
  SMDiagnostic Bad;
  const auto M = parseAssemblyString(R"(
    target triple = "nvptx64-nvidia-cuda"
    target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare void @llvm.nvvm.barrier0()
    define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %pv = getelementptr i32, ptr addrspace(1) %in, i32 %tid
      %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
      %v = load i32, ptr addrspace(1) %pv
  )" + Body + "}",
                                     Bad, Context);
  if (!M) {
    ADD_FAILURE() << Bad.getMessage().str() << " in line " << Bad.getLineNo();
    return "";
  }
  analysis::numberBlocks(*M);
  const Function &K = *M->getFunction("k");
  const MachineHerding Herding = herdByMachine(K, Branches, Loads);
  std::string Text;
  for (const MovableBranch &Each : Herding.Branches)
    for (const BasicBlock &BB : K)
      if (analysis::branchNumber(BB) == Each.Number)
        Text += (BB.getName() + (Each.ToFirst ? " first" : "") +
                 (Each.ToSecond ? " second" : "") + "; ")
                    .str();
  for (uint32_t Load : Herding.Loads)
    for (const Instruction &I : instructions(K))
      if (analysis::accessNumber(I) == Load)
        Text += (I.getName() + "; ").str();
  return Text;
}

/// A loop that ends by a count, and by %v, with \p Inside in each round.
std::string counted(const std::string &Inside,
                    const std::string &Counts = "icmp ult i32 %i1, %n") {
  return R"(
      br label %head
    head:
      %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
      %x = phi i32 [ %v, %entry ], [ %x1, %latch ]
      %c = icmp slt i32 %x, 1000
      br i1 %c, label %latch, label %done
    latch:
      )" +
         Inside + R"(
      %x1 = mul i32 %x, 3
      %i1 = add i32 %i, 1
      %more = )" +
         Counts + R"(
      br i1 %more, label %head, label %done
    done:
      %r = phi i32 [ %x, %head ], [ %x1, %latch ]
      store i32 %r, ptr addrspace(1) %po
      ret void
  )";
}

/// An if on %v, with \p First and \p Second as its sides.
std::string ifOn(const std::string &First, const std::string &Second,
                 const std::string &Condition = "icmp sgt i32 %v, 7") {
  return "%c = " + Condition + R"(
      br i1 %c, label %first, label %)" +
         (Second.empty() ? "join" : "second") + R"(
    first:
      )" +
         First +
         R"(
      br label %join)" +
         (Second.empty() ? "" : "\nsecond:\n" + Second + "\nbr label %join") +
         R"(
    join:
      ret void
  )";
}

} // namespace

TEST(HerdByMachine, LanesGoOnWithALoopThatCountsAndDoesNothingElse) {
  EXPECT_EQ(found(counted(""), true, false), "head first second; ");
  // It may fault; it writes.
  EXPECT_EQ(found(counted("%y = load i32, ptr addrspace(1) %pv"), true, false),
            "head second; ");
  EXPECT_EQ(found(counted("store i32 %x, ptr addrspace(1) %po"), true, false),
            "head second; ");
  // The other end hangs on the data as well, so that nothing counts.
  EXPECT_EQ(found(counted("", "icmp slt i32 %x1, %n"), true, false),
            "latch second; ");
}

TEST(HerdByMachine, LanesSkipArmsAndAreSentIntoHarmlessOnes) {
  const std::string Store = "store i32 1, ptr addrspace(1) %po";
  EXPECT_EQ(found(ifOn(Store, ""), true, false), "entry second; ");
  EXPECT_EQ(found(ifOn(Store, Store), true, false), "");
  EXPECT_EQ(
      found(ifOn("%a = mul i32 %v, 3", "%b = mul i32 %v, 5"), true, false),
      "entry first second; ");
  EXPECT_EQ(found(ifOn("%a = sdiv i32 %n, %v", ""), true, false),
            "entry second; ");
  EXPECT_EQ(found(ifOn("call void @llvm.nvvm.barrier0()", ""), true, false),
            "");
  // Of the thread's number, and of what is the same for all.
  EXPECT_EQ(found(ifOn(Store, "", "icmp slt i32 %tid, %n"), true, false), "");
  EXPECT_EQ(found(ifOn(Store, "", "icmp slt i32 %n, 7"), true, false), "");
}

TEST(HerdByMachine, LoadsThatDecideNothing) {
  EXPECT_EQ(found("store i32 %v, ptr addrspace(1) %po\nret void"), "v; ");
  EXPECT_EQ(found("store i32 %v, ptr addrspace(1) %po\nret void", true, false),
            "");
  EXPECT_EQ(found(R"(
      %p = getelementptr i32, ptr addrspace(1) %in, i32 %v
      %w = load i32, ptr addrspace(1) %p
      store i32 %w, ptr addrspace(1) %po
      ret void)"),
            ""); // %v decides an address, and %w is its neighbour
  EXPECT_EQ(found(R"(
      br label %next
    next:
      %p = getelementptr i32, ptr addrspace(1) %in, i32 %v
      %w = load i32, ptr addrspace(1) %p
      store i32 %w, ptr addrspace(1) %po
      ret void)"),
            "w; ");
  EXPECT_EQ(found(R"(
      %d = udiv i32 %n, %v
      store i32 %d, ptr addrspace(1) %po
      ret void)"),
            "");
  EXPECT_EQ(found(counted("", "icmp slt i32 %x1, %n"), false, true), "");
  EXPECT_EQ(found(counted(""), false, true), "v; "); // the loop counts, too
  EXPECT_EQ(found(R"(
      %w = load volatile i32, ptr addrspace(1) %po
      ret void)"),
            "v; ");
  // The same address for all lanes.
  EXPECT_EQ(found(R"(
      %w = load i32, ptr addrspace(1) %out
      store i32 %w, ptr addrspace(1) %po
      ret void)"),
            "v; ");
}

/// A loop whose lanes may be held back ends by its count, whatever is loaded;
/// but not if the count is what is loaded.
TEST(HerdByMachine, BranchesAndLoadsTogether) {
  EXPECT_EQ(found(counted("")), "head first second; v; ");
  EXPECT_EQ(found(counted("", "icmp ult i32 %i1, %v")), "latch second; ");
}
