//===- unittests/warpvm/FaultTest.cpp - What a kernel did wrong -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults are found by the hardware and explained by a replay, or found by code
// that tests each access; waits that never end are found by the scheduler.
// test/vm/faults.cu, check.cu and barriers.cu look at whole programs and lines.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "warpvm/memory/DeviceMemory.h"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// Memory as cudaMalloc gives it, freed with the test.
class DeviceArray {
public:
  explicit DeviceArray(uint64_t Bytes)
      : P(static_cast<uint32_t *>(cantFail(
            DeviceMemory::instance().allocate(Bytes, MemoryKind::Device)))) {}
  ~DeviceArray() { DeviceMemory::instance().release(P); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  uint32_t *get() const { return P; }

private:
  uint32_t *P;
};

/// One launch of kernel k on a machine of its own.
template <typename... Args>
Fault faultWith(const MachineOptions &O, const std::string &Text,
                const LaunchShape &Shape, Args... Values) {
  auto M = cantFail(Machine::create(O));
  TestProgram P(Text, *M);
  return faultOf(P.launch("k", Shape, Values...));
}

MachineOptions owning(unsigned Threads = 1) {
  MachineOptions O;
  O.Threads = Threads;
  O.OwnMemory = true;
  return O;
}

void expectIn(const Fault &F, const std::string &Part) {
  EXPECT_NE(F.Message.find(Part), std::string::npos)
      << "no \"" << Part << "\" in: " << F.Message;
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

/// Thread t adds to element t * step; the last threads are past the end.
const char *Strided = R"(
  define ptx_kernel void @k(ptr %data, i32 %step) {
  entry:
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %even = and i32 %tid, 1
    %c = icmp eq i32 %even, 0
    br i1 %c, label %work, label %done
  work:
    %at = mul i32 %tid, %step
    %p = getelementptr i32, ptr %data, i32 %at
    %x = load i32, ptr %p
    %y = add i32 %x, 1
    store i32 %y, ptr %p
    br label %done
  done:
    ret void
  })";

TEST(Replay, FindsLaneAddressAndAllocation) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    DeviceArray Data(4096);
    // 40 * 128 bytes in: thread 32 is the first past 4096.
    Fault F = faultWith(O, Strided, shape(1, 41), Data.get(), 32);
    ASSERT_TRUE(F.Happened);
    EXPECT_EQ(F.Kind, FaultKind::IllegalAddress);
    expectIn(F, "kernel k: an illegal read of 4 bytes at address");
    expectIn(F, "0 bytes past the end of an allocation of 4096 bytes by call");
    expectIn(F, "in block (0,0,0), thread (32,0,0) and 4 more of its warp");
  }
}

TEST(Replay, FreedMemoryIsToldApart) {
  uint32_t *Freed;
  {
    DeviceArray Data(4096);
    Freed = Data.get();
  }
  Fault F = faultWith(owning(), Strided, shape(1, 1), Freed, 0);
  expectIn(F, "0 bytes into a freed allocation of 4096 bytes by call");
}

/// The second time round the flag is set, and the wild store is not made.
TEST(Replay, SaysWhatIsKnownIfTheFaultDoesNotComeBack) {
  DeviceArray Flag(4);
  Fault F = faultWith(owning(), R"(
    define ptx_kernel void @k(ptr %flag, i64 %wild) {
    entry:
      %old = load i32, ptr %flag
      store i32 1, ptr %flag
      %first = icmp eq i32 %old, 0
      br i1 %first, label %bad, label %done
    bad:
      %p = inttoptr i64 %wild to ptr
      store i32 1, ptr %p
      br label %done
    done:
      ret void
    })",
                      shape(1, 32), Flag.get(), uint64_t(64));
  EXPECT_EQ(F.Kind, FaultKind::IllegalAddress);
  expectIn(F, "an illegal access at address 0x40, near the null pointer");
  expectIn(F, "in block (0,0,0), warp 0");
}

