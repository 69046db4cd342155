//===- unittests/warpvm/RacesTest.cpp - Planted races and clean twins -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table: kernels that differ in what orders their threads, and what is to be
// found of each. Everything but the synchronisation is the same in twins, so
// that a checker which says nothing fails, and one which says too much.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "warpvm/run/RaceShadow.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// What every kernel has: its indices as %t, %b, %g, the element of %p and of
/// the shared array @s that has the thread's number, and the one of the next
/// thread.
constexpr const char *Head = R"(
  @s = internal addrspace(3) global [128 x i32] undef
  @bar = internal addrspace(3) global i64 undef
  define ptx_kernel void @k(ptr %p) {
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    %base = mul i32 %b, %n
    %g = add i32 %base, %t
    %lane = and i32 %t, 31
    %isFirst = icmp eq i32 %t, 0
    %isZero = icmp eq i32 %g, 0
    %other = xor i32 %t, 1
    %far = xor i32 %t, 32
    %own = getelementptr i32, ptr %p, i32 %g
    %s.own = getelementptr i32, ptr addrspace(3) @s, i32 %t
    %s.other = getelementptr i32, ptr addrspace(3) @s, i32 %other
    %s.far = getelementptr i32, ptr addrspace(3) @s, i32 %far
)";
constexpr const char *Tail = R"(
    ret void
  }
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  declare void @llvm.nvvm.barrier0()
  declare void @llvm.nvvm.bar.warp.sync(i32)
  declare void @llvm.nvvm.barrier.sync(i32)
  declare void @llvm.nvvm.barrier.sync.cnt(i32, i32)
  declare void @llvm.nvvm.membar.gl()
  declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
  declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
  declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
  declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
)";

struct Case {
  const char *Name;
  unsigned Blocks, Threads;
  const char *Body;
  const char *Races;   ///< sorted: kinds of the two, space
  const char *Sharing; ///< "none", "atomics" or "plain"
};

std::string textOf(const RaceFindings &F) {
  std::vector<std::string> Texts;
  for (const Race &R : F.Races) {
    const char *Kinds[] = {"read", "write", "atomic"};
    std::string Sides[] = {Kinds[R.First.What], Kinds[R.Second.What]};
    if (Sides[1] < Sides[0])
      std::swap(Sides[0], Sides[1]);
    Texts.push_back(Sides[0] + "-" + Sides[1] +
                    (R.Space == RaceSpace::Shared ? " shared" : " global") +
                    (R.SameValue ? " same" : ""));
  }
  llvm::sort(Texts);
  return join(Texts, ", ");
}

const char *sharingOf(const RaceFindings &F) {
  return F.OfThreads.Otherwise   ? "plain"
         : F.OfThreads.ByAtomics ? "atomics"
                                 : "none";
}

// A neighbour's element, in the same warp or in another; %sync between.
#define EXCHANGE(OTHER, SYNC)                                                  \
  "store i32 %t, ptr addrspace(3) %s.own\n" SYNC                               \
  "%x = load i32, ptr addrspace(3) " OTHER "\n"                                \
  "store i32 %x, ptr %own\n"
#define BARRIER "call void @llvm.nvvm.barrier0()\n"
#define SYNCWARP "call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"
#define FENCE "call void @llvm.nvvm.membar.gl()\n"
/// Each block writes a word; the last to count reads those of all.
#define LAST_BLOCK(BEFORE, AFTER)                                              \
  R"(
    %mine = getelementptr i32, ptr %p, i32 %b
    br i1 %isFirst, label %count, label %end
  count:
    store i32 7, ptr %mine
  )" BEFORE R"(
    %c = getelementptr i32, ptr %p, i32 100
    %ticket = atomicrmw add ptr %c, i32 1 seq_cst
    %isLast = icmp eq i32 %ticket, 3
    br i1 %isLast, label %sum, label %end
  sum:
  )" AFTER R"(
    %q = getelementptr i32, ptr %p, i32 1
    %u = load i32, ptr %p
    %v = load i32, ptr %q
    %w = add i32 %u, %v
    %r = getelementptr i32, ptr %p, i32 101
    store i32 %w, ptr %r
    br label %end
  end:
  )"
