//===- unittests/warpvm/ProgressTest.cpp - Threads that wait for threads --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks within a warp, flags between warps and between blocks: all of them
// spin, and all must get on. Only the post-dominator stack cannot let one lane
// of a warp pass another, as on GPUs before Volta; what is asked of it is said
// below.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

std::vector<MachineOptions> frontierSetups() {
  std::vector<MachineOptions> Chosen;
  for (const MachineOptions &O : allSetups())
    if (O.Policy == PolicyKind::Frontier)
      Chosen.push_back(O);
  return Chosen;
}

/// Takes a lock by spinning in a loop of its own, adds to a plain counter, and
/// gives it back. Afterwards the warp is whole again: lanes exchange values.
/// `tries` is the same for all lanes inside the loop and differs behind it.
const char *SpinLock = R"(
  define ptx_kernel void @k(ptr %lock, ptr %count, ptr %out) {
  entry:
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    br label %spin
  spin:
    %tries = phi i32 [ 0, %entry ], [ %tries1, %again ]
    %pair = cmpxchg ptr %lock, i32 0, i32 1 acq_rel monotonic
    %got = extractvalue { i32, i1 } %pair, 1
    br i1 %got, label %critical, label %again
  again:
    %tries1 = add i32 %tries, 1
    br label %spin
  critical:
    %old = load volatile i32, ptr %count
    %new = add i32 %old, 1
    store volatile i32 %new, ptr %count
    %r = atomicrmw xchg ptr %lock, i32 0 seq_cst
    br label %together
  together:
    call void @llvm.nvvm.bar.warp.sync(i32 -1)
    %some = icmp sge i32 %tries, 0
    %one = zext i1 %some to i32
    %mine = mul i32 %tid, %one
    %v = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %mine, i32 1, i32 31)
    %p = getelementptr i32, ptr %out, i32 %tid
    store i32 %v, ptr %p
    ret void
  })";

TEST(SpinLocks, AllLanesGetTheLockAndMeetAgain) {
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(SpinLock, O);
    uint32_t Lock = 0, Count = 0;
    std::vector<uint32_t> Out(96);
    P.run(shape(1, 96), &Lock, &Count, Out.data());
    EXPECT_EQ(Count, 96u);
    EXPECT_EQ(Lock, 0u);
    for (unsigned T = 0; T < 96; ++T)
      EXPECT_EQ(Out[T], T ^ 1) << "thread " << T;
    EXPECT_EQ(P.block("critical").Lanes, 96u);
  }
}

/// The critical section inside the loop, as CUDA programmers wrote it before
/// Volta: that one works on a stack, too.
TEST(SpinLocks, CriticalSectionInsideTheLoop) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %lock, ptr %count) {
      entry:
        br label %spin
      spin:
        %pair = cmpxchg ptr %lock, i32 0, i32 1 acq_rel monotonic
        %got = extractvalue { i32, i1 } %pair, 1
        br i1 %got, label %critical, label %latch
      critical:
        %old = load volatile i32, ptr %count
        %new = add i32 %old, 1
        store volatile i32 %new, ptr %count
        %r = atomicrmw xchg ptr %lock, i32 0 seq_cst
        br label %latch
      latch:
        %done = phi i1 [ false, %spin ], [ true, %critical ]
        br i1 %done, label %exit, label %spin
      exit:
        ret void
      })",
                  O);
    uint32_t Lock = 0, Count = 0;
    P.run(shape(4, 64), &Lock, &Count);
    EXPECT_EQ(Count, 256u);
    EXPECT_EQ(P.block("critical").Lanes, 256u);
    EXPECT_EQ(P.block("exit").Warps, 4u * 64 / O.WarpSize);
  }
}

/// All blocks wait for the last one. Each goes round PauseLimit times until it
/// has begun, and not BackEdgeLimit times: warps run side by side on a GPU.
TEST(Flags, WhoWaitsForALaterBlockGoesRoundInVainForAWhileOnly) {
  constexpr unsigned Blocks = 64;
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %flag, i32 %last) {
      entry:
        %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        %sets = icmp eq i32 %block, %last
        br i1 %sets, label %set, label %wait
      set:
        store volatile i32 1, ptr %flag
        br label %exit
      wait:
        %f = load volatile i32, ptr %flag
        %is = icmp ne i32 %f, 0
        br i1 %is, label %exit, label %wait
      exit:
        ret void
      })",
                  O);
    uint32_t Flag = 0;
    P.run(shape(Blocks, O.WarpSize), &Flag, uint32_t(Blocks - 1));
    EXPECT_EQ(P.block("exit").Warps, Blocks);
    EXPECT_LT(P.block("wait").Warps, 4u * Blocks * 64);
  }
}