/// A callee's frame is another than its caller's; its caller's locals are its
/// lane's own.
TEST(Replay, InACalleeThatUsesItsCallersLocals) {
  DeviceArray Data(256);
  const char *Text = R"(
    define i32 @down(i32 %n, ptr %local, ptr %data) noinline {
    entry:
      %more = icmp sgt i32 %n, 0
      br i1 %more, label %deeper, label %end
    deeper:
      %n1 = sub i32 %n, 1
      %r = call i32 @down(i32 %n1, ptr %local, ptr %data)
      ret i32 %r
    end:
      %x = load i32, ptr %local
      %p = getelementptr i32, ptr %data, i32 %x
      store i32 %x, ptr %p
      ret i32 %x
    }
    define ptx_kernel void @k(ptr %data, i32 %far) {
    entry:
      %local = alloca [4 x i32]
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %last = icmp eq i32 %tid, 5
      %x = select i1 %last, i32 %far, i32 0
      %slot = and i32 %tid, 3
      %p = getelementptr [4 x i32], ptr %local, i32 0, i32 %slot
      store i32 %x, ptr %p
      %r = call i32 @down(i32 2, ptr %p, ptr %data)
      ret void
    })";
  for (bool Check : {false, true}) {
    MachineOptions O = owning();
    O.Check = Check;
    EXPECT_FALSE(faultWith(O, Text, shape(1, 8), Data.get(), 60).Happened);
    Fault F = faultWith(O, Text, shape(1, 8), Data.get(), 1 << 20);
    EXPECT_EQ(F.Kind, FaultKind::IllegalAddress);
    expectIn(F, "an illegal write of 4 bytes");
    expectIn(F, "thread (5,0,0)");
  }
}

//===----------------------------------------------------------------------===//
// Just past an allocation
//===----------------------------------------------------------------------===//

MachineOptions tolerant() {
  MachineOptions O = owning();
  O.Tolerant = true;
  return O;
}

/// What lies there belongs to nobody, and stays from launch to launch.
TEST(Overruns, GoOnWhereAGpuLetsThemPass) {
  DeviceArray Data(4096), Next(4096);
  EXPECT_FALSE(
      faultWith(tolerant(), Strided, shape(1, 41), Data.get(), 32).Happened);
  auto Past = DeviceMemory::instance().closeSlack();
  ASSERT_EQ(Past.size(), 1u);
  EXPECT_EQ(Past[0].Base, uint64_t(Data.get()));
  EXPECT_EQ(std::count(Next.get(), Next.get() + 1024, 0u), 1024);
  EXPECT_TRUE(DeviceMemory::instance().closeSlack().empty());
  // What was written there is there in the next launch.
  *Data.get() = 7;
  const char *Back = R"(
    define ptx_kernel void @k(ptr %data) {
      %p = getelementptr i32, ptr %data, i32 1024
      %x = load i32, ptr %p
      store i32 %x, ptr %data
      ret void
    })";
  EXPECT_FALSE(faultWith(tolerant(), Back, shape(1, 1), Data.get()).Happened);
  EXPECT_EQ(*Data.get(), 1u);
  EXPECT_EQ(DeviceMemory::instance().closeSlack().size(), 1u);
}