/// Thread 0 of block 0 hands a word to thread 0 of block 1 by a flag.
#define FLAG(DATA_FENCE, STORE, LOAD)                                          \
  R"(
    %flag = getelementptr i32, ptr %p, i32 64
    br i1 %isFirst, label %acts, label %end
  acts:
    br i1 %isZero, label %give, label %wait
  give:
    store i32 7, ptr %p
  )" DATA_FENCE STORE R"(
    br label %end
  wait:
  )" LOAD R"(
    %is = icmp eq i32 %f, 1
    br i1 %is, label %take, label %wait
  take:
    %x = load i32, ptr %p
    %r = getelementptr i32, ptr %p, i32 65
    store i32 %x, ptr %r
    br label %end
  end:
  )"

const Case Cases[] = {
    // Shared memory, one warp: lockstep is no order.
    {"no syncwarp", 1, 32, EXCHANGE("%s.other", ""), "read-write shared",
     "plain"},
    {"syncwarp", 1, 32, EXCHANGE("%s.other", SYNCWARP), "", "plain"},
    {"syncwarp of the wrong lanes", 1, 32, EXCHANGE("%s.other", R"(
       %bit = shl i32 1, %lane
       call void @llvm.nvvm.bar.warp.sync(i32 %bit)
     )"),
     "read-write shared", "plain"},
    {"syncwarp of pairs", 1, 32, EXCHANGE("%s.other", R"(
       %pair = and i32 %lane, 30
       %bits = shl i32 3, %pair
       call void @llvm.nvvm.bar.warp.sync(i32 %bits)
     )"),
     "", "plain"},
    {"a shuffle orders", 1, 32,
     EXCHANGE("%s.other", "%y = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, "
                          "i32 %t, i32 0, i32 31)\n"
                          "store volatile i32 %y, ptr %own\n"),
     "", "plain"},
    // Two warps.
    {"no barrier", 1, 64, EXCHANGE("%s.far", ""), "read-write shared", "plain"},
    {"syncwarp is not enough", 1, 64, EXCHANGE("%s.far", SYNCWARP),
     "read-write shared", "plain"},
    {"barrier", 1, 64, EXCHANGE("%s.far", BARRIER), "", "plain"},
    {"barrier on each side of a branch", 1, 64, EXCHANGE("%s.far", R"(
       %low = icmp ult i32 %t, 32
       br i1 %low, label %l, label %h
     l:
       call void @llvm.nvvm.barrier0()
       br label %meet
     h:
       call void @llvm.nvvm.barrier0()
       br label %meet
     meet:
     )"),
     "", "plain"},
    {"named barrier", 1, 64,
     EXCHANGE("%s.far", "call void @llvm.nvvm.barrier.sync.cnt(i32 1, i32 "
                        "64)\n"),
     "", "plain"},
    {"named barriers of a warp each", 1, 64, EXCHANGE("%s.far", R"(
       %warp = lshr i32 %t, 5
       %id = add i32 %warp, 1
       call void @llvm.nvvm.barrier.sync.cnt(i32 %id, i32 32)
     )"),
     "read-write shared", "plain"},
    {"named barrier of two warps of four", 1, 128, EXCHANGE("%s.far", R"(
       %half = lshr i32 %t, 6
       %id = add i32 %half, 1
       call void @llvm.nvvm.barrier.sync.cnt(i32 %id, i32 64)
     )"),
     "", "plain"},
    {"mbarrier", 1, 64,
     R"(
       br i1 %isFirst, label %init, label %ready
     init:
       call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 64)
       br label %ready
     ready:
       call void @llvm.nvvm.barrier0()
       store i32 %t, ptr addrspace(3) %s.own
       %phase = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)
       br label %wait
     wait:
       %over = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @bar, i64 %phase)
       br i1 %over, label %go, label %wait
     go:
       %x = load i32, ptr addrspace(3) %s.far
       store i32 %x, ptr %own
     )",
     "", "plain"},
    {"the next round's write", 1, 64,
     EXCHANGE("%s.far", BARRIER) "store i32 0, ptr addrspace(3) %s.own\n",
     "read-write shared", "plain"},
    // Global memory.
    {"own elements", 4, 64,
     "store i32 %t, ptr %own\n%x = load i32, ptr %own\n"
     "store i32 %x, ptr %own\n",
     "", "none"},
    {"within a block", 1, 64, R"(
       store i32 %t, ptr %own
       %q = getelementptr i32, ptr %p, i32 %far
       %x = load i32, ptr %q
       store i32 %x, ptr addrspace(3) %s.own
     )",
     "read-write global", "plain"},
    {"within a block, barrier", 1, 64, R"(
       store i32 %t, ptr %own
       call void @llvm.nvvm.barrier0()
       %q = getelementptr i32, ptr %p, i32 %far
       %x = load i32, ptr %q
       store i32 %x, ptr addrspace(3) %s.own
     )",
     "", "plain"},
    {"a barrier orders no blocks", 2, 32, R"(
       %q = getelementptr i32, ptr %p, i32 %t
       store i32 %g, ptr %q
       call void @llvm.nvvm.barrier0()
       %x = load i32, ptr %q
       store i32 %x, ptr addrspace(3) %s.own
     )",
     "read-write global, write-write global", "plain"},
    {"one store, many values", 1, 32, "store i32 %t, ptr %p\n",
     "write-write global", "plain"},
    {"one store, one value", 2, 32, "store i32 7, ptr %p\n",
     "write-write global same", "plain"},
    {"neighbouring bytes", 2, 32, R"(
       %q = getelementptr i8, ptr %p, i32 %g
       %x = trunc i32 %g to i8
       store i8 %x, ptr %q
       %y = load i8, ptr %q
       store i8 %y, ptr addrspace(3) %s.own
     )",
     "", "none"},
    {"a word over a byte", 1, 64, R"(
       br i1 %isFirst, label %word, label %byte
     word:
       store i32 0, ptr %p
       br label %end
     byte:
       %q = getelementptr i8, ptr %p, i32 %t
       store i8 9, ptr %q
       br label %end
     end:
     )",
     "write-write global", "plain"},
    // Atomics.
    {"atomics", 2, 64, "%x = atomicrmw add ptr %p, i32 1 seq_cst\n", "",
     "atomics"},
    {"an atomic and a read", 2, 64, R"(
       %x = atomicrmw add ptr %p, i32 1 seq_cst
       %y = load i32, ptr %p
       store i32 %y, ptr addrspace(3) %s.own
     )",
     "atomic-read global", "plain"},
    {"an atomic, a barrier and a read", 1, 64, R"(
       %x = atomicrmw add ptr addrspace(3) @s, i32 1 seq_cst
       call void @llvm.nvvm.barrier0()
       %y = load i32, ptr addrspace(3) @s
       store i32 %y, ptr %own
     )",
     "", "plain"},
    {"an atomic and a write", 1, 64, R"(
       br i1 %isFirst, label %init, label %count
     init:
       store i32 0, ptr addrspace(3) @s
       br label %count
     count:
       %x = atomicrmw add ptr addrspace(3) @s, i32 1 seq_cst
     )",
     "atomic-write shared", "plain"},
    {"atomics of the block, between blocks", 2, 32,
     "%x = atomicrmw add ptr %p, i32 1 syncscope(\"ptx.cta\") monotonic\n",
     "atomic-atomic global", "atomics"},
    {"atomics of the block, within it", 1, 64,
     "%x = atomicrmw add ptr %p, i32 1 syncscope(\"ptx.cta\") monotonic\n", "",
     "atomics"},
    // Flags.
    {"last block", 4, 32, LAST_BLOCK(FENCE, FENCE), "", "plain"},
    {"last block, no fence", 4, 32, LAST_BLOCK("", ""), "read-write global",
     "plain"},
    {"flag, volatile", 2, 32,
     FLAG(FENCE, "store volatile i32 1, ptr %flag\n",
          "%f = load volatile i32, ptr %flag\n"),
     "", "plain"},
    {"flag, no fence", 2, 32,
     FLAG("", "store volatile i32 1, ptr %flag\n",
          "%f = load volatile i32, ptr %flag\n"),
     "read-write global", "plain"},
    {"flag, release and acquire", 2, 32,
     FLAG("",
          "store atomic i32 1, ptr %flag syncscope(\"ptx.gpu\") release, align "
          "4\n",
          "%f = load atomic i32, ptr %flag syncscope(\"ptx.gpu\") acquire, "
          "align 4\n"),
     "", "plain"},
    {"flag, plain", 2, 32,
     FLAG(FENCE, "store i32 1, ptr %flag\n",
          FENCE "%f = load i32, ptr %flag\n"),
     "read-write global", "plain"}, // two, but without lines they are one
};

