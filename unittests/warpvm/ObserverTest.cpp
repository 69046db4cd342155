//===- unittests/warpvm/ObserverTest.cpp - Per-thread block vectors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"
#include "RandomKernel.h"

#include <map>
#include <mutex>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// Keeps what it is given.
class Recorder : public VectorObserver {
public:
  explicit Recorder(unsigned Every) : Every(Every) {}
  bool wants(uint64_t Block) override { return Block % Every == 0; }
  void record(uint64_t Block, unsigned Threads, ArrayRef<uint32_t> Vectors,
              ArrayRef<uint64_t> AsRun) override {
    std::lock_guard<std::mutex> Guard(Lock);
    EXPECT_EQ(Vectors.size(), Threads * AsRun.size());
    EXPECT_TRUE(
        Blocks.try_emplace(Block, Entry{Threads, Vectors.vec(), AsRun.vec()})
            .second)
        << "block " << Block << " came twice";
  }

  struct Entry {
    unsigned Threads;
    std::vector<uint32_t> Vectors;
    std::vector<uint64_t> AsRun;
  };
  std::map<uint64_t, Entry> Blocks;

private:
  unsigned Every;
  std::mutex Lock;
};

void checkSums(TestProgram &P, unsigned Threads) {
  constexpr unsigned Grid = 4;
  std::vector<uint32_t> In(RandomKernelInWords, 9), Out[2], Sums[2];
  LaunchCounts Counts[2];
  Recorder All(1);
  for (unsigned I : {0, 1}) {
    P.Observer = I ? &All : nullptr;
    Out[I].resize(Grid * Threads * RandomKernelOutBytes / 4);
    Sums[I].resize(RandomKernelSums);
    P.run(shape(Grid, Threads), In.data(), Out[I].data(), Sums[I].data(), 3u);
    Counts[I] = P.counts();
  }
  EXPECT_EQ(Out[0], Out[1]);
  EXPECT_EQ(Sums[0], Sums[1]);
  EXPECT_EQ(differenceOf(Counts[0], Counts[1]), "");
  ASSERT_EQ(All.Blocks.size(), Grid);
  const size_t N = Counts[0].Blocks.size();
  std::vector<uint64_t> Lanes(N), Warps(N);
  for (auto &[Block, E] : All.Blocks) {
    EXPECT_EQ(E.Threads, Threads);
    for (unsigned T = 0; T < Threads; ++T)
      for (size_t B = 0; B < N; ++B)
        Lanes[B] += E.Vectors[T * N + B];
    for (size_t B = 0; B < N; ++B)
      Warps[B] += E.AsRun[B];
  }
  for (size_t B = 0; B < N; ++B) {
    ASSERT_EQ(Lanes[B], Counts[0].Blocks[B].Lanes) << "block " << B;
    ASSERT_EQ(Warps[B], Counts[0].Blocks[B].Warps) << "block " << B;
  }
}

/// Rows sum to the launch's lanes, and no observer changes a count or a result.
TEST(BlockVectors, SumToLanesForAllShapes) {
  for (uint64_t Seed = 1; Seed <= 4; ++Seed) {
    LLVMContext C;
    RandomKernelOptions Options;
    Options.Depth = 2;
    Options.Barriers = false;
    auto M = randomKernel(C, Seed, Options);
    for (MachineOptions O : allSetups()) {
      O.Threads = 2;
      TestProgram P(*M, machineFor(O));
      for (unsigned Threads : {1u, 32u, 33u, 48u, 96u, 128u}) {
        SCOPED_TRACE("kernel " + std::to_string(Seed) + ", " + describe(O) +
                     ", " + std::to_string(Threads) + " threads");
        checkSums(P, Threads);
      }
    }
  }
}

/// Each thread's own row, in a block of three dimensions: thread t goes round
/// in[t] times.
TEST(BlockVectors, RowsAreThreadsInLinearOrder) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %in) {
      entry:
        %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
        %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
        %z3 = mul i32 %z, 3
        %zy = add i32 %z3, %y
        %zy5 = mul i32 %zy, 5
        %t = add i32 %zy5, %x
        %p = getelementptr i32, ptr %in, i32 %t
        %n = load i32, ptr %p
        br label %loop
      loop:
        %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
        %i1 = add i32 %i, 1
        %c = icmp ult i32 %i1, %n
        br i1 %c, label %loop, label %done
      done:
        ret void
      })",
                  O);
    LaunchShape S;
    S.Grid = {2, 3, 1};
    S.Block = {5, 3, 4};
    std::vector<uint32_t> In(60);
    for (unsigned T = 0; T < 60; ++T)
      In[T] = 1 + T * 13 % 17;
    Recorder Some(4); // blocks 0 and 4
    P.Observer = &Some;
    P.run(S, In.data());
    ASSERT_EQ(Some.Blocks.size(), 2u);
    ASSERT_TRUE(Some.Blocks.count(4));
    for (auto &[Block, E] : Some.Blocks)
      for (unsigned T = 0; T < 60; ++T) {
        EXPECT_EQ(E.Vectors[3 * T], 1u);
        EXPECT_EQ(E.Vectors[3 * T + 1], In[T]) << "thread " << T;
        EXPECT_EQ(E.Vectors[3 * T + 2], 1u);
      }
    EXPECT_EQ(P.block("done").Lanes, 6u * 60);
  }
}

} // namespace
} // namespace reconverge::warpvm