/// Not where all is tested, not far away, and not where a GPU's pages end with
/// the allocation. What was let pass before is not what a fault is put down to.
TEST(Overruns, AreFaultsElsewhere) {
  DeviceArray Data(4096), Whole(2 << 20);
  MachineOptions Checked = tolerant();
  Checked.Check = true;
  EXPECT_TRUE(
      faultWith(Checked, Strided, shape(1, 41), Data.get(), 32).Happened);
  EXPECT_TRUE(
      faultWith(owning(), Strided, shape(1, 41), Data.get(), 32).Happened);
  Fault F = faultWith(tolerant(), Strided, shape(1, 3), Whole.get(), 1 << 18);
  expectIn(F, "0 bytes past the end of an allocation of 2097152 bytes by call");
  F = faultWith(tolerant(), Strided, shape(1, 65), Data.get(), 32);
  expectIn(F, "4096 bytes past the end of an allocation of 4096 bytes by call");
  expectIn(F, "thread (64,0,0)");
  DeviceMemory::instance().closeSlack();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whose memory it is, is known only where all of it is ours.
TEST(Checks, HostMemoryIsAFaultOnlyWhereAllMemoryIsOurs) {
  uint32_t Host[32] = {};
  MachineOptions O = owning();
  Fault F = faultWith(O, Strided, shape(1, 4), &Host[0], 1);
  expectIn(F, "host memory, which a kernel cannot reach");
  O.OwnMemory = false;
  O.Check = true;
  EXPECT_FALSE(faultWith(O, Strided, shape(1, 4), &Host[0], 1).Happened);
  EXPECT_EQ(Host[2], 1u);
}

TEST(Checks, CountsAreTheSame) {
  DeviceArray Data(4096);
  MachineOptions O = owning();
  auto Plain = cantFail(Machine::create(O));
  O.Check = true;
  auto Checked = cantFail(Machine::create(O));
  TestProgram A(Strided, *Plain), B(Strided, *Checked);
  A.run(shape(3, 50), Data.get(), 2);
  B.run(shape(3, 50), Data.get(), 2);
  EXPECT_EQ(differenceOf(A.counts(), B.counts()), "");
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// The halves of a block meet barriers whose places are \p A and \p B.
std::string halves(const std::string &A, const std::string &B) {
  return R"(
    define ptx_kernel void @k(i32 %half) !dbg !4 {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %c = icmp ult i32 %tid, %half
      br i1 %c, label %low, label %high
    low:
      call void @llvm.nvvm.barrier0() )" +
         A + R"(
      br label %done
    high:
      call void @llvm.nvvm.barrier0() )" +
         B + R"(
      br label %done
    done:
      ret void
    }
    !llvm.module.flags = !{!0}
    !llvm.dbg.cu = !{!1}
    !0 = !{i32 2, !"Debug Info Version", i32 3}
    !1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2)
    !2 = !DIFile(filename: "app.cu", directory: "")
    !3 = !DISubroutineType(types: !{})
    !4 = distinct !DISubprogram(name: "k", file: !2, line: 1, type: !3,
                                spFlags: DISPFlagDefinition, unit: !1)
    !5 = !DILocation(line: 5, column: 3, scope: !4)
    !6 = !DILocation(line: 9, column: 3, scope: !4)
    !7 = !DILocation(line: 5, column: 3, scope: !4)
    !8 = !DILocation(line: 0, scope: !4)
  )";
}

/// They count together, as on a GPU, unless everything is tested.
TEST(Barriers, AtDifferentPlacesAreAFaultIfTested) {
  for (unsigned Half : {32u, 20u}) { // of warps, and of one warp's lanes
    MachineOptions O;
    const std::string Text = halves(", !dbg !5", ", !dbg !6");
    EXPECT_FALSE(faultWith(O, Text, shape(1, 64), Half).Happened);
    O.Sync = true;
    Fault F = faultWith(O, Text, shape(1, 64), Half);
    ASSERT_TRUE(F.Happened) << Half;
    EXPECT_EQ(F.Kind, FaultKind::BarrierDivergence);
    expectIn(F, "__syncthreads() is met at different places");
    expectIn(F, "app.cu:5");
    expectIn(F, "app.cu:9");
  }
}

TEST(Barriers, CopiesOfOneAndLostPlacesAreNone) {
  MachineOptions O;
  O.Sync = true;
  for (const char *Other : {", !dbg !7", ", !dbg !8"})
    EXPECT_FALSE(
        faultWith(O, halves(", !dbg !5", Other), shape(1, 64), 32u).Happened);
}

/// Pairs of warps meet at barrier 1, one pair after the other: a warp that
/// comes when two have come waits for a fourth.
TEST(Barriers, NamedOnesOpenForEachRound) {
  const char *Text = R"(
    define ptx_kernel void @k(ptr %out, i32 %count) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %p = getelementptr i32, ptr %out, i32 %tid
      store volatile i32 1, ptr %p
      call void @llvm.nvvm.barrier(i32 1, i32 %count)
      %other = xor i32 %tid, 32
      %q = getelementptr i32, ptr %out, i32 %other
      %x = load volatile i32, ptr %q
      call void @llvm.nvvm.barrier(i32 15, i32 %count)
      store volatile i32 %x, ptr %p
      ret void
    })";
  for (const MachineOptions &O : setups(32)) {
    SCOPED_TRACE(describe(O));
    std::vector<uint32_t> Out(192);
    EXPECT_FALSE(faultWith(O, Text, shape(1, 192), Out.data(), 64).Happened);
    EXPECT_EQ(Out, std::vector<uint32_t>(192, 1));
    // Five warps: the last one waits for ever.
    Fault F = faultWith(O, Text, shape(1, 160), Out.data(), 64);
    EXPECT_EQ(F.Kind, FaultKind::Deadlock);
    expectIn(F, "barrier 1 waits for 64 threads, 32 have come");
    expectIn(F, "thread (128,0,0)");
  }
}