LaunchOptions watched(RaceFindings &Found) {
  LaunchOptions How;
  How.Races = &Found;
  return How;
}

TEST(Races, AreFoundWherePlantedAndNowhereElse) {
  for (unsigned WarpSize : {32u, 64u})
    for (Tier Code : {Tier::Fused, Tier::Blocks}) {
      Machine &On =
          machineFor(optionsFor(WarpSize, Code, PolicyKind::Frontier));
      for (const Case &C : Cases) {
        TestProgram P(std::string(Head) + C.Body + Tail, On);
        std::vector<uint32_t> Memory(512);
        void *At = Memory.data();
        void *Args[] = {&At};
        auto K = P.program().kernel("k");
        ASSERT_FALSE(errorToBool(K.takeError()));
        RaceFindings F;
        if (Error E =
                On.launch(**K, shape(C.Blocks, C.Threads), Args, watched(F)))
          ADD_FAILURE() << C.Name << ": " << toString(std::move(E));
        EXPECT_EQ(textOf(F), C.Races) << C.Name << ", warps of " << WarpSize;
        EXPECT_STREQ(sharingOf(F), C.Sharing) << C.Name;
      }
    }
}

TEST(Races, AreTheSameInEachRun) {
  Machine &On = machineFor(optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  TestProgram P(std::string(Head) + EXCHANGE("%s.far", "") + Tail, On);
  std::vector<uint32_t> Memory(512);
  void *At = Memory.data();
  void *Args[] = {&At};
  auto K = P.program().kernel("k");
  ASSERT_FALSE(errorToBool(K.takeError()));
  RaceFindings First;
  for (unsigned Run = 0; Run < 3; ++Run) {
    RaceFindings F;
    ASSERT_FALSE(errorToBool(On.launch(**K, shape(2, 64), Args, watched(F))));
    ASSERT_EQ(F.Races.size(), 1u);
    const Race &R = F.Races.front();
    if (Run == 0)
      First = F;
    EXPECT_EQ(R.Times, First.Races.front().Times);
    EXPECT_EQ(R.First.Thread, First.Races.front().First.Thread);
    EXPECT_EQ(R.Second.Thread, First.Races.front().Second.Thread);
    EXPECT_EQ(R.Memory, "the shared variable 's'");
    EXPECT_NE(R.First.Thread, R.Second.Thread);
    EXPECT_EQ(R.First.Block, R.Second.Block);
  }
}

/// A block of 64 threads whose accesses go to one shadow.
class ShadowOf64 {
public:
  explicit ShadowOf64(uint64_t MaxBytes = 1 << 20) : S(Roles, MaxBytes) {
    Clocks.start(0, 64, Now);
  }
  /// Accesses that the new one, a read or a write, conflicts with. \p Same: it
  /// writes what is there.
  std::vector<Shadow::Conflict> touch(unsigned Thread, uint64_t Address,
                                      uint64_t Bytes, bool Writes,
                                      bool Same = false) {
    std::vector<Shadow::Conflict> Found;
    const AccessRecord Record(0, Thread, Writes, Now);
    Fits = S.touch(Address, Bytes, {Record, Roles[Writes], Clocks},
                   [&](const Shadow::Conflict &C) {
                     Found.push_back(C);
                     return C.MayAgree && Same;
                   });
    return Found;
  }
  Time Now = 1;
  BlockClocks Clocks;
  bool Fits = true;

private:
  Shadow::Roles Roles = {{}, {true, false, false, false}};
  Shadow S;
};

TEST(Races, ShadowsKnowReadersOfOtherWarps) {
  ShadowOf64 S;
  for (unsigned T : {0u, 1u, 2u, 40u}) // the last in another warp
    EXPECT_TRUE(S.touch(T, 64, 4, false).empty());
  S.Clocks.meetInGroup(0, ~0u, /*All=*/true);
  ++S.Now;
  const auto Found = S.touch(0, 64, 4, true);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].With.thread(), 40u);
  EXPECT_FALSE(Found[0].Ordered);
}

