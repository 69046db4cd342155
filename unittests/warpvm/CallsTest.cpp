//===- unittests/warpvm/CallsTest.cpp - Functions that stay functions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursion and calls through pointers under all tiers, policies, warp sizes
// and mask shapes: results against the host's, counts against what the sources
// say.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "analysis/Numbering.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr unsigned Threads = 70; // a partial warp behind full ones

/// Lane and function numbers, the table of functions, the kernel's frame.
const char *const Common = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
  declare i32 @llvm.nvvm.activemask()
  declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)

  ; down(x) = x == 0 ? 0 : down(x - 1) + x
  define i32 @down(i32 %x) {
  entry:
    %last = icmp eq i32 %x, 0
    br i1 %last, label %end, label %more
  more:
    %y = sub i32 %x, 1
    %below = call i32 @down(i32 %y)
    %sum = add i32 %below, %x
    br label %end
  end:
    %r = phi i32 [ 0, %entry ], [ %sum, %more ]
    ret i32 %r
  }

  define i32 @three(i32 %x) {
    %r = mul i32 %x, 3
    ret i32 %r
  }
  define i32 @both(i32 %x) {
    %d = call i32 @down(i32 %x)
    %t = call i32 @three(i32 %d)
    ret i32 %t
  }
  ; Lanes that call together vote together.
  define i32 @together(i32 %x) {
    %here = call i32 @llvm.nvvm.activemask()
    %odd = trunc i32 %x to i1
    %votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 %here, i1 %odd)
    ret i32 %votes
  }
  @table = addrspace(1) global [4 x ptr] [ptr @down, ptr @three, ptr @both,
                                          ptr @together]

  define void @k(ptr %out, ptr %in, i64 %mask) {
  entry:
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %i = zext i32 %t to i64
    %lane = and i64 %i, 63
    %bit = lshr i64 %mask, %lane
    %go = trunc i64 %bit to i1
    %from = getelementptr i32, ptr %in, i64 %i
    %x = load i32, ptr %from
    %to = getelementptr i32, ptr %out, i64 %i
    br i1 %go, label %work, label %end
)";
const char *const End = R"(
    store i32 %r, ptr %to
    br label %end
  end:
    ret void
  }
  !nvvm.annotations = !{!0}
  !0 = !{ptr @k, !"kernel", i32 1}
)";
const char *const Recursive = "work:\n  %r = call i32 @down(i32 %x)";
const char *const Pointed = R"(
  work:
    %which = urem i32 %t, 4
    %at = getelementptr ptr, ptr addrspacecast (ptr addrspace(1) @table to ptr),
                        i32 %which
    %f = load ptr, ptr %at
    %r = call i32 %f(i32 %x)
)";

int32_t down(int32_t X) { return X * (X + 1) / 2; }

/// Counts of a block of a function other than the kernel.
const BlockCounts &countsIn(TestProgram &P, StringRef Function,
                            StringRef Block) {
  static const BlockCounts None;
  auto Kernel = P.program().kernel("k");
  auto Numbers = analysis::numbersOf((*Kernel)->function());
  for (const BasicBlock &BB : *P.program().module().getFunction(Function))
    if (BB.getName() == Block) {
      auto At = llvm::find(Numbers.Blocks, analysis::blockNumber(BB));
      return P.counts().Blocks[At - Numbers.Blocks.begin()];
    }
  ADD_FAILURE() << "no block " << Block.str();
  return None;
}

struct Vectors {
  std::vector<int32_t> In = std::vector<int32_t>(Threads);
  std::vector<int32_t> Out = std::vector<int32_t>(Threads, -1);
  bool takesPart(uint64_t Mask, unsigned T) const { return Mask >> T % 64 & 1; }
  void launch(TestProgram &P, uint64_t Mask) {
    P.run(shape(1, Threads), Out.data(), In.data(), Mask);
  }
};