/// In the first warp, half of the lanes wait in one iteration of an outer loop
/// and half in the next, at one and the same loop; for the second warp, which
/// has several turns before it lets them go.
TEST(Flags, LanesOfSeveralIterationsWaitInOneLoop) {
  for (const MachineOptions &O : frontierSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %flags, ptr %out, i32 %width) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %waits = icmp ult i32 %tid, %width
        br i1 %waits, label %outer, label %delay
      delay:
        %n = phi i32 [ 0, %entry ], [ %n1, %delay ]
        %never = load volatile i32, ptr %out
        %n1 = add i32 %n, 1
        %more = icmp ult i32 %n1, 10000
        %none = icmp ne i32 %never, 77
        %on = and i1 %more, %none
        br i1 %on, label %delay, label %set
      set:
        %f1 = getelementptr i32, ptr %flags, i32 1
        store volatile i32 1, ptr %f1
        %f2 = getelementptr i32, ptr %flags, i32 2
        store volatile i32 1, ptr %f2
        br label %exit
      outer:
        %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
        %half = urem i32 %tid, 2
        %twice = mul i32 %i, 2
        %which = add i32 %twice, %half
        %p = getelementptr i32, ptr %flags, i32 %which
        br label %wait
      wait:
        %v = load volatile i32, ptr %p
        %ready = icmp ne i32 %v, 0
        br i1 %ready, label %latch, label %wait
      latch:
        %i1 = add i32 %i, 1
        %again = icmp ult i32 %i1, 2
        br i1 %again, label %outer, label %done
      done:
        %q = getelementptr i32, ptr %out, i32 %tid
        store i32 %i1, ptr %q
        br label %exit
      exit:
        ret void
      })",
                  O);
    uint32_t Flags[] = {1, 0, 0, 1};
    std::vector<uint32_t> Out(O.WarpSize);
    P.run(shape(1, 2 * O.WarpSize), Flags, Out.data(), uint32_t(O.WarpSize));
    EXPECT_EQ(Out, std::vector<uint32_t>(O.WarpSize, 2));
  }
}

/// Half of the block waits for a flag in shared memory that the other half
/// sets.
std::string flagKernel(bool HighWaits, bool ManyBlocks) {
  return std::string(R"(
    @flag = internal addrspace(3) global i32 undef, align 4
    define ptx_kernel void @k(ptr %out) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %first = icmp eq i32 %tid, 0
      br i1 %first, label %clear, label %cleared
    clear:
      store i32 0, ptr addrspace(3) @flag
      br label %cleared
    cleared:
      call void @llvm.nvvm.barrier0()
      %high = icmp uge i32 %tid, 64
      br i1 %high, label %)") +
         (HighWaits ? "wait, label %set" : "set, label %wait") + R"(
    wait:
      %v = load volatile i32, ptr addrspace(3) @flag
      %ready = icmp ne i32 %v, 0
      br i1 %ready, label %done, label %)" +
         (ManyBlocks ? "again" : "wait") + R"(
    again:
      call void @llvm.nvvm.membar.cta()
      br label %wait
    set:
      store volatile i32 7, ptr addrspace(3) @flag
      br label %done
    done:
      %w = load volatile i32, ptr addrspace(3) @flag
      %p = getelementptr i32, ptr %out, i32 %tid
      store i32 %w, ptr %p
      ret void
    })";
}

TEST(Flags, BetweenWarpsOfABlock) {
  for (bool HighWaits : {false, true})
    for (bool ManyBlocks : {false, true})
      for (const MachineOptions &O : allSetups()) {
        SCOPED_TRACE(describe(O) +
                     (HighWaits ? ", high waits" : ", low waits"));
        TestProgram P(flagKernel(HighWaits, ManyBlocks), O);
        std::vector<uint32_t> Out(128);
        P.run(shape(1, 128), Out.data());
        EXPECT_EQ(Out, std::vector<uint32_t>(128, 7));
      }
}

/// Each block waits for one neighbour's sum and adds its own: the look-back of
/// a single-pass scan, in both directions.
std::string chainKernel(int Step) {
  return R"(
    define ptx_kernel void @k(ptr %state, i32 %last) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %one = icmp eq i32 %tid, 0
      br i1 %one, label %begin, label %join
    begin:
      %first = icmp eq i32 %b, %last
      %n = add i32 %b, )" +
         std::to_string(Step) + R"(
      %pn = getelementptr i32, ptr %state, i32 %n
      br i1 %first, label %ready, label %spin
    spin:
      %v = load atomic volatile i32, ptr %pn acquire, align 4
      %got = icmp ne i32 %v, 0
      br i1 %got, label %ready, label %spin
    ready:
      %before = phi i32 [ 0, %begin ], [ %v, %spin ]
      %sum = add i32 %before, 1
      %p = getelementptr i32, ptr %state, i32 %b
      store atomic volatile i32 %sum, ptr %p release, align 4
      br label %join
    join:
      call void @llvm.nvvm.barrier0()
      ret void
    })";
}

