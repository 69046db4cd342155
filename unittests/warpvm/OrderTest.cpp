//===- unittests/warpvm/OrderTest.cpp - Orders that follow a seed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two directions. What CUDA leaves open must change with the seed: which lane's
// store stays, who gets which number of an atomic counter, whether a lane sees
// what another wrote without a __syncwarp in between. What CUDA promises must
// not: results of kernels that synchronise are the same in every order.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"

#include "warpvm/run/Order.h"

#include <set>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr uint64_t SeedsTried = 6;

LaunchOptions inOrder(uint64_t Seed) {
  LaunchOptions How;
  How.Quiet = true;
  How.Seed = Seed;
  return How;
}

/// Launches kernel "k" of \p Text in the natural order, then in others; what
/// \p Words words hold after each.
std::vector<std::vector<uint32_t>> inOrders(const std::string &Text,
                                            const LaunchShape &Shape,
                                            size_t Words,
                                            unsigned WarpSize = 32) {
  const MachineOptions O =
      optionsFor(WarpSize, Tier::Fused, PolicyKind::Frontier);
  Machine &On = machineFor(O);
  TestProgram P(Text, On);
  std::vector<std::vector<uint32_t>> Results;
  for (uint64_t Seed = 0; Seed <= SeedsTried; ++Seed) {
    std::vector<uint32_t> Memory(Words);
    void *At = Memory.data();
    void *Args[] = {&At};
    Error E = Error::success();
    if (Seed == 0) {
      E = joinErrors(std::move(E), P.launchWith("k", Shape, Args));
    } else {
      auto K = P.program().kernel("k");
      E = joinErrors(std::move(E), K.takeError());
      E = joinErrors(std::move(E), On.launch(**K, Shape, Args, inOrder(Seed)));
    }
    EXPECT_FALSE(errorToBool(std::move(E))) << "order " << Seed;
    Results.push_back(std::move(Memory));
  }
  return Results;
}

size_t distinct(const std::vector<std::vector<uint32_t>> &Results) {
  return std::set(Results.begin(), Results.end()).size();
}

TEST(Order, IsAPermutationForEverySizeAndSeed) {
  for (uint64_t N : {1, 2, 3, 4, 31, 32, 64, 100, 65537})
    for (uint64_t Seed : {0, 1, 2, 3, 1000}) {
      const Order O(N, Seed);
      std::vector<bool> Seen(N);
      for (uint64_t I = 0; I < N; ++I)
        Seen[O(I)] = true;
      EXPECT_EQ(std::count(Seen.begin(), Seen.end(), false), 0);
      if (Seed == NaturalOrder)
        EXPECT_EQ(O(N - 1), N - 1);
      if (Seed == ReverseOrder)
        EXPECT_EQ(O(0), N - 1);
    }
}

TEST(Order, DecidesWhichLanesStoreStays) {
  const auto R = inOrders(R"(
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      store i32 %t, ptr %p
      %half = lshr i32 %t, 4
      %off = zext i32 %half to i64
      %q = getelementptr [4 x i32], ptr %p, i64 %off, i64 1
      store i32 %t, ptr %q
      ret void
    })",
                          shape(1, 32), 16);
  EXPECT_EQ(R[0][0], 31u);
  EXPECT_EQ(R[1][0], 0u); // the reverse
  EXPECT_EQ(R[0][1], 15u);
  EXPECT_EQ(R[1][1], 0u);
  EXPECT_GE(distinct(R), 3u);
}

TEST(Order, DecidesWhoGetsWhichNumber) {
  const char *Text = R"(
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %n = atomicrmw add ptr %p, i32 1 monotonic
      %i = add i32 %n, 1
      %x = zext i32 %i to i64
      %q = getelementptr i32, ptr %p, i64 %x
      store i32 %t, ptr %q
      ret void
    })";
  for (unsigned WarpSize : {32u, 64u}) {
    const auto R = inOrders(Text, shape(1, 96), 97, WarpSize);
    EXPECT_EQ(R[0][1], 0u);
    EXPECT_EQ(R[1][1], 95u);
    EXPECT_EQ(distinct(R), R.size());
    for (const auto &Memory : R) { // everybody has a place of his own
      std::set<uint32_t> Who(Memory.begin() + 1, Memory.end());
      EXPECT_EQ(Who.size(), 96u);
    }
  }
}

/// A lane reads what its neighbour writes just before, in one basic block.
const char *NeighbourKernel(bool Sync) {
  return Sync ? R"(
    @s = internal addrspace(3) global [64 x i32] undef
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %mine = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %t
      store i32 %t, ptr addrspace(3) %mine
      call void @llvm.nvvm.bar.warp.sync(i32 -1)
      %o = xor i32 %t, 1
      %theirs = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %o
      %x = load i32, ptr addrspace(3) %theirs
      %q = getelementptr i32, ptr %p, i32 %t
      store i32 %x, ptr %q
      ret void
    })"
              : R"(
    @s = internal addrspace(3) global [64 x i32] undef
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %mine = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %t
      store i32 %t, ptr addrspace(3) %mine
      %o = xor i32 %t, 16
      %theirs = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %o
      %x = load i32, ptr addrspace(3) %theirs
      %q = getelementptr i32, ptr %p, i32 %t
      store i32 %x, ptr %q
      ret void
    })";
}

