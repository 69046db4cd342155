//===- unittests/warpvm/SharedAddressTest.cpp - Addresses as numbers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs keep shared addresses in 32 bits, to hand them to inline PTX.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// Thread t writes to its own element and reads element 63 - t by a number.
TEST(SharedAddress, SurvivesThirtyTwoBits) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @before = internal addrspace(3) global [5 x i32] poison
      @s = internal addrspace(3) global [64 x i32] poison, align 16
      define ptx_kernel void @k(ptr %out, ptr %number) {
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %mine = getelementptr i32, ptr addrspace(3) @s, i32 %t
        store i32 %t, ptr addrspace(3) %mine
        call void @llvm.nvvm.barrier0()
        %b = load i32, ptr addrspace(3) @before
        %other = sub i32 63, %t
        %theirs = getelementptr i32, ptr addrspace(3) @s, i32 %other
        %generic = addrspacecast ptr addrspace(3) %theirs to ptr
        %back = addrspacecast ptr %generic to ptr addrspace(3)
        %wide = ptrtoint ptr addrspace(3) %back to i64
        %word = trunc i64 %wide to i32
        %direct = ptrtoint ptr addrspace(3) %theirs to i32
        %d = sub i32 %word, %direct
        %sum = add i32 %word, %d
        %again = inttoptr i32 %sum to ptr addrspace(3)
        %x = load i32, ptr addrspace(3) %again
        %po = getelementptr i32, ptr %out, i32 %t
        store i32 %x, ptr %po
        %pn = getelementptr i32, ptr %number, i32 %t
        store i32 %word, ptr %pn
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(64), Number(64);
    P.run(shape(1, 64), Out.data(), Number.data());
    for (unsigned T = 0; T < 64; ++T) {
      EXPECT_EQ(Out[T], 63 - T);
      EXPECT_EQ(Number[T], 32 + 4 * (63 - T))
          << "@s lies at 32, behind @before";
    }
  }
}

/// The same for an address that all lanes share, and for a constant one.
TEST(SharedAddress, UniformAndConstant) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @s = internal addrspace(3) global [8 x i32] poison, align 16
      define ptx_kernel void @k(ptr %out, i32 %n) {
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %element = getelementptr i32, ptr addrspace(3) @s, i32 %n
        %word = ptrtoint ptr addrspace(3) %element to i32
        %p = inttoptr i32 %word to ptr addrspace(3)
        store i32 7, ptr addrspace(3) %p
        store i32 9, ptr addrspace(3) inttoptr (i64 4 to ptr addrspace(3))
        call void @llvm.nvvm.barrier0()
        %c = and i32 %t, 7
        %q = getelementptr i32, ptr addrspace(3) @s, i32 %c
        %x = load i32, ptr addrspace(3) %q
        %po = getelementptr i32, ptr %out, i32 %t
        store i32 %x, ptr %po
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(40);
    P.run(shape(1, 40), Out.data(), 5u);
    for (unsigned T = 0; T < 40; ++T)
      EXPECT_EQ(Out[T], T % 8 == 5 ? 7u : T % 8 == 1 ? 9u : 0u);
  }
}

} // namespace
} // namespace reconverge::warpvm
