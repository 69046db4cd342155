//===- unittests/warpvm/ClusterTest.cpp - Blocks that reach each other ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"

#include "warpvm/run/ClusterShape.h"

#include <set>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

LaunchShape inClusters(std::array<uint32_t, 3> Grid, unsigned Threads,
                       std::array<uint32_t, 3> Cluster) {
  LaunchShape S{Grid, {Threads, 1, 1}, 0, false};
  S.Cluster = Cluster;
  return S;
}

/// By hand: a grid of 4 x 6 in clusters of 2 x 3.
TEST(ClusterShape, PlacesBlocks) {
  const ClusterShape S(inClusters({4, 6, 1}, 32, {2, 3, 1}));
  EXPECT_EQ(S.blocks(), 6u);
  EXPECT_EQ(S.clusters(), 4u);
  const uint64_t First[] = {0, 1, 4, 5, 8, 9};
  const uint64_t Last[] = {14, 15, 18, 19, 22, 23};
  for (unsigned Rank = 0; Rank < 6; ++Rank) {
    EXPECT_EQ(S.block(0, Rank), First[Rank]);
    EXPECT_EQ(S.block(3, Rank), Last[Rank]);
  }
  WarpContext C = {};
  C.BlockId[0] = 3; // block 19
  C.BlockId[1] = 4;
  S.place(C);
  EXPECT_EQ(C.ClusterRank, 3u);
  EXPECT_EQ(C.ClusterId[0], 1u);
  EXPECT_EQ(C.ClusterId[1], 1u);
  EXPECT_EQ(C.ClusterBlock[0], 1u);
  EXPECT_EQ(C.ClusterBlock[1], 1u);
  EXPECT_EQ(C.ClusterGrid[1], 2u);
  EXPECT_EQ(C.ClusterBlocks, 6u);
}

TEST(ClusterShape, ABlockAloneIsOne) {
  const ClusterShape S(shape(7, 32));
  EXPECT_EQ(S.blocks(), 1u);
  EXPECT_EQ(S.clusters(), 7u);
  EXPECT_EQ(S.block(5, 0), 5u);
}

/// Each thread's element comes to the next block of the cluster, round after
/// round; whoever comes late to a round would be overtaken.
const char *const Ring = R"(
  @s = internal addrspace(3) global [2 x [80 x i32]] poison
  define ptx_kernel void @k(ptr %out, i32 %rounds) {
  entry:
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    %x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
    %w = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
    %row = mul i32 %y, %w
    %b = add i32 %row, %x
    %bt = mul i32 %b, %threads
    %self = add i32 %bt, %t
    %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
    %size = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
    %up = add i32 %rank, 1
    %next = urem i32 %up, %size
    ; Every seventh thread leaves at once.
    %r7 = urem i32 %t, 7
    %goes = icmp eq i32 %r7, 6
    br i1 %goes, label %gone, label %loop
  gone:
    ret void
  loop:
    %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
    %v = phi i32 [ %self, %entry ], [ %got, %loop ]
    %side = and i32 %i, 1
    %mine = getelementptr [80 x i32], ptr addrspace(3) @s, i32 %side, i32 %t
    %there = call ptr addrspace(3) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 %next)
    %number = ptrtoint ptr addrspace(3) %there to i32
    %again = inttoptr i32 %number to ptr addrspace(3)
    store i32 %v, ptr addrspace(3) %again
    call void @llvm.nvvm.barrier.cluster.arrive()
    %i1 = add i32 %i, 1
    call void @llvm.nvvm.barrier.cluster.wait()
    %got = load i32, ptr addrspace(3) %mine
    %more = icmp slt i32 %i1, %rounds
    br i1 %more, label %loop, label %done
  done:
    %o = getelementptr i32, ptr %out, i32 %self
    store i32 %got, ptr %o
    ret void
  })";

TEST(Clusters, PassValuesRound) {
  for (MachineOptions O : allSetups())
    for (unsigned CpuThreads : {1u, 3u}) {
      O.Threads = CpuThreads;
      SCOPED_TRACE(describe(O));
      TestProgram P(Ring, O);
      constexpr unsigned Threads = 75, Rounds = 5;
      std::vector<int> Out(24 * Threads, -1);
      P.run(inClusters({4, 6, 1}, Threads, {2, 3, 1}), Out.data(), int(Rounds));
      const ClusterShape S(inClusters({4, 6, 1}, Threads, {2, 3, 1}));
      for (uint64_t C = 0; C < S.clusters(); ++C)
        for (unsigned Rank = 0; Rank < 6; ++Rank)
          for (unsigned T = 0; T < Threads; ++T) {
            const uint64_t From = S.block(C, (Rank + 6 * 7 - Rounds) % 6);
            ASSERT_EQ(Out[S.block(C, Rank) * Threads + T],
                      T % 7 == 6 ? -1 : int(From * Threads + T))
                << "cluster " << C << ", rank " << Rank << ", thread " << T;
          }
    }
}

TEST(Clusters, OrdersDoNotMatter) {
  MachineOptions O = setups(32).front();
  for (uint64_t Seed : {1, 2, 3, 4, 5}) {
    O.Seed = Seed;
    TestProgram P(Ring, O);
    std::vector<int> Out(8 * 64, -1);
    P.run(inClusters({8, 1, 1}, 64, {4, 1, 1}), Out.data(), 3);
    EXPECT_EQ(Out[0], 64) << Seed; // three on is one back
    EXPECT_EQ(Out[7 * 64 + 1], 4 * 64 + 1) << Seed;
  }
}