TEST(Flags, ChainOfBlocksInBothDirections) {
  constexpr unsigned Blocks = 50;
  for (unsigned Threads : {1u, 2u})
    for (uint64_t Seed : {0, 5})
      for (MachineOptions O : allSetups())
        for (int Step : {-1, 1}) {
          O.Threads = Threads;
          O.Seed = Seed;
          SCOPED_TRACE(describe(O) + ", step " + std::to_string(Step) + ", " +
                       std::to_string(Threads) + " CPU threads, seed " +
                       std::to_string(Seed));
          TestProgram P(chainKernel(Step), O);
          std::vector<uint32_t> State(Blocks);
          P.run(shape(Blocks, 64), State.data(),
                uint32_t(Step < 0 ? 0 : Blocks - 1));
          for (unsigned B = 0; B < Blocks; ++B)
            ASSERT_EQ(State[B], Step < 0 ? B + 1 : Blocks - B);
        }
}

//===----------------------------------------------------------------------===//
// The step limit
//===----------------------------------------------------------------------===//

/// Launches \p Text on each set-up with a step limit and wants that fault.
void expectStepLimit(const std::string &Text) {
  for (MachineOptions O : allSetups()) {
    O.StepLimit = 100000;
    SCOPED_TRACE(describe(O));
    TestProgram P(Text, O);
    uint32_t Word = 1;
    Fault F = faultOf(P.launch("k", shape(2, 64), &Word));
    EXPECT_TRUE(F.Happened);
    EXPECT_EQ(F.Kind, FaultKind::StepLimit) << F.Message;
    EXPECT_NE(F.Message.find("kernel k"), std::string::npos) << F.Message;
  }
}

TEST(StepLimit, EndsALoopWithoutEnd) {
  expectStepLimit(R"(
    define ptx_kernel void @k(ptr %p) {
    entry:
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %n, %loop ]
      %n = add i32 %i, 1
      br label %loop
    })");
}

/// One lane alone goes round for ever, through two blocks.
TEST(StepLimit, EndsALoopOfOneLane) {
  expectStepLimit(R"(
    define ptx_kernel void @k(ptr %p) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      br label %loop
    loop:
      %i = phi i32 [ 1, %entry ], [ %n, %more ]
      %n = add i32 %i, %i
      %o = or i32 %n, 1
      %x = mul i32 %tid, %o
      %c = icmp eq i32 %tid, 17
      br i1 %c, label %more, label %done
    more:
      store i32 %x, ptr %p
      br label %loop
    done:
      ret void
    })");
}

TEST(StepLimit, EndsAWaitForWhatNeverComes) {
  expectStepLimit(R"(
    define ptx_kernel void @k(ptr %p) {
    entry:
      br label %wait
    wait:
      %v = load volatile i32, ptr %p
      %c = icmp eq i32 %v, 0
      br i1 %c, label %done, label %wait
    done:
      ret void
    })");
}

TEST(StepLimit, EndsALoopWithABarrier) {
  expectStepLimit(R"(
    define ptx_kernel void @k(ptr %p) {
    entry:
      br label %loop
    loop:
      call void @llvm.nvvm.barrier0()
      br label %loop
    })");
}

/// What a good kernel needs is far below its limit.
TEST(StepLimit, LeavesGoodKernelsAlone) {
  for (MachineOptions O : allSetups()) {
    O.StepLimit = 3000;
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %p) {
      entry:
        br label %loop
      loop:
        %i = phi i32 [ 0, %entry ], [ %n, %loop ]
        %n = add i32 %i, 1
        %c = icmp eq i32 %n, 2900
        br i1 %c, label %done, label %loop
      done:
        store i32 %n, ptr %p
        ret void
      })",
                  O);
    uint32_t Word = 0;
    P.run(shape(3, 32), &Word);
    EXPECT_EQ(Word, 2900u);
  }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// The kernel of \p Text faults in block (0,1,0), says so, and leaves the
