//===- unittests/warpvm/LateRegionsTest.cpp - Compiled when they first run ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a large kernel that is compiled fast, what no lane enters is no code. What
// is entered in another process is made there, from the kernel, and fits.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr unsigned Steps = 200, Threads = 96, Blocks = 8;

uint32_t stepped(uint32_t X, uint32_t By) {
  for (unsigned I = 0; I < Steps; ++I)
    X = (X ^ (X >> 5)) * By;
  return X;
}

/// Lines of the IR that does the same to %x.
std::string steps(const std::string &Name, uint32_t By) {
  std::string Text, Last = "%x";
  for (unsigned I = 0; I < Steps; ++I) {
    const std::string N = "%" + Name + std::to_string(I);
    Text += N + "s = lshr i32 " + Last + ", 5\n" + N + "t = xor i32 " + Last +
            ", " + N + "s\n" + N + " = mul i32 " + N + "t, " +
            std::to_string(By) + "\n";
    Last = N;
  }
  return Text + "store i32 " + Last + ", ptr %at\n";
}

/// Thread t writes stepped(t, By), and which By is, says an argument.
std::string kernelText() {
  return R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  define ptx_kernel void @k(ptr %out, i32 %which) {
  entry:
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %first = mul i32 %b, 96
    %x = add i32 %first, %t
    %at = getelementptr i32, ptr %out, i32 %x
    %c = icmp eq i32 %which, 0
    br i1 %c, label %a, label %d
  a:
)" + steps("a", 3) +
         "ret void\nd:\n" + steps("d", 5) + "ret void\n}\n";
}

class LateCode : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("late", Folder));
    O.CacheDir = std::string(Folder);
    O.Compile = Effort::Fast;
    O.Threads = 4;
  }
  void TearDown() override { (void)sys::fs::remove_directories(Folder); }

  /// On a machine of its own, as another process would.
  void run(std::vector<uint32_t> Which) {
    LLVMContext C;
    auto M = parseKernel(C, kernelText());
    auto On = cantFail(Machine::create(O));
    TestProgram P(*M, *On);
    for (uint32_t W : Which) {
      std::vector<uint32_t> Out(Blocks * Threads);
      P.run(shape(Blocks, Threads), Out.data(), W);
      for (unsigned I = 0; I < Out.size(); ++I)
        ASSERT_EQ(Out[I], stepped(I, W ? 5 : 3)) << I;
    }
  }
  std::vector<std::string> files() {
    std::vector<std::string> Found;
    std::error_code EC;
    for (sys::fs::directory_iterator I(Folder, EC), End; I != End && !EC;
         I.increment(EC))
      Found.push_back(I->path());
    EXPECT_FALSE(EC);
    return Found;
  }

  SmallString<128> Folder;
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
};

TEST_F(LateCode, WhatNobodyEntersIsNoCode) {
  run({0});
  const size_t One = files().size();
  EXPECT_GE(One, 2u); // the plan and a piece
  run({0});
  EXPECT_EQ(files().size(), One);
  run({0, 1});
  EXPECT_GT(files().size(), One);
}

TEST_F(LateCode, ComesFromTheKernelWhereTheCacheHasThePlanAlone) {
  run({1});
  run({0, 1});
  const size_t All = files().size();
  run({1, 0, 1});
  EXPECT_EQ(files().size(), All);
}

TEST_F(LateCode, APieceThatIsNotWholeIsMadeAgain) {
  run({0, 1});
  const auto Before = files();
  for (const std::string &Path : Before) {
    std::error_code EC;
    raw_fd_ostream(Path, EC) << "x";
    ASSERT_FALSE(EC);
    run({0, 1});
  }
  EXPECT_EQ(files().size(), Before.size());
}

TEST_F(LateCode, WorksWithoutACache) {
  O.CacheDir = "";
  run({0, 1, 0});
  EXPECT_TRUE(files().empty());
}

TEST_F(LateCode, CompiledWellThereIsOneFile) {
  O.Compile = Effort::Well;
  run({0});
  EXPECT_EQ(files().size(), 1u);
}

} // namespace
} // namespace reconverge::warpvm