/// Lanes of one warp arrive and wait at places of their own.
TEST(Clusters, LanesWaitApart) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      @s = internal addrspace(3) global i32 poison
      define ptx_kernel void @k(ptr %out) {
      entry:
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
        %first = icmp eq i32 %t, 0
        br i1 %first, label %write, label %others
      write:
        %value = add i32 %rank, 100
        store i32 %value, ptr addrspace(3) @s
        call void @llvm.nvvm.barrier.cluster.arrive()
        call void @llvm.nvvm.barrier.cluster.wait()
        br label %join
      others:
        %odd = and i32 %t, 1
        %is = icmp eq i32 %odd, 1
        call void @llvm.nvvm.barrier.cluster.arrive.relaxed()
        br i1 %is, label %wait, label %later
      later:
        call void @llvm.nvvm.barrier.cluster.wait.aligned()
        br label %join
      wait:
        call void @llvm.nvvm.barrier.cluster.wait()
        br label %join
      join:
        %g = addrspacecast ptr addrspace(3) @s to ptr
        %to = xor i32 %rank, 1
        %there = call ptr @llvm.nvvm.mapa(ptr %g, i32 %to)
        %x = load i32, ptr %there
        %whose = call i32 @llvm.nvvm.getctarank(ptr %there)
        %in = call i1 @llvm.nvvm.isspacep.shared.cluster(ptr %there)
        %own = call i1 @llvm.nvvm.isspacep.shared(ptr %there)
        %global = call i1 @llvm.nvvm.isspacep.global(ptr %there)
        %explicit = call i1 @llvm.nvvm.is_explicit_cluster()
        %w16 = shl i32 %whose, 16
        %i = zext i1 %in to i32
        %i20 = shl i32 %i, 20
        %o = zext i1 %own to i32
        %o21 = shl i32 %o, 21
        %gl = zext i1 %global to i32
        %g22 = shl i32 %gl, 22
        %e = zext i1 %explicit to i32
        %e23 = shl i32 %e, 23
        %a = or i32 %x, %w16
        %b = or i32 %a, %i20
        %c = or i32 %b, %o21
        %d = or i32 %c, %g22
        %all = or i32 %d, %e23
        %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        %bt = mul i32 %ctaid, 64
        %self = add i32 %bt, %t
        %p = getelementptr i32, ptr %out, i32 %self
        store i32 %all, ptr %p
        call void @llvm.nvvm.barrier.cluster.arrive()
        call void @llvm.nvvm.barrier.cluster.wait()
        ret void
      })",
                  O);
    std::vector<unsigned> Out(4 * 64);
    P.run(inClusters({4, 1, 1}, 64, {2, 1, 1}), Out.data());
    for (unsigned I = 0; I < Out.size(); ++I) {
      const unsigned Other = I / 64 % 2 ^ 1;
      ASSERT_EQ(Out[I], (100 + Other) | Other << 16 | 1 << 20 | 1 << 23) << I;
    }
  }
}

/// Without clusters a block is one of its own, and the barrier the block's.
TEST(Clusters, OfOneBlock) {
  for (const MachineOptions &O : setups(32)) {
    SCOPED_TRACE(describe(O));
    TestProgram P(Ring, O);
    std::vector<int> Out(3 * 64, -1);
    P.run(shape(3, 64), Out.data(), 4);
    for (int T = 0; T < 3 * 64; ++T)
      EXPECT_EQ(Out[T], T % 64 % 7 == 6 ? -1 : T);
  }
}

/// Far more clusters than could be in flight at once; the same counts on any
/// number of CPU threads.
TEST(Clusters, ManyGiveTheSameCounts) {
  MachineOptions O = setups(32).front();
  std::set<uint64_t> Warps;
  for (unsigned Threads : {1u, 4u}) {
    O.Threads = Threads;
    TestProgram P(Ring, O);
    std::vector<int> Out(4096 * 64);
    P.run(inClusters({4096, 1, 1}, 64, {8, 1, 1}), Out.data(), 2);
    Warps.insert(P.block("loop").Warps);
  }
  EXPECT_EQ(Warps, std::set<uint64_t>{4096 * 2 * 2});
}

/// One block waits for the other, which has long gone on without it.
TEST(Clusters, HalfABarrierIsADeadlock) {
  MachineOptions O = setups(32).front();
  O.OwnMemory = true;
  O.StepLimit = 0;
  TestProgram P(R"(
    define ptx_kernel void @k() {
    entry:
      %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %both = or i32 %rank, %t
      %first = icmp eq i32 %both, 0
      br i1 %first, label %block, label %cluster
    block:
      call void @llvm.nvvm.barrier.sync(i32 1)
      br label %cluster
    cluster:
      call void @llvm.nvvm.barrier.cluster.arrive()
      call void @llvm.nvvm.barrier.cluster.wait()
      ret void
    })",
                O);
  const Fault F = faultOf(P.launch("k", inClusters({2, 1, 1}, 64, {2, 1, 1})));
  ASSERT_TRUE(F.Happened);
  EXPECT_EQ(F.Kind, FaultKind::Deadlock) << F.Message;
}

} // namespace
} // namespace reconverge::warpvm