TEST(Calls, RecursionCountsEachDepth) {
  for (const MachineOptions &O : allSetups())
    for (const MaskShape &M : maskShapes()) {
      SCOPED_TRACE(describe(O) + ", " + M.Name);
      TestProgram P(std::string(Common) + Recursive + End, O);
      Vectors R;
      for (unsigned T = 0; T < Threads; ++T)
        R.In[T] = T * 5 % 11;
      R.launch(P, M.Bits);
      // A lane enters down once for each depth; a warp, as deep as its deepest.
      uint64_t Entries = 0, WarpEntries = 0, Calls = 0, WarpCalls = 0;
      for (unsigned First = 0; First < Threads; First += O.WarpSize) {
        int Deepest = -1;
        for (unsigned T = First; T < std::min(Threads, First + O.WarpSize); ++T)
          if (R.takesPart(M.Bits, T)) {
            Entries += R.In[T] + 1;
            Calls += R.In[T];
            Deepest = std::max(Deepest, R.In[T]);
            EXPECT_EQ(R.Out[T], down(R.In[T])) << T;
          } else {
            EXPECT_EQ(R.Out[T], -1) << T;
          }
        WarpEntries += Deepest + 1;
        WarpCalls += std::max(0, Deepest);
      }
      EXPECT_EQ(countsIn(P, "down", "entry").Lanes, Entries);
      EXPECT_EQ(countsIn(P, "down", "entry").Warps, WarpEntries);
      EXPECT_EQ(countsIn(P, "down", "more").Lanes, Calls);
      EXPECT_EQ(countsIn(P, "down", "more").Warps, WarpCalls);
      EXPECT_EQ(countsIn(P, "down", "end").Lanes, Entries);
      EXPECT_EQ(countsIn(P, "down", "end").Warps, WarpEntries);
    }
}

TEST(Calls, PointersSendLanesApartAndTogetherAgain) {
  for (const MachineOptions &O : allSetups())
    for (const MaskShape &M : maskShapes()) {
      SCOPED_TRACE(describe(O) + ", " + M.Name);
      TestProgram P(std::string(Common) + Pointed + End, O);
      Vectors R;
      for (unsigned T = 0; T < Threads; ++T)
        R.In[T] = T / 3;
      R.launch(P, M.Bits);
      uint64_t Warps = 0;
      for (unsigned First = 0; First < Threads; First += 32) {
        uint32_t Votes = 0;
        for (unsigned T = First; T < std::min(Threads, First + 32); ++T)
          if (R.takesPart(M.Bits, T) && T % 4 == 3 && R.In[T] % 2)
            Votes |= 1u << (T - First);
        for (unsigned T = First; T < std::min(Threads, First + 32); ++T) {
          const int32_t X = R.In[T];
          const int32_t Want[] = {down(X), 3 * X, 3 * down(X), int32_t(Votes)};
          EXPECT_EQ(R.Out[T], R.takesPart(M.Bits, T) ? Want[T % 4] : -1) << T;
        }
      }
      for (unsigned First = 0; First < Threads; First += O.WarpSize) {
        bool Any = false;
        for (unsigned T = First; T < std::min(Threads, First + O.WarpSize); ++T)
          Any |= R.takesPart(M.Bits, T);
        Warps += Any;
      }
      // Together before and, under both policies, behind the call.
      EXPECT_EQ(P.block("work").Warps, Warps);
    }
}

/// What is inlined counts like any other code: joined blocks, one or several
/// returns, a call in a call, and a branch that a constant argument decides. Of
/// 40 threads 20 call, all in the first warp.
TEST(Calls, InlinedBlocksKeepTheirCounts) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define internal i32 @single(i32 %x) {
      single:
        %r = add i32 %x, 1
        ret i32 %r
      }
      define internal i32 @joined(i32 %x) {
      joined:
        %c = icmp ugt i32 %x, 4
        br i1 %c, label %work, label %joinedend
      work:
        %y = mul i32 %x, 3
        br label %joinedend
      joinedend:
        %r = phi i32 [ %x, %joined ], [ %y, %work ]
        ret i32 %r
      }
      define internal i32 @twice(i32 %x) {
      twice:
        %c = icmp ult i32 %x, 9
        br i1 %c, label %early, label %late
      early:
        ret i32 1
      late:
        %z = call i32 @single(i32 %x)
        ret i32 %z
      }
      define ptx_kernel void @k(ptr %out) {
      entry:
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %c = icmp ult i32 %t, 20
        br i1 %c, label %calls, label %done
      calls:
        %a = call i32 @joined(i32 %t)
        %b = call i32 @twice(i32 %a)
        %d = call i32 @joined(i32 7)
        %e = add i32 %b, %d
        %p = getelementptr i32, ptr %out, i32 %t
        store i32 %e, ptr %p
        br label %done
      done:
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(20);
    P.run(shape(1, 40), Out.data());
    for (unsigned T = 0; T < 20; ++T)
      EXPECT_EQ(Out[T], (T > 4 ? 3 * T + 1 : 1) + 21) << "thread " << T;
    auto Expect = [&](StringRef In, StringRef Name, uint64_t Warps,
                      uint64_t Lanes) {
      EXPECT_EQ(countsIn(P, In, Name).Warps, Warps) << Name.str();
      EXPECT_EQ(countsIn(P, In, Name).Lanes, Lanes) << Name.str();
    };
    const unsigned All = O.WarpSize == 32 ? 2 : 1;
    Expect("k", "entry", All, 40);
    Expect("k", "calls", 1, 20);
    Expect("joined", "joined", 2, 40);
    Expect("joined", "work", 2, 15 + 20);
    Expect("joined", "joinedend", 2, 40);
    Expect("twice", "twice", 1, 20);
    Expect("twice", "early", 1, 5);
    Expect("twice", "late", 1, 15);
    Expect("single", "single", 1, 15);
    Expect("k", "done", All, 40);
  }
}

