//===- unittests/warpvm/PointersTest.cpp - Which parameters are followed --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pointer of the host's that a kernel is passed and never reads is no reason
// to test all its accesses.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/prepare/Prepare.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// Of a kernel with \p Parameters and such a body. %S: { ptr, i32, ptr, double }
std::vector<uint64_t> followed(const std::string &Parameters,
                               const std::string &Body) {
  LLVMContext C;
  auto M = parseKernel(C, "%S = type { ptr, i32, ptr, double }\n"
                          "declare void @callee(ptr)\n"
                          "define ptx_kernel void @k(" +
                              Parameters + ") {\n" + Body +
                              "\nret void\n}\n"
                              "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, "
                              "i64, i1)");
  if (!M)
    return {~uint64_t(0)};
  const auto Found = pointersFollowed(*M->getFunction("k"));
  return {Found.begin(), Found.end()};
}
using Offsets = std::vector<uint64_t>;
const char ByVal[] = "i64 %n, ptr byval(%S) align 8 %s";

TEST(PointersFollowed, OnesOfTheirOwn) {
  EXPECT_EQ(followed("ptr %a, i32 %n, ptr %b", "store i32 %n, ptr %b"),
            Offsets{16});
  EXPECT_EQ(followed("ptr %a", ""), Offsets());
}

// The class lies at 8; its pointers at 0 and 16 of it.
TEST(PointersFollowed, OfAClassThoseThatAreRead) {
  EXPECT_EQ(followed(ByVal, ""), Offsets());
  EXPECT_EQ(followed(ByVal, "%x = load ptr, ptr %s"), Offsets{8});
  EXPECT_EQ(followed(ByVal, "%p = getelementptr i8, ptr %s, i64 16\n"
                            "%x = load ptr, ptr %p"),
            Offsets{24});
  EXPECT_EQ(followed(ByVal, "%x = load [2 x i64], ptr %s"), Offsets{8});
  EXPECT_EQ(followed(ByVal, "%p = getelementptr %S, ptr %s, i64 0, i32 1\n"
                            "%x = load i128, ptr %p"),
            Offsets{24});
}

TEST(PointersFollowed, NotWhatIsReadAsANumber) {
  EXPECT_EQ(followed(ByVal, "%x = load double, ptr %s"), Offsets());
  EXPECT_EQ(followed(ByVal, "%x = load <2 x i32>, ptr %s"), Offsets());
  EXPECT_EQ(followed(ByVal, "%x = load i64, ptr %s"), Offsets{8})
      << "it may become a pointer";
  EXPECT_EQ(followed(ByVal, "%x = load <2 x i64>, ptr %s"), Offsets{8});
}

TEST(PointersFollowed, AllWhereTheReadsAreUnknown) {
  const Offsets Both = {8, 24};
  EXPECT_EQ(followed(ByVal, "call void @callee(ptr %s)"), Both);
  EXPECT_EQ(followed(ByVal, "%p = getelementptr i8, ptr %s, i64 %n\n"
                            "%x = load ptr, ptr %p"),
            Both);
  EXPECT_EQ(followed(ByVal, "%x = ptrtoint ptr %s to i64"), Both);
  EXPECT_EQ(followed(ByVal,
                     "%a = alloca %S\n"
                     "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %s, i64 32, "
                     "i1 false)"),
            Both);
  EXPECT_EQ(followed(ByVal,
                     "%a = alloca %S\n"
                     "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %s, i64 16, "
                     "i1 false)"),
            Offsets{8});
}

TEST(PointersFollowed, WhereNothingIsNobodyLooks) {
  int Here = 0;
  EXPECT_TRUE(isMapped(uint64_t(&Here)));
  EXPECT_FALSE(isMapped(0));
  EXPECT_FALSE(isMapped(0xd000d));
  EXPECT_FALSE(isMapped(~uint64_t(0)));
}

} // namespace
} // namespace reconverge::warpvm