TEST(Races, ShadowsTellBytesApart) {
  ShadowOf64 S;
  EXPECT_TRUE(S.touch(0, 65, 2, true).empty());
  EXPECT_TRUE(S.touch(1, 67, 1, true).empty()) << "its neighbour";
  EXPECT_EQ(S.touch(2, 64, 8, false).size(), 3u) << "a byte each";
}

TEST(Races, ShadowsAskWritersOfOneValueForItAgain) {
  ShadowOf64 S;
  EXPECT_TRUE(S.touch(0, 64, 4, true).empty());
  EXPECT_TRUE(S.touch(0, 64, 4, true).empty()) << "its own, whatever it is";
  auto Found = S.touch(1, 64, 4, true, /*Same=*/true);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].MayAgree);
  Found = S.touch(1, 64, 4, true); // the last to write takes it back
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].MayAgree);
  // Who has read what was there before the writes may have seen another value.
  EXPECT_TRUE(S.touch(0, 72, 4, false).empty());
  EXPECT_TRUE(S.touch(0, 72, 4, true).empty());
  Found = S.touch(1, 72, 4, true, /*Same=*/true);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].MayAgree);
}

/// Threads that raise one flag, which none of them reads, may change places.
TEST(Races, WritersOfOneValueAreIndependent) {
  struct {
    const char *Body;
    bool Independent;
  } Cases[] = {
      {"store i32 7, ptr %p", true},
      {"store i32 %t, ptr %p", false},
      // The last to write writes another thing.
      {"store i32 7, ptr %p\n store i32 %t, ptr %p", false},
      {"%x = load i32, ptr %p\n store i32 7, ptr %p\n"
       "%q = getelementptr i32, ptr %own, i32 1\n store i32 %x, ptr %q",
       false},
      {"store i32 7, ptr %p\n"
       "%x = atomicrmw add ptr %p, i32 0 seq_cst",
       false},
  };
  Machine &On = machineFor(optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  for (const auto &C : Cases) {
    SCOPED_TRACE(C.Body);
    TestProgram P(std::string(Head) + C.Body + Tail, On);
    std::vector<uint32_t> Memory(512);
    void *At = Memory.data();
    void *Args[] = {&At};
    auto K = P.program().kernel("k");
    ASSERT_FALSE(errorToBool(K.takeError()));
    RaceFindings F;
    ASSERT_FALSE(errorToBool(On.launch(**K, shape(2, 64), Args, watched(F))));
    EXPECT_EQ(F.areIndependentUpToOrder(Moved::Threads), C.Independent);
    EXPECT_EQ(F.areIndependentUpToOrder(Moved::Blocks), C.Independent);
    EXPECT_TRUE(F.OfThreads.Otherwise) << "they do share memory";
  }
}

TEST(Races, ShadowsHaveABound) {
  ShadowOf64 S(100000); // two pages of cells
  for (uint64_t Page : {0, 1, 0, 1}) {
    S.touch(0, Page * 4096, 4, true);
    EXPECT_TRUE(S.Fits);
  }
  S.touch(0, 2 * 4096, 4, true);
  EXPECT_FALSE(S.Fits);
}

TEST(Races, AClockThatIsFullKnowsAll) {
  VectorClock C;
  C.addThread(0, 5, 7);
  EXPECT_TRUE(C.covers(0, 5, 7));
  EXPECT_FALSE(C.covers(0, 5, 8));
  EXPECT_FALSE(C.covers(0, 6, 7));
  C.addBlock(0, 6);
  EXPECT_TRUE(C.covers(0, 6, 6));
  for (uint32_t B = 1; B <= VectorClock::MaxEntries; ++B)
    C.addBlock(B, 9);
  EXPECT_TRUE(C.covers(12345, 1, 9));
  EXPECT_FALSE(C.covers(12345, 1, 10));
}

TEST(Races, ClocksJoin) {
  VectorClock A, B;
  A.addThread(1, 0, 3);
  A.addThread(2, 0, 9);
  B.addThread(2, 0, 5);
  B.addBlock(3, 4);
  A.join(B);
  EXPECT_TRUE(A.covers(1, 0, 3));
  EXPECT_TRUE(A.covers(2, 0, 9));
  EXPECT_TRUE(A.covers(3, 77, 4));
  EXPECT_FALSE(A.covers(3, 77, 5));
}

} // namespace
} // namespace reconverge::warpvm