TEST(Calls, TiersCountAlike) {
  for (const char *Body : {Recursive, Pointed})
    for (unsigned WarpSize : {32u, 64u}) {
      auto Setups = setups(WarpSize);
      TestProgram A(std::string(Common) + Body + End, Setups[0]);
      TestProgram B(std::string(Common) + Body + End, Setups[1]);
      Vectors Ra, Rb;
      for (unsigned T = 0; T < Threads; ++T)
        Ra.In[T] = Rb.In[T] = T * 7 % 13;
      Ra.launch(A, 0x5f0ff00f1234cdef);
      Rb.launch(B, 0x5f0ff00f1234cdef);
      EXPECT_EQ(Ra.Out, Rb.Out);
      EXPECT_EQ(differenceOf(A.counts(), B.counts()), "");
    }
}

TEST(Calls, BlockVectorsSumUpToTheCounts) {
  class Sums : public VectorObserver {
  public:
    std::vector<uint64_t> Of;
    bool wants(uint64_t) override { return true; }
    void record(uint64_t, unsigned Count, ArrayRef<uint32_t> Rows,
                ArrayRef<uint64_t>) override {
      Of.assign(Rows.size() / Count, 0);
      for (size_t I = 0; I < Rows.size(); ++I)
        Of[I % Of.size()] += Rows[I];
    }
  } Observer;
  TestProgram P(std::string(Common) + Recursive + End,
                optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  P.Observer = &Observer;
  Vectors R;
  for (unsigned T = 0; T < Threads; ++T)
    R.In[T] = T % 9;
  R.launch(P, ~uint64_t(0));
  ASSERT_EQ(Observer.Of.size(), P.counts().Blocks.size());
  for (size_t B = 0; B < Observer.Of.size(); ++B)
    EXPECT_EQ(Observer.Of[B], P.counts().Blocks[B].Lanes) << B;
}

/// Lanes 0 to 15 come to a collective in a function and name all 32; once they
/// do, the others write a flag and return. Who is named is waited for, so what
/// the function reads behind it is the flag.
TEST(Calls, ACollectiveInAFunctionWaitsForLanesThatAreNotInTheCall) {
  const char *const Text = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare void @llvm.nvvm.bar.warp.sync(i32)
  define void @meet(ptr %flag, ptr %to, i32 %depth) {
    %last = icmp eq i32 %depth, 0
    br i1 %last, label %here, label %deeper
  deeper:
    %less = sub i32 %depth, 1
    call void @meet(ptr %flag, ptr %to, i32 %less)
    ret void
  here:
    %begun = getelementptr i32, ptr %flag, i32 1
    store volatile i32 1, ptr %begun
    call void @llvm.nvvm.bar.warp.sync(i32 -1)
    %seen = load volatile i32, ptr %flag
    store i32 %seen, ptr %to
    ret void
  }
  define ptx_kernel void @k(ptr %flag, ptr %out) {
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %to = getelementptr i32, ptr %out, i32 %t
    %high = icmp uge i32 %t, 16
    br i1 %high, label %others, label %first
  first:
    call void @meet(ptr %flag, ptr %to, i32 1)
    ret void
  others:
    %begun = getelementptr i32, ptr %flag, i32 1
    br label %wait
  wait:
    %there = load volatile i32, ptr %begun
    %go = icmp ne i32 %there, 0
    br i1 %go, label %write, label %wait
  write:
    store volatile i32 7, ptr %flag
    ret void
  }
)";
  for (Tier Code : {Tier::Fused, Tier::Blocks}) {
    uint32_t Flag[2] = {}, Out[32] = {};
    TestProgram P(Text, optionsFor(32, Code, PolicyKind::Frontier));
    P.run(shape(1, 32), &Flag[0], &Out[0]);
    for (unsigned T = 0; T < 32; ++T)
      EXPECT_EQ(Out[T], T < 16 ? 7u : 0u) << T;
  }
}

} // namespace
} // namespace reconverge::warpvm
