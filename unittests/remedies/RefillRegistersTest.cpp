//===- unittests/remedies/RefillRegistersTest.cpp - What it may cost ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counter of registers that says what the test wants, of the kernel before and
// after. Of 32 registers, 64 warps run on a multiprocessor of an H200; of 40,
// 48.
//
//===----------------------------------------------------------------------===//

#include "RefillKernels.h"

#include "remedies/refill/Refusals.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

const std::string Halving = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %left = phi i32 [ %t, %entry ], [ %half, %loop ]
  %half = lshr i32 %left, 1
  %more = icmp ne i32 %half, 0
  br i1 %more, label %loop, label %done
done:
  store i32 %half, ptr %out
  ret void
}
define ptx_kernel void @other() {
  ret void
}
)";

bool isRefilled(const Module &M) {
  return any_of(*M.getFunction("k"), [](const BasicBlock &BB) {
    return BB.getName().starts_with("refill.");
  });
}

PlanOr<Refilled> refillBetween(unsigned Before, unsigned After,
                               bool Occupancy = true) {
  LLVMContext C;
  auto M = parseKernel(C, Halving);
  RefillOptions Options;
  Options.Occupancy = Occupancy;
  Options.CountRegisters = [&](const Module &Of) {
    EXPECT_FALSE(Of.getFunction("other")) << "of one kernel";
    const unsigned Count = isRefilled(Of) ? After : Before;
    return Count ? std::optional(Count) : std::nullopt;
  };
  auto Made = refillKernel(*M->getFunction("k"), Options);
  EXPECT_EQ(isRefilled(*M), std::holds_alternative<Refilled>(Made));
  return Made;
}

TEST(RefillRegisters, FewerWarpsAreRefused) {
  const auto Made = refillBetween(32, 40);
  const auto *Why = std::get_if<Refusal>(&Made);
  ASSERT_TRUE(Why);
  EXPECT_EQ(Why->Kind, &refill::refuse::Registers);
  EXPECT_EQ(Why->Kind->code(), "RC411");
  EXPECT_EQ(Why->Detail, "40 registers instead of 32, 48 warps on a "
                         "multiprocessor instead of 64");
}

TEST(RefillRegisters, OrAskedFor) {
  const auto Made = refillBetween(32, 40, /*Occupancy=*/false);
  ASSERT_TRUE(std::holds_alternative<Refilled>(Made));
  EXPECT_EQ(
      std::get<Refilled>(Made).Registers,
      "; 40 registers instead of 32, 48 warps on a multiprocessor instead "
      "of 64");
}

/// 40 registers are 48 warps, as 38 are; of 42, 40 run.
TEST(RefillRegisters, AFewMoreAreLimited) {
  for (bool Occupancy : {true, false}) {
    const auto Made = refillBetween(38, 42, Occupancy);
    ASSERT_TRUE(std::holds_alternative<Refilled>(Made));
    EXPECT_EQ(std::get<Refilled>(Made).Options.Registers, Occupancy ? 40 : 0);
  }
}

TEST(RefillRegisters, AsManyWarpsAreNot) {
  EXPECT_TRUE(std::holds_alternative<Refilled>(refillBetween(26, 32)));
}

TEST(RefillRegisters, UnknownOnesAreNot) {
  const auto Made = refillBetween(0, 0);
  ASSERT_TRUE(std::holds_alternative<Refilled>(Made));
  EXPECT_EQ(std::get<Refilled>(Made).Registers, "");
}

TEST(RefillRegisters, BlocksAreWholeWarpsWithinLaunchBounds) {
  LLVMContext C;
  const std::pair<unsigned, unsigned> Blocks[] = {
      {1024, 128}, {100, 96}, {64, 64}, {7, 32}};
  for (auto [Bound, Block] : Blocks) {
    auto M = parseKernel(C, Halving +
                                "!nvvm.annotations = !{!0}\n!0 = !{ptr "
                                "@k, !\"maxntidx\", i32 " +
                                std::to_string(Bound) + "}\n");
    auto Made = refillKernel(*M->getFunction("k"), {});
    ASSERT_TRUE(std::holds_alternative<Refilled>(Made));
    const RecipeStep &Step = std::get<Refilled>(Made).Launch.Steps[0];
    EXPECT_EQ(Step.Block.Amount.Times, Block);
    ASSERT_TRUE(Step.Grid.Most);
    EXPECT_EQ(Step.Grid.Most->Per, Block);
  }
}

} // namespace
} // namespace reconverge::remedies
