//===- unittests/warpvm/DeterminismTest.cpp - The same, again and again ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neither the number of CPU threads, nor the order of blocks and warps, nor
// where compiled code comes from changes a result or a count.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

struct Outcome {
  std::vector<uint32_t> Out, Sums;
  LaunchCounts Counts;
};

Outcome runRandom(Module &M, Machine &On, unsigned Blocks, unsigned Threads) {
  std::vector<uint32_t> In(RandomKernelInWords);
  for (unsigned I = 0; I < In.size(); ++I)
    In[I] = I * 2654435761u >> (I % 28);
  Outcome R;
  R.Out.resize(Blocks * Threads * RandomKernelOutBytes / 4);
  R.Sums.resize(RandomKernelSums);
  TestProgram P(M, On);
  P.run(shape(Blocks, Threads), In.data(), R.Out.data(), R.Sums.data(), 5u);
  R.Counts = P.counts();
  return R;
}

void expectSame(const Outcome &A, const Outcome &B) {
  EXPECT_EQ(A.Out, B.Out);
  EXPECT_EQ(A.Sums, B.Sums);
  EXPECT_EQ(differenceOf(A.Counts, B.Counts), "");
}

TEST(Determinism, CpuThreadsAndSeedsChangeNothing) {
  for (uint64_t Seed = 1; Seed <= 6; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, {});
    MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
    const Outcome First = runRandom(*M, machineFor(O), 37, 96);
    for (unsigned Threads : {1u, 2u, 5u})
      for (uint64_t Order : {0, 1, 12345}) {
        SCOPED_TRACE("kernel " + std::to_string(Seed) + ", " +
                     std::to_string(Threads) + " CPU threads, order " +
                     std::to_string(Order));
        O.Threads = Threads;
        O.Seed = Order;
        expectSame(First, runRandom(*M, machineFor(O), 37, 96));
      }
  }
}

/// A seed does change the order of blocks: the last to write a word differs.
TEST(Determinism, SeedsChangeTheOrderOfBlocks) {
  std::vector<uint32_t> Last;
  for (uint64_t Seed : {0, 3, 77}) {
    MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
    O.Seed = Seed;
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %p) {
        %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        store i32 %b, ptr %p
        ret void
      })",
                  O);
    uint32_t Word = 0;
    P.run(shape(50, 32), &Word);
    Last.push_back(Word);
  }
  EXPECT_EQ(Last[0], 49u);
  EXPECT_NE(Last[1], 49u);
  EXPECT_NE(Last[2], Last[1]);
}

//===----------------------------------------------------------------------===//
// The cache of compiled kernels
//===----------------------------------------------------------------------===//

class Cache : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("warpvm-cache", Dir));
    M = randomKernel(C, 11, {});
    Want = runRandom(*M, machineFor(options()), 3, 96);
  }
  void TearDown() override { sys::fs::remove_directories(Dir); }

  MachineOptions options(StringRef CacheDir = "") {
    MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
    O.CacheDir = CacheDir.str();
    return O;
  }
  /// Runs on a machine of its own, as another process would.
  void runWithCache(StringRef In) {
    auto Machine = cantFail(Machine::create(options(In)));
    expectSame(Want, runRandom(*M, *Machine, 3, 96));
  }
  std::map<std::string, std::string> files() {
    std::map<std::string, std::string> Found;
    std::error_code EC;
    for (sys::fs::directory_iterator I(Dir, EC), End; I != End && !EC;
         I.increment(EC))
      Found[I->path()] = (*MemoryBuffer::getFile(I->path()))->getBuffer().str();
    EXPECT_FALSE(EC);
    return Found;
  }
  void write(const std::string &Path, StringRef Bytes) {
    std::error_code EC;
    raw_fd_ostream OS(Path, EC);
    ASSERT_FALSE(EC);
    OS << Bytes;
  }

  LLVMContext C;
  std::unique_ptr<Module> M;
  Outcome Want;
  SmallString<128> Dir;
};

TEST_F(Cache, IsFilledOnceAndUsed) {
  runWithCache(Dir);
  const auto Filled = files();
  EXPECT_EQ(Filled.size(), 2u); // the kernel and its operations
  runWithCache(Dir);
  EXPECT_EQ(files(), Filled);
}

TEST_F(Cache, TwoCompilationsGiveTheSameBytes) {
  runWithCache(Dir);
  const auto First = files();
  for (auto &[Path, Bytes] : First)
    ASSERT_FALSE(sys::fs::remove(Path));
  runWithCache(Dir);
  EXPECT_EQ(files(), First);
}

TEST_F(Cache, DamagedFilesAreMadeAgain) {
  runWithCache(Dir);
  const auto Good = files();
  ASSERT_EQ(Good.size(), 2u);
  for (const auto &[Path, Bytes] : Good) {
    std::string Flipped = Bytes;
    Flipped[Bytes.size() / 2] ^= 0x40;
    for (const std::string &Bad :
         {std::string(), Bytes.substr(0, 5), Bytes.substr(0, Bytes.size() / 2),
          Bytes.substr(0, Bytes.size() - 1), Bytes + "x", Flipped,
          std::string(Bytes.size(), '\0')}) {
      SCOPED_TRACE(std::to_string(Bad.size()) + " of " +
                   std::to_string(Bytes.size()) + " bytes");
      write(Path, Bad);
      runWithCache(Dir);
      EXPECT_EQ(files(), Good);
    }
  }
}

TEST_F(Cache, LacksOperationsOfAKernel) {
  runWithCache(Dir);
  const auto Good = files();
  for (const auto &[Path, Bytes] : Good) {
    SCOPED_TRACE(Path);
    ASSERT_FALSE(sys::fs::remove(Path));
    runWithCache(Dir);
    EXPECT_EQ(files(), Good);
  }
}

TEST_F(Cache, ThatCannotBeWrittenIsDoneWithout) {
  SmallString<128> File = Dir;
  sys::path::append(File, "file");
  write(std::string(File), "not a directory");
  sys::path::append(File, "below");
  runWithCache(File);
}

TEST_F(Cache, KeepsOptionsApart) {
  runWithCache(Dir);
  MachineOptions Blocks = options(Dir);
  Blocks.Code = Tier::Blocks;
  auto Machine = cantFail(Machine::create(Blocks));
  expectSame(Want, runRandom(*M, *Machine, 3, 96));
  EXPECT_EQ(files().size(), 3u); // the operations lie together
}

} // namespace
} // namespace reconverge::warpvm
