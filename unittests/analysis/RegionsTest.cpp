//===- unittests/analysis/RegionsTest.cpp - What a branch controls --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Regions.h"
#include "Parsed.h"

#include "llvm/Analysis/PostDominators.h"

#include <random>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::analysis;

namespace {

class Regions : public testing::Test {
protected:
  BranchRegion at(StringRef Body, StringRef Block = "entry") {
    P = std::make_unique<Parsed>(
        ("define ptx_kernel void @k(i1 %c, i1 %d, i32 %n, ptr %p) {" + Body +
         "}")
            .str());
    Cycles.clear();
    Cycles.compute(P->function());
    return regionOf(P->block(Block), PostDominance(P->function()), Cycles);
  }
  static std::string names(const BranchRegion &R) {
    std::string Text;
    for (const BasicBlock *BB : R.Blocks)
      Text += (Text.empty() ? "" : " ") + BB->getName().str();
    return Text;
  }
  static std::string postDominator(const BranchRegion &R) {
    return R.PostDominator ? R.PostDominator->getName().str() : "none";
  }
  std::unique_ptr<Parsed> P;
  CycleInfo Cycles;
};

TEST_F(Regions, If) {
  auto R = at(R"(entry: br i1 %c, label %then, label %end
                 then:  store i32 1, ptr %p br label %end
                 end:   store i32 2, ptr %p ret void)");
  EXPECT_EQ(R.Kind, BranchKind::If);
  EXPECT_EQ(postDominator(R), "end");
  EXPECT_EQ(names(R), "then");
  EXPECT_FALSE(R.LeavesFunction);
}

TEST_F(Regions, IfWithEmptyBlock) {
  auto R = at(R"(entry: br i1 %c, label %then, label %empty
                 then:  store i32 1, ptr %p br label %end
                 empty: br label %end
                 end:   store i32 2, ptr %p ret void)");
  EXPECT_EQ(R.Kind, BranchKind::If);
  EXPECT_EQ(names(R), "then empty");
}

TEST_F(Regions, IfElse) {
  auto R = at(R"(entry: br i1 %c, label %then, label %else
                 then:  store i32 1, ptr %p br label %end
                 else:  store i32 3, ptr %p br label %end
                 end:   store i32 2, ptr %p ret void)");
  EXPECT_EQ(R.Kind, BranchKind::IfElse);
  EXPECT_EQ(names(R), "then else");
}

TEST_F(Regions, EarlyReturn) {
  auto R = at(R"(entry: br i1 %c, label %out, label %work
                 work:  store i32 1, ptr %p ret void
                 out:   ret void)");
  EXPECT_EQ(R.Kind, BranchKind::If);
  EXPECT_EQ(postDominator(R), "none");
  EXPECT_EQ(names(R), "work out");
  EXPECT_TRUE(R.LeavesFunction);
}

TEST_F(Regions, EarlyReturnThroughEmptyBlocks) {
  auto R = at(R"(entry: br i1 %c, label %via, label %work
                 work:  store i32 1, ptr %p br label %out
                 via:   br label %out
                 out:   ret void)");
  EXPECT_TRUE(R.LeavesFunction);
  EXPECT_EQ(postDominator(R), "out");
}

/// A trap does not move the post-dominator to the end of the function.
TEST_F(Regions, TrapIsNoExit) {
  auto R = at(R"(entry: br i1 %c, label %a, label %join
                 a:     br i1 %d, label %trap, label %join
                 trap:  store i32 1, ptr %p unreachable
                 join:  store i32 2, ptr %p br label %end
                 end:   ret void)");
  EXPECT_EQ(postDominator(R), "join");
  EXPECT_EQ(names(R), "a trap");
  auto Inner = regionOf(P->block("a"), PostDominance(P->function()), Cycles);
  EXPECT_EQ(Inner.Kind, BranchKind::If) << "the other side is a failed assert";
  EXPECT_EQ(postDominator(Inner), "join");
}

TEST_F(Regions, SwitchWithUnreachableDefault) {
  auto R = at(R"(entry: switch i32 %n, label %never [ i32 0, label %a
                                                      i32 1, label %b ]
                 never: unreachable
                 a:     store i32 1, ptr %p br label %end
                 b:     store i32 2, ptr %p br label %end
                 end:   store i32 3, ptr %p ret void)");
  EXPECT_EQ(R.Kind, BranchKind::Switch);
  EXPECT_EQ(postDominator(R), "end");
  EXPECT_EQ(names(R), "never a b");
}

/// The region of a loop's exit is the loop, the exit's own block included.
TEST_F(Regions, LoopExit) {
  auto R = at(R"(entry: br label %loop
                 loop:  store i32 1, ptr %p br label %latch
                 latch: br i1 %c, label %loop, label %end
                 end:   store i32 2, ptr %p ret void)",
              "latch");
  EXPECT_EQ(R.Kind, BranchKind::LoopExit);
  EXPECT_EQ(postDominator(R), "end");
  EXPECT_EQ(names(R), "loop latch");
}

TEST_F(Regions, AssertInsideLoopIsNoLoopExit) {
  auto R = at(R"(entry: br label %loop
                 loop:  br i1 %d, label %trap, label %latch
                 trap:  unreachable
                 latch: br i1 %c, label %loop, label %end
                 end:   ret void)",
              "loop");
  EXPECT_EQ(R.Kind, BranchKind::If);
  EXPECT_EQ(postDominator(R), "latch");
}

/// One side never ends: like a trap, it is no path to be met on.
TEST_F(Regions, EndlessLoopIsNoExit) {
  auto R = at(R"(entry: br i1 %c, label %spin, label %end
                 spin:  br label %spin
                 end:   ret void)");
  EXPECT_EQ(postDominator(R), "end");
  EXPECT_EQ(names(R), "spin");
}

/// No path returns: the traps are the ends.
TEST_F(Regions, NothingReturns) {
  auto R = at(R"(entry: br i1 %c, label %a, label %b
                 a:     store i32 1, ptr %p br label %end
                 b:     store i32 2, ptr %p br label %end
                 end:   unreachable)");
  EXPECT_EQ(postDominator(R), "end");
  EXPECT_EQ(R.Kind, BranchKind::IfElse);
}

/// Where all paths return, LLVM's own post-dominators are the same.
TEST_F(Regions, AgreesWithLlvm) {
  std::mt19937 Random(1);
  for (unsigned Round = 0; Round < 300; ++Round) {
    unsigned Count = 3 + Random() % 10;
    std::string Body = "entry: br label %b0\n";
    for (unsigned I = 0; I < Count; ++I) {
      auto Target = [&] {
        // Always some way on, so that every block can return.
        return "%b" + std::to_string(Random() % Count);
      };
      Body += "b" + std::to_string(I) + ": ";
      if (I + 1 == Count || Random() % 8 == 0)
        Body += "ret void\n";
      else
        Body += "br i1 %c, label %b" + std::to_string(I + 1) + ", label " +
                Target() + "\n";
    }
    at(Body, "entry");
    PostDominance Ours(P->function());
    PostDominatorTree Theirs(P->function());
    for (BasicBlock &BB : P->function()) {
      auto *Node = Theirs.getNode(&BB)->getIDom();
      EXPECT_EQ(Ours.immediate(BB), Node ? Node->getBlock() : nullptr)
          << BB.getName().str() << " in\n"
          << Body;
    }
  }
}

} // namespace