TEST(Order, ShowsAMissingSyncwarpInStraightLineCode) {
  EXPECT_GE(distinct(inOrders(NeighbourKernel(false), shape(1, 64), 64)), 3u);
  EXPECT_EQ(distinct(inOrders(NeighbourKernel(true), shape(1, 64), 64)), 1u);
}

/// Half of the lanes write behind a branch, all read at the join.
std::string branchKernel(bool Sync) {
  return std::string(R"(
    @s = internal addrspace(3) global [64 x i32] undef
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %l = and i32 %t, 31
      %low = icmp ult i32 %l, 16
      %mine = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %t
      br i1 %low, label %write, label %join
    write:
      store i32 7, ptr addrspace(3) %mine
      br label %join
    join:
)") + (Sync ? "call void @llvm.nvvm.bar.warp.sync(i32 -1)\n" : "") +
         R"(
      %o = xor i32 %t, 16
      %theirs = getelementptr [64 x i32], ptr addrspace(3) @s, i32 0, i32 %o
      %x = load i32, ptr addrspace(3) %theirs
      %q = getelementptr i32, ptr %p, i32 %t
      store i32 %x, ptr %q
      ret void
    })";
}

TEST(Order, ShowsAMissingSyncwarpBehindABranch) {
  const auto R = inOrders(branchKernel(false), shape(1, 64), 64);
  EXPECT_NE(R[0], R[1]);
  EXPECT_EQ(distinct(inOrders(branchKernel(true), shape(1, 64), 64)), 1u);
}

/// Collectives get all lanes that they name, however these come.
TEST(Order, KeepsCollectivesWhole) {
  const auto R = inOrders(R"(
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      br label %head
    head:
      %i = phi i32 [0, %0], [%i1, %tail]
      %sum = phi i32 [%t, %0], [%new, %tail]
      %bit = lshr i32 %sum, %i
      %odd = trunc i32 %bit to i1
      %who = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)
      br i1 %odd, label %some, label %tail
    some:
      %high = icmp ugt i32 %sum, 1000
      %there = call i32 @llvm.nvvm.vote.ballot.sync(i32 %who, i1 %high)
      br label %tail
    tail:
      %b = phi i32 [%who, %head], [%there, %some]
      %s = add i32 %sum, %b
      %o = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %s, i32 1, i32 31)
      %m = mul i32 %o, 5
      %new = add i32 %m, %i
      %i1 = add i32 %i, 1
      %more = icmp ult i32 %i1, 9
      br i1 %more, label %head, label %done
    done:
      %q = getelementptr i32, ptr %p, i32 %t
      store i32 %new, ptr %q
      ret void
    })",
                          shape(2, 64), 64);
  EXPECT_EQ(distinct(R), 1u);
}

/// Random kernels of the generator have no races: every order gives the same,
/// with one CPU thread or two.
TEST(Order, ChangesNothingInKernelsWithoutRaces) {
  for (uint64_t Which = 1; Which <= 10; ++Which) {
    LLVMContext C;
    auto M = randomKernel(C, Which, {});
    MachineOptions O =
        optionsFor(Which % 2 ? 32 : 64, Tier::Fused, PolicyKind::Frontier);
    O.Threads = 1 + Which % 2;
    Machine &On = machineFor(O);
    TestProgram P(*M, On);
    std::vector<uint32_t> In(RandomKernelInWords);
    for (unsigned I = 0; I < In.size(); ++I)
      In[I] = I * 2654435761u >> (I % 28);
    const LaunchShape Shape = shape(3, 96);
    std::vector<uint32_t> First, FirstSums;
    for (uint64_t Seed = 0; Seed <= 4; ++Seed) {
      std::vector<uint32_t> Out(3 * 96 * RandomKernelOutBytes / 4);
      std::vector<uint32_t> Sums(RandomKernelSums);
      void *A = In.data(), *B = Out.data(), *D = Sums.data();
      uint32_t N = 5;
      void *Args[] = {&A, &B, &D, &N};
      auto K = P.program().kernel("k");
      ASSERT_FALSE(!K);
      Error E = Seed ? On.launch(**K, Shape, Args, inOrder(Seed))
                     : P.launchWith("k", Shape, Args);
      ASSERT_FALSE(errorToBool(std::move(E)))
          << "kernel " << Which << ", order " << Seed;
      if (Seed == 0) {
        First = Out;
        FirstSums = Sums;
      }
      EXPECT_EQ(First, Out) << "kernel " << Which << ", order " << Seed;
      EXPECT_EQ(FirstSums, Sums) << "kernel " << Which << ", order " << Seed;
    }
  }
}

} // namespace
} // namespace reconverge::warpvm