/// Threads that a partial warp lacks, or that have returned, count as come.
TEST(Barriers, NamedOnesTakeAWarpAsAWhole) {
  const char *Text = R"(
    define ptx_kernel void @k(ptr %out) {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %gone = icmp eq i32 %tid, 7
      br i1 %gone, label %done, label %meet
    meet:
      call void @llvm.nvvm.barrier.sync.cnt(i32 2, i32 64)
      call void @llvm.nvvm.barrier.sync(i32 3)
      call void @llvm.nvvm.barrier.sync(i32 0)
      %p = getelementptr i32, ptr %out, i32 %tid
      store i32 1, ptr %p
      br label %done
    done:
      ret void
    })";
  for (const MachineOptions &O : allSetups()) {
    if (O.Policy == PolicyKind::PostDominator)
      continue; // the lanes that leave are held up at the join
    SCOPED_TRACE(describe(O));
    std::vector<uint32_t> Out(40);
    EXPECT_FALSE(faultWith(O, Text, shape(1, 40), Out.data()).Happened);
    for (unsigned T = 0; T < 40; ++T)
      EXPECT_EQ(Out[T], T != 7) << T;
  }
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

/// Block b spins until flag (b + 1) mod blocks is set, or what \p Late gives as
/// %late is true, and then sets its own.
std::string spinning(const std::string &Late) {
  return R"(
    define ptx_kernel void @k(ptr %flags, ptr %out) {
    entry:
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %n = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
      %b1 = add i32 %b, 1
      %next = urem i32 %b1, %n
      %p = getelementptr i32, ptr %flags, i32 %next
      %mine = getelementptr i32, ptr %flags, i32 %b
      br label %spin
    spin:
      )" +
         Late +
         R"(
      %x = load volatile i32, ptr %p
      %set = icmp ne i32 %x, 0
      %either = or i1 %set, %late
      br i1 %either, label %done, label %spin
    done:
      store volatile i32 1, ptr %mine
      ret void
    })";
}

TEST(Deadlocks, OfALoopWithoutEnd) {
  DeviceArray Out(4096);
  Fault F = faultWith(owning(2), R"(
    define ptx_kernel void @k(ptr %out) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %some = icmp ult i32 %t, 7
      br i1 %some, label %spin, label %go
    spin:
      br label %spin
    go:
      store i32 1, ptr %out
      ret void
    })",
                      shape(3, 64), Out.get());
  EXPECT_EQ(F.Kind, FaultKind::Deadlock);
  expectIn(F, "and 6 more of its warp");
  EXPECT_EQ(*Out.get(), 1u);
}

TEST(Deadlocks, OfOneBlockAndOfARing) {
  DeviceArray Flags(4096);
  for (unsigned Threads : {1u, 2u, 3u})
    for (unsigned Blocks : {1u, 2u, 7u}) {
      SCOPED_TRACE(std::to_string(Threads) + " CPU threads, " +
                   std::to_string(Blocks) + " blocks");
      Fault F =
          faultWith(owning(Threads), spinning("%late = icmp eq i32 %b, -1"),
                    shape(Blocks, 64), Flags.get(), Flags.get());
      ASSERT_TRUE(F.Happened);
      EXPECT_EQ(F.Kind, FaultKind::Deadlock);
      expectIn(F, "deadlock: every thread that is left waits");
    }
}

/// Memory changes in each round: someone may read it.
TEST(Deadlocks, NotWhileMemoryChanges) {
  DeviceArray Flags(4096);
  MachineOptions O = owning();
  O.StepLimit = 1 << 20;
  // Another block counts, and sets the flag in the end.
  Fault F = faultWith(O, R"(
    define ptx_kernel void @k(ptr %flags, i32 %end) {
    entry:
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %first = icmp eq i32 %b, 0
      br i1 %first, label %wait, label %count
    wait:
      %x = load volatile i32, ptr %flags
      %enough = icmp sge i32 %x, %end
      br i1 %enough, label %done, label %wait
    count:
      %old = atomicrmw add ptr %flags, i32 1 seq_cst
      %last = icmp sge i32 %old, %end
      br i1 %last, label %done, label %count
    done:
      ret void
    })",
                      shape(2, 1), Flags.get(), 500000);
  EXPECT_FALSE(F.Happened) << F.Message;
}

