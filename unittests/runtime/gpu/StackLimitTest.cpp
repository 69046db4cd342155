//===- StackLimitTest.cpp - Room for longer frames ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/StackLimit.h"
#include "runtime/gpu/Cudart.h"

#include "analysis/Numbering.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::gpu;

static constexpr StringLiteral Source = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @flat(i32 %n) {
  %x = call i32 @twice(i32 %n)
  ret void
}
define ptx_kernel void @recursive(i32 %n) {
  %x = call i32 @outer(i32 %n)
  ret void
}
define ptx_kernel void @pointed(ptr %f) {
  call void %f()
  ret void
}
define i32 @twice(i32 %n) noinline {
  %x = add i32 %n, %n
  ret i32 %x
}
; outer(n) = n ? inner(n - 1) : 0;  inner(n) = outer(n) + n
define i32 @outer(i32 %n) noinline {
entry:
  %go = icmp ne i32 %n, 0
  br i1 %go, label %deeper, label %end
deeper:
  %less = sub i32 %n, 1
  %x = call i32 @inner(i32 %less)
  br label %end
end:
  %r = phi i32 [0, %entry], [%x, %deeper]
  ret i32 %r
}
define i32 @inner(i32 %n) noinline {
  %x = call i32 @outer(i32 %n)
  %r = add i32 %x, %n
  ret i32 %r
}
)";

namespace {
/// A runtime whose device has a stack limit and some memory.
struct Device {
  size_t Limit = 1024, Free = size_t(8) << 30;
  std::vector<size_t> Set;
  bool Refuses = false;
} Now;

void *find(const char *Name) {
  static const StringMap<void *> Functions = [] {
    StringMap<void *> F;
    auto Add = [&](StringRef Name, auto *Function) {
      F[Name] = reinterpret_cast<void *>(Function);
    };
    Add("cudaGetDevice", +[](int *D) { return *D = 0, cudaSuccess; });
    Add(
        "cudaDeviceGetAttribute", +[](int *V, cudaDeviceAttr A, int) {
          *V = A == cudaDevAttrMultiProcessorCount ? 128 : 2048;
          return cudaSuccess;
        });
    Add("cudaPeekAtLastError", +[] { return cudaSuccess; });
    Add("cudaGetLastError", +[] { return cudaSuccess; });
    Add(
        "cudaDeviceGetLimit",
        +[](size_t *V, cudaLimit) { return *V = Now.Limit, cudaSuccess; });
    Add(
        "cudaDeviceSetLimit", +[](cudaLimit L, size_t V) {
          EXPECT_EQ(L, cudaLimitStackSize);
          if (Now.Refuses)
            return cudaErrorMemoryAllocation;
          Now.Set.push_back(Now.Limit = V);
          return cudaSuccess;
        });
    Add(
        "cudaMemGetInfo", +[](size_t *Free, size_t *Total) {
          return *Free = *Total = Now.Free, cudaSuccess;
        });
    return F;
  }();
  return Functions.lookup(Name);
}

class StackLimit : public testing::Test {
protected:
  void SetUp() override {
    setCudart(find);
    Now = Device();
    SMDiagnostic Error;
    M = parseAssemblyString(Source, Error, Context);
    ASSERT_TRUE(M) << Error.getMessage().str();
    analysis::numberBlocks(*M);
  }
  uint64_t added(StringRef Kernel) {
    return addedToFrames(analysis::functionsOf(*M->getFunction(Kernel)));
  }
  LLVMContext Context;
  std::unique_ptr<Module> M;
};
} // namespace

TEST_F(StackLimit, OnlyCallsOfUnknownDepthNeedIt) {
  EXPECT_EQ(added("flat"), 0u);
  // ptxas made a frame of this shape 16 bytes longer, and one of a function
  // with three branches 104.
  EXPECT_GE(added("recursive"), 48u);
  EXPECT_LE(added("recursive"), 160u);
}

TEST_F(StackLimit, AsManyFramesFitAsBefore) {
  EXPECT_EQ(limitFor(1024, 0), 1024u);
  EXPECT_EQ(limitFor(1024, 16), 2048u);
  EXPECT_EQ(limitFor(1024, 104), 7680u);
  EXPECT_EQ(limitFor(256 << 10, 64), 512u << 10) << "more no GPU gives";
}

TEST_F(StackLimit, TheProgramsOwnComesBack) {
  Now.Limit = 2000;
  {
    const RaisedStack Room(48);
    EXPECT_EQ(Now.Limit, 8000u);
  }
  EXPECT_EQ(Now.Limit, 2000u);
  EXPECT_EQ(RaisedStack::highest(), 8000u);
  {
    const RaisedStack Room(0);
  }
  EXPECT_EQ(Now.Set.size(), 2u);
}

TEST_F(StackLimit, HalfOfTheFreeMemoryIsLeft) {
  Now.Free = size_t(1) << 30; // 4 KiB for each of 2^18 threads
  const RaisedStack Room(160);
  EXPECT_EQ(Now.Limit, 1024u + 2048u);
}

TEST_F(StackLimit, ADeviceThatRefusesKeepsItsLimit) {
  Now.Refuses = true;
  {
    const RaisedStack Room(48);
  }
  EXPECT_EQ(Now.Limit, 1024u);
}