/// machine able to run another.
void expectFault(const std::string &Text, FaultKind Kind, const char *Says) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    LaunchShape S;
    S.Grid = {1, 2, 1};
    S.Block = {64, 1, 1};
    TestProgram P(Text, O);
    uint32_t Word = 5;
    Fault F = faultOf(P.launch("k", S, &Word));
    EXPECT_TRUE(F.Happened);
    EXPECT_EQ(F.Kind, Kind) << F.Message;
    for (const char *Part : {"kernel k", "(0,1,0)", Says})
      EXPECT_NE(F.Message.find(Part), std::string::npos)
          << Part << " is not in: " << F.Message;

    TestProgram Good("define ptx_kernel void @k(ptr %p) {\n"
                     "  store i32 42, ptr %p\n  ret void\n}",
                     O);
    Good.run(S, &Word);
    EXPECT_EQ(Word, 42u);
  }
}

/// `%second` is true in the second block only.
const std::string Prologue = R"(
    define ptx_kernel void @k(ptr %p) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
      %second = icmp eq i32 %by, 1
  )";

TEST(Faults, WildLoad) {
  expectFault(Prologue + R"(
      br i1 %second, label %bad, label %done
    bad:
      %o = zext i32 %tid to i64
      %a = add i64 %o, 4096
      %q = inttoptr i64 %a to ptr
      %v = load i32, ptr %q
      store i32 %v, ptr %p
      br label %done
    done:
      ret void
    })",
              FaultKind::IllegalAddress, "address 0x10");
}

TEST(Faults, WildStoreOfOneLane) {
  expectFault(Prologue + R"(
      %lane = icmp eq i32 %tid, 45
      %c = and i1 %second, %lane
      br i1 %c, label %bad, label %done
    bad:
      %o = zext i32 %tid to i64
      %q = inttoptr i64 %o to ptr
      store i32 1, ptr %q
      br label %done
    done:
      ret void
    })",
              FaultKind::IllegalAddress, "address 0x2d");
}

/// Lanes that are not active may hold any address.
TEST(Faults, IdleLanesTouchNothing) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define ptx_kernel void @k(ptr %p) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %lane = icmp eq i32 %tid, 45
        %q = select i1 %lane, ptr %p, ptr null
        br i1 %lane, label %good, label %done
      good:
        %v = load i32, ptr %q
        %w = add i32 %v, 1
        store i32 %w, ptr %q
        %x = atomicrmw add ptr %q, i32 100 seq_cst
        br label %done
      done:
        ret void
      })",
                  O);
    uint32_t Word = 5;
    P.run(shape(1, 64), &Word);
    EXPECT_EQ(Word, 106u);
  }
}

TEST(Faults, Trap) {
  expectFault(Prologue + R"(
      br i1 %second, label %bad, label %done
    bad:
      call void @llvm.trap()
      unreachable
    done:
      ret void
    })",
              FaultKind::Trap, "trap");
}

TEST(Faults, Assert) {
  expectFault(R"(
    @what = private constant [6 x i8] c"x > 0\00"
    @file = private constant [5 x i8] c"a.cu\00"
    @function = private constant [2 x i8] c"f\00"
    declare void @__assertfail(ptr, ptr, i32, ptr, i64)
  )" + Prologue +
                  R"(
      %lane = icmp eq i32 %tid, 34
      %c = and i1 %second, %lane
      br i1 %c, label %bad, label %done
    bad:
      call void @__assertfail(ptr @what, ptr @file, i32 12, ptr @function, i64 1)
      unreachable
    done:
      ret void
    })",
              FaultKind::Assert, "assertion `x > 0` failed");
}

/// 20 lanes meet one barrier more than the others. The default policy takes any
/// two barriers for one, as hardware does, and does not wait for threads that
/// have returned; the stack cannot bring the other lanes to a barrier before
/// these 20 have passed theirs.
TEST(Faults, BarrierThatNotAllReach) {
  const std::string Text = Prologue + R"(
      %low = icmp ult i32 %tid, 20
      %c = and i1 %second, %low
      br i1 %c, label %some, label %join
    some:
      call void @llvm.nvvm.barrier0()
      br label %join
    join:
      call void @llvm.nvvm.barrier0()
      store i32 9, ptr %p
      ret void
    })";
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    LaunchShape S;
    S.Grid = {1, 2, 1};
    S.Block = {64, 1, 1};
    TestProgram P(Text, O);
    uint32_t Word = 5;
    if (O.Policy == PolicyKind::Frontier) {
      P.run(S, &Word);
      EXPECT_EQ(Word, 9u);
      continue;
    }
    Fault F = faultOf(P.launch("k", S, &Word));
    EXPECT_TRUE(F.Happened);
    EXPECT_EQ(F.Kind, FaultKind::BarrierDivergence);
    EXPECT_NE(F.Message.find("__syncthreads()"), std::string::npos)
        << F.Message;
    EXPECT_NE(F.Message.find("(0,1,0)"), std::string::npos) << F.Message;
  }
}

} // namespace
} // namespace reconverge::warpvm
