//===- unittests/remedies/FlattenRegistersTest.cpp - What it may cost -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counter of registers that says what the test wants, of the kernel before and
// after. Of 32 registers, 64 warps run on a multiprocessor of an H200; of 40,
// 48; of 42, 40.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"

#include "Harness.h"
#include "analysis/device/Annotations.h"
#include "remedies/flatten/Flatten.h"
#include "remedies/flatten/Refusals.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// A loop in a loop, of a kernel or of a function that a kernel calls.
const std::string Rows = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define KIND void @k(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %loop
loop:
  %left = phi i32 [ %t, %outer ], [ %half, %loop ]
  %half = lshr i32 %left, 1
  %c = icmp ne i32 %half, 0
  br i1 %c, label %loop, label %latch
latch:
  store i32 %i, ptr %out
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}
define ptx_kernel void @other() {
  ret void
}
)";

bool isFlattened(const Module &M) {
  return any_of(*M.getFunction("k"), [](const BasicBlock &BB) {
    return BB.getName().starts_with("flatten.");
  });
}

/// The limit that ptxas is told; 0: none.
unsigned limitOf(const Module &M) {
  const NamedMDNode *Notes = M.getNamedMetadata("nvvm.annotations");
  for (unsigned I = 0; Notes && I != Notes->getNumOperands(); ++I)
    if (const MDNode *Note = Notes->getOperand(I);
        cast<MDString>(Note->getOperand(1))->getString() == "maxnreg")
      return unsigned(
          mdconst::extract<ConstantInt>(Note->getOperand(2))->getZExtValue());
  return 0;
}

/// Made, and the limit that the kernel has then.
std::pair<PlanOr<Flattened>, unsigned>
flattenBetween(unsigned Before, unsigned After, FlattenOptions Options = {},
               StringRef Kind = "ptx_kernel") {
  LLVMContext C;
  std::string Text = Rows;
  Text.replace(Text.find("KIND"), 4, Kind.str());
  auto M = parseKernel(C, Text);
  Options.CountRegisters = [&](const Module &Of) {
    EXPECT_FALSE(Of.getFunction("other")) << "of one kernel";
    const unsigned Count = isFlattened(Of) ? After : Before;
    return Count ? std::optional(Count) : std::nullopt;
  };
  auto Made = flattenFunction(*M->getFunction("k"), Options);
  EXPECT_EQ(isFlattened(*M), std::holds_alternative<Flattened>(Made));
  return {Made, limitOf(*M)};
}

FlattenOptions whateverItCosts() {
  FlattenOptions Options;
  Options.Occupancy = false;
  return Options;
}

TEST(FlattenRegisters, FewerWarpsAreRefused) {
  const auto [Made, Limit] = flattenBetween(32, 40);
  const auto *Why = std::get_if<Refusal>(&Made);
  ASSERT_TRUE(Why);
  EXPECT_EQ(Why->Kind, &flatten::refuse::Registers);
  EXPECT_EQ(Why->Kind->code(), "RC711");
  EXPECT_EQ(Why->Detail, "40 registers instead of 32, 48 warps on a "
                         "multiprocessor instead of 64");
}

TEST(FlattenRegisters, OrAskedFor) {
  const auto [Made, Limit] = flattenBetween(32, 40, whateverItCosts());
  ASSERT_TRUE(std::holds_alternative<Flattened>(Made));
  EXPECT_EQ(std::get<Flattened>(Made).Registers,
            "; 40 registers instead of 32, 48 warps on a multiprocessor "
            "instead of 64");
  EXPECT_EQ(Limit, 0u);
}

TEST(FlattenRegisters, AFewMoreAreLimited) {
  for (bool Occupancy : {true, false}) {
    FlattenOptions Options;
    Options.Occupancy = Occupancy;
    const auto [Made, Limit] = flattenBetween(38, 42, Options);
    ASSERT_TRUE(std::holds_alternative<Flattened>(Made));
    EXPECT_EQ(Limit, Occupancy ? 40u : 0u);
    EXPECT_EQ(StringRef(std::get<Flattened>(Made).Registers)
                  .ends_with("; limited to 40"),
              Occupancy);
  }
}

TEST(FlattenRegisters, TheUsersLimitIsKept) {
  FlattenOptions Options = whateverItCosts();
  Options.Registers = 36;
  EXPECT_EQ(flattenBetween(32, 36, Options).second, 36u);
}

TEST(FlattenRegisters, AsManyWarpsAreNot) {
  EXPECT_TRUE(std::holds_alternative<Flattened>(flattenBetween(26, 32).first));
}

TEST(FlattenRegisters, UnknownOnesAreNot) {
  const auto Made = flattenBetween(0, 0).first;
  ASSERT_TRUE(std::holds_alternative<Flattened>(Made));
  EXPECT_EQ(std::get<Flattened>(Made).Registers, "");
}

/// Its callers have registers, it has none.
TEST(FlattenRegisters, OfAFunctionAreNotCounted) {
  FlattenOptions Options;
  Options.Registers = 36;
  const auto [Made, Limit] = flattenBetween(32, 40, Options, "");
  ASSERT_TRUE(std::holds_alternative<Flattened>(Made));
  EXPECT_EQ(Limit, 0u);
}

} // namespace
} // namespace reconverge::remedies