TEST(Deadlocks, NotWhereAClockOrACounterMayEndIt) {
  DeviceArray Flags(4096);
  MachineOptions O = owning();
  O.StepLimit = 1 << 19;
  // Neither comes true in time, but who knows.
  for (const char *Late : {R"(%t = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
                              %late = icmp eq i64 %t, 0)",
                           R"(%i = phi i32 [ 0, %entry ], [ %i1, %spin ]
                              %i1 = add i32 %i, 1
                              %late = icmp eq i32 %i1, -5)"}) {
    Fault F =
        faultWith(O, spinning(Late), shape(1, 32), Flags.get(), Flags.get());
    EXPECT_EQ(F.Kind, FaultKind::StepLimit) << F.Message;
  }
}

/// A callee's registers are part of the state, too.
TEST(Deadlocks, NotWhileACalleeCounts) {
  DeviceArray Flags(4096);
  MachineOptions O = owning();
  O.StepLimit = 1 << 20;
  Fault F = faultWith(O, R"(
    define i32 @down(i32 %n, ptr %flag) noinline {
    entry:
      %more = icmp sgt i32 %n, 0
      br i1 %more, label %deeper, label %spin
    deeper:
      %n1 = sub i32 %n, 1
      %r = call i32 @down(i32 %n1, ptr %flag)
      ret i32 %r
    spin:
      %i = phi i32 [ 0, %entry ], [ %i1, %spin ]
      %i1 = add i32 %i, 1
      %x = load volatile i32, ptr %flag
      %set = icmp ne i32 %x, 0
      %late = icmp eq i32 %i1, 400000
      %either = or i1 %set, %late
      br i1 %either, label %end, label %spin
    end:
      ret i32 %i1
    }
    define ptx_kernel void @k(ptr %flag, ptr %out) {
    entry:
      %r = call i32 @down(i32 2, ptr %flag)
      store i32 %r, ptr %out
      ret void
    })",
                      shape(1, 32), Flags.get(), Flags.get() + 8);
  EXPECT_FALSE(F.Happened) << F.Message;
  EXPECT_EQ(Flags.get()[8], 400000u);
}

//===----------------------------------------------------------------------===//
// Memory of our own
//===----------------------------------------------------------------------===//

std::string localArray(unsigned Words) {
  const std::string Type = "[" + std::to_string(Words) + " x i32]";
  return R"(
    define ptx_kernel void @k(ptr %out) {
    entry:
      %big = alloca )" +
         Type + R"(
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %p = getelementptr )" +
         Type + R"(, ptr %big, i32 0, i32 %tid
      store volatile i32 1, ptr %p
      ret void
    })";
}

TEST(Memory, MoreLocalArraysThanCudaAllowsAreRefused) {
  auto M = cantFail(Machine::create(MachineOptions()));
  TestProgram P(localArray(1 << 30), *M);
  EXPECT_EQ(
      toString(P.launch("k", shape(1, 1), nullptr)),
      "function k has 4294967296 bytes of local arrays; a thread may have "
      "524288\n  Put large arrays into device memory.");
}

/// The process may take no more memory than it has, and a little.
TEST(Memory, ABlockThatDoesNotFitIsAnError) {
  auto M = cantFail(Machine::create(MachineOptions()));
  TestProgram P(localArray(100000), *M);
  P.run(shape(1, 32), nullptr); // compiled
  uint64_t Pages = 0;
  std::ifstream("/proc/self/statm") >> Pages;
  rlimit Old;
  getrlimit(RLIMIT_AS, &Old);
  rlimit Tight = Old;
  Tight.rlim_cur = Pages * sysconf(_SC_PAGESIZE) + (100 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &Tight), 0);
  Fault F = faultOf(P.launch("k", shape(1, 1024), nullptr));
  setrlimit(RLIMIT_AS, &Old);
  ASSERT_TRUE(F.Happened);
  EXPECT_EQ(F.Kind, FaultKind::OutOfMemory);
  expectIn(F, "kernel k: a block of 1024 threads needs 409");
  P.run(shape(2, 64), nullptr);
}

} // namespace
} // namespace reconverge::warpvm
