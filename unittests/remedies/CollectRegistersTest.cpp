//===- unittests/remedies/CollectRegistersTest.cpp - What it may cost -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counter of registers that says what the test wants, of the kernel before and
// after. Of 32 registers, 64 warps run on a multiprocessor of an H200; of 40,
// 48.
//
//===----------------------------------------------------------------------===//

#include "CollectKernels.h"

#include "analysis/device/Annotations.h"
#include "remedies/collect/Refusals.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

const std::string TwoPaths = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %in, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr %in, i32 %t
  %po = getelementptr i32, ptr %out, i32 %t
  %x = load i32, ptr %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %s = mul i32 %x, %x
  store i32 %s, ptr %po
  ret void
else:
  store i32 %x, ptr %po
  ret void
}
define ptx_kernel void @other() {
  ret void
}
)";

bool isCollected(const Module &M) {
  return any_of(*M.getFunction("k"), [](const BasicBlock &BB) {
    return BB.getName().starts_with("collect.");
  });
}

/// Limited, the kernel spills, or does with as many as it is given.
PlanOr<Collected> collectBetween(unsigned Before, unsigned After,
                                 CollectOptions Options = {},
                                 bool Spills = true) {
  LLVMContext C;
  auto M = parseKernel(C, TwoPaths);
  Options.Threshold = 1;
  Options.Short = 0;
  Options.CountRegisters = [&](const Module &Of) -> std::optional<RegisterUse> {
    EXPECT_FALSE(Of.getFunction("other")) << "of one kernel";
    if (const unsigned Limit = analysis::registerLimit(*Of.getFunction("k")))
      return RegisterUse(Limit, Spills);
    const unsigned Count = isCollected(Of) ? After : Before;
    return Count ? std::optional<RegisterUse>(Count) : std::nullopt;
  };
  auto Made = collectKernel(*M->getFunction("k"), Options);
  EXPECT_EQ(isCollected(*M), std::holds_alternative<Collected>(Made));
  return Made;
}

TEST(CollectRegisters, FewerWarpsAreRefused) {
  const auto Made = collectBetween(32, 40);
  const auto *Why = std::get_if<Refusal>(&Made);
  ASSERT_TRUE(Why);
  EXPECT_EQ(Why->Kind, &collect::refuse::Warps);
  EXPECT_EQ(Why->Kind->code(), "RC521");
  EXPECT_EQ(Why->Detail, "40 registers instead of 32, 48 warps on a "
                         "multiprocessor instead of 64");
}

TEST(CollectRegisters, UnlessPtxasDoesWithLess) {
  const auto Made = collectBetween(32, 55, {}, /*Spills=*/false);
  ASSERT_TRUE(std::holds_alternative<Collected>(Made));
  EXPECT_EQ(std::get<Collected>(Made).Warps,
            "; 55 registers instead of 32, 32 warps on a multiprocessor "
            "instead of 64; limited to 32");
}

TEST(CollectRegisters, OrAskedFor) {
  CollectOptions Options;
  Options.Occupancy = false;
  const auto Made = collectBetween(32, 40, Options);
  ASSERT_TRUE(std::holds_alternative<Collected>(Made));
  EXPECT_EQ(
      std::get<Collected>(Made).Warps,
      "; 40 registers instead of 32, 48 warps on a multiprocessor instead "
      "of 64");
}

TEST(CollectRegisters, AsManyWarpsAreNot) {
  EXPECT_TRUE(std::holds_alternative<Collected>(collectBetween(26, 32)));
}

/// Eight items of each of 64 threads are 2,300 bytes, and 32 blocks of them 74
/// KiB: there is room. Of 1,024 threads they are 33 KiB, of which two blocks
/// have room as well.
TEST(CollectRegisters, SharedMemoryCountsToo) {
  CollectOptions Options;
  Options.Items = 8;
  for (unsigned Threads : {64u, 1024u}) {
    Options.Threads = Threads;
    const auto Made = collectBetween(32, 32, Options);
    ASSERT_TRUE(std::holds_alternative<Collected>(Made)) << Threads;
    EXPECT_EQ(std::get<Collected>(Made).Warps,
              "; 32 registers instead of 32, 64 warps on a multiprocessor "
              "instead of 64");
  }
}

TEST(CollectRegisters, UnknownOnesAreNot) {
  const auto Made = collectBetween(0, 0);
  ASSERT_TRUE(std::holds_alternative<Collected>(Made));
  EXPECT_EQ(std::get<Collected>(Made).Warps, "");
}

} // namespace
} // namespace reconverge::remedies
