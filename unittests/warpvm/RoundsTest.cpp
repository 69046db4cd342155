//===- unittests/warpvm/RoundsTest.cpp - Lanes in different rounds --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that wait at a collective are overtaken by others, which go round the
// loop around it and come to them a round later: CUDA lets them meet there.
// What a round defines anew must not change under the lanes that wait.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;
using namespace reconverge;
using namespace reconverge::warpvm;

/// Both tiers, both sizes of a warp, and in the order of four seeds.
static std::vector<MachineOptions> frontierSetups() {
  std::vector<MachineOptions> All;
  for (unsigned Size : {32u, 64u})
    for (Tier Code : {Tier::Fused, Tier::Blocks}) {
      All.push_back(optionsFor(Size, Code, PolicyKind::Frontier));
      for (uint64_t Seed : {1, 2, 3, 4}) {
        MachineOptions O = All.back();
        O.Seed = Seed;
        O.Counters = false;
        All.push_back(O);
      }
    }
  return All;
}

/// Odd lanes come to the collectives in rounds 0, 2, ..., even lanes in rounds
/// 1, 3, ...; %i is the same for lanes in the same round alone, and %v, which
/// the loop's header defines and which is no PHI, as well.
TEST(Rounds, LanesOfTwoMeetAtOneCollective) {
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O) + ", seed " + std::to_string(O.Seed));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %out, i32 %n) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        br label %head
      head:
        %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
        %acc = phi i32 [ 0, %entry ], [ %acc1, %latch ]
        %v = mul i32 %i, %n
        %x = add i32 %tid, %i
        %odd = trunc i32 %x to i1
        br i1 %odd, label %meet, label %latch
      meet:
        %all = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
        %there = call i32 @llvm.ctpop.i32(i32 %all)
        %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 1, i32 31)
        %t3 = mul i32 %acc, 3
        %plus = add i32 %t3, %other
        %mine = xor i32 %plus, %v
        %with = add i32 %mine, %there
        br label %latch
      latch:
        %acc1 = phi i32 [ %acc, %head ], [ %with, %meet ]
        %i1 = add i32 %i, 1
        %more = icmp ult i32 %i1, %n
        br i1 %more, label %head, label %done
      done:
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %acc1, ptr %p
        ret void
      })",
                  O);
    const uint32_t N = 8;
    std::vector<uint32_t> Out(O.WarpSize);
    P.run(shape(1, O.WarpSize), Out.data(), N);
    for (unsigned T = 0; T < O.WarpSize; ++T) {
      uint32_t Expected = 0;
      for (uint32_t I = 1 - T % 2; I < N; I += 2) {
        const uint32_t Other = T % 2 ? I + 1 : I - 1;
        Expected = ((3 * Expected + Other * N) ^ (I * N)) + 32;
      }
      EXPECT_EQ(Out[T], Expected) << "thread " << T;
    }
  }
}

/// Of four lanes, a (0) waits in the `if` for c (2), which comes there a round
/// later, and b (1) waits for a behind the `if`: c, but not b, may overtake a.
TEST(Rounds, LanesAheadWaitForThoseBehind) {
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O) + ", seed " + std::to_string(O.Seed));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %out, i32 %n) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %kind = and i32 %tid, 3
        %isab = icmp ult i32 %kind, 2
        %alone = shl i32 286331153, %kind
        %own = select i1 %isab, i32 858993459, i32 %alone
        %isa = icmp eq i32 %kind, 0
        %isc = icmp eq i32 %kind, 2
        br label %head
      head:
        %i = phi i32 [ 0, %entry ], [ %i1, %join ]
        %acc = phi i32 [ 0, %entry ], [ %acc2, %join ]
        %odd = trunc i32 %i to i1
        %even = xor i1 %odd, true
        %a = and i1 %isa, %even
        %c = and i1 %isc, %odd
        %goes = or i1 %a, %c
        br i1 %goes, label %meet, label %join
      meet:
        %ac = call i32 @llvm.nvvm.vote.ballot.sync(i32 1431655765, i1 true)
        %nac = call i32 @llvm.ctpop.i32(i32 %ac)
        %hundred = mul i32 %nac, 100
        %with = add i32 %acc, %hundred
        br label %join
      join:
        %acc1 = phi i32 [ %acc, %head ], [ %with, %meet ]
        %group = call i32 @llvm.nvvm.vote.ballot.sync(i32 %own, i1 true)
        %size = call i32 @llvm.ctpop.i32(i32 %group)
        %acc2 = add i32 %acc1, %size
        %i1 = add i32 %i, 1
        %more = icmp ult i32 %i1, %n
        br i1 %more, label %head, label %behind
      behind:
        %last = call i32 @llvm.nvvm.vote.ballot.sync(i32 %own, i1 true)
        %left = call i32 @llvm.ctpop.i32(i32 %last)
        %end = add i32 %acc2, %left
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %end, ptr %p
        ret void
      })",
                  O);
    const uint32_t N = 4;
    std::vector<uint32_t> Out(O.WarpSize);
    P.run(shape(1, O.WarpSize), Out.data(), N);
    for (unsigned T = 0; T < O.WarpSize; ++T) {
      const bool AB = T % 4 < 2, AC = T % 2 == 0;
      EXPECT_EQ(Out[T], (N + 1) * (AB ? 16 : 8) + (AC ? N / 2 * 1600 : 0))
          << "thread " << T;
    }
  }
}

/// As above, at a barrier that need not be met by whole warps: what lanes have
/// from the loop's header when they come to it, they have behind it.
TEST(Rounds, LanesOfTwoMeetAtOneBarrier) {
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O) + ", seed " + std::to_string(O.Seed));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %out, i32 %n) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        br label %head
      head:
        %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
        %acc = phi i32 [ 0, %entry ], [ %acc1, %latch ]
        %v = mul i32 %i, %n
        %x = add i32 %tid, %i
        %odd = trunc i32 %x to i1
        br i1 %odd, label %meet, label %latch
      meet:
        call void @llvm.nvvm.barrier.sync(i32 0)
        %t3 = mul i32 %acc, 3
        %with = add i32 %t3, %v
        br label %latch
      latch:
        %acc1 = phi i32 [ %acc, %head ], [ %with, %meet ]
        %i1 = add i32 %i, 1
        %more = icmp ult i32 %i1, %n
        br i1 %more, label %head, label %done
      done:
        %p = getelementptr i32, ptr %out, i32 %tid
        store i32 %acc1, ptr %p
        ret void
      })",
                  O);
    const uint32_t N = 8;
    std::vector<uint32_t> Out(2 * O.WarpSize);
    P.run(shape(1, 2 * O.WarpSize), Out.data(), N);
    for (unsigned T = 0; T < 2 * O.WarpSize; ++T) {
      uint32_t Expected = 0;
      for (uint32_t I = 1 - T % 2; I < N; I += 2)
        Expected = 3 * Expected + I * N;
      EXPECT_EQ(Out[T], Expected) << "thread " << T;
    }
  }
}
