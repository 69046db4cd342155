//===- unittests/analysis/UniformityControlTest.cpp - Levels and branches -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a divergent branch does to values that it does not compute: exactly the
// PHIs and uses it reaches become divergent, and no others. That nothing is
// called uniform which is not, UniformityOracleTest shows at large; here is
// also that nothing is called divergent without need.
//
//===----------------------------------------------------------------------===//

#include "Parsed.h"

using namespace llvm;
using namespace reconverge::analysis;

namespace {

/// A kernel whose entry has %odd, which differs from lane to lane, and %even,
/// which does not; %inblock is the same within a block.
class UniformityControl : public testing::Test {
protected:
  void analyse(StringRef Body, const UniformityOptions &Options = {}) {
    P = std::make_unique<Parsed>((R"(
      declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      declare i32 @llvm.nvvm.barrier0.popc(i32)
      define ptx_kernel void @k(i32 %n, i1 %even, ptr %p) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %odd = trunc i32 %tid to i1
        %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        %inblock = icmp eq i32 %ctaid, 0
    )" + Body + "}")
                                     .str());
    Result = computeUniformity(P->function(), Options);
  }

  Level level(StringRef Name) { return Result.of(P->value(Name)).L; }
  Cause cause(StringRef Name) { return Result.of(P->value(Name)).Why; }
  bool splits(StringRef Block) {
    return Result.isDivergentBranch(P->block(Block));
  }
  bool uniformUse(StringRef User, unsigned Operand) {
    return Result.isUniformUse(P->value(User).getOperandUse(Operand));
  }

  std::unique_ptr<Parsed> P;
  UniformityResult Result;
};

TEST_F(UniformityControl, JoinOfDivergentBranch) {
  analyse(R"(
      br i1 %odd, label %then, label %else
    then:
      %a = add i32 %n, 1
      br label %end
    else:
      br label %end
    end:
      %x = phi i32 [ 1, %then ], [ 2, %else ]
      %same = phi i32 [ %n, %then ], [ %n, %else ]
      %after = add i32 %n, 3
      ret void
  )");
  EXPECT_TRUE(splits("entry"));
  EXPECT_EQ(level("a"), Level::Grid) << "computed under the branch, not by it";
  EXPECT_EQ(level("x"), Level::Divergent);
  EXPECT_EQ(cause("x"), Cause::Sync);
  EXPECT_EQ(level("same"), Level::Grid);
  EXPECT_EQ(level("after"), Level::Grid);
}

TEST_F(UniformityControl, JoinOfUniformBranchTakesItsLevel) {
  analyse(R"(
      br i1 %inblock, label %then, label %end
    then:
      br i1 %even, label %inner, label %mid
    inner:
      br label %mid
    mid:
      %g = phi i32 [ 1, %then ], [ 2, %inner ]
      br label %end
    end:
      %b = phi i32 [ 1, %entry ], [ 2, %mid ]
      ret void
  )");
  EXPECT_FALSE(splits("entry"));
  EXPECT_EQ(level("g"), Level::Grid);
  EXPECT_EQ(level("b"), Level::Block);
}

/// After the lanes have met again, a uniform branch is no join of the first.
TEST_F(UniformityControl, BranchAfterTheJoinIsUniform) {
  analyse(R"(
      br i1 %odd, label %then, label %end
    then:
      br label %end
    end:
      br i1 %even, label %a, label %b
    a:
      br label %last
    b:
      br label %last
    last:
      %x = phi i32 [ 1, %a ], [ 2, %b ]
      ret void
  )");
  EXPECT_EQ(level("x"), Level::Grid);
}

/// for (i = 0; i < tid; ++i); use(i): i is uniform in the loop, not after it.
TEST_F(UniformityControl, TemporalDivergence) {
  analyse(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %loop ]
      %inside = mul i32 %i, 3
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %tid
      br i1 %more, label %loop, label %end
    end:
      %lcssa = phi i32 [ %i, %loop ]
      %direct = add i32 %i, 1
      %base = add i32 %n, 1
      ret void
  )");
  EXPECT_TRUE(splits("loop"));
  EXPECT_EQ(level("i"), Level::Grid);
  EXPECT_EQ(level("inside"), Level::Grid);
  EXPECT_TRUE(uniformUse("next", 0));
  EXPECT_EQ(level("lcssa"), Level::Divergent);
  EXPECT_EQ(cause("lcssa"), Cause::Sync);
  EXPECT_FALSE(uniformUse("direct", 0)) << "without an LCSSA PHI";
  EXPECT_EQ(level("direct"), Level::Divergent);
  EXPECT_EQ(level("base"), Level::Grid);
}

/// The branch splits within the body; all lanes leave in the same iteration.
TEST_F(UniformityControl, SplitInsideUniformLoopDoesNotLeak) {
  analyse(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %latch ]
      br i1 %odd, label %then, label %latch
    then:
      br label %latch
    latch:
      %d = phi i32 [ %i, %then ], [ 0, %loop ]
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %n
      br i1 %more, label %loop, label %end
    end:
      %x = add i32 %i, 1
      ret void
  )");
  EXPECT_FALSE(splits("latch"));
  EXPECT_EQ(level("d"), Level::Divergent);
  EXPECT_EQ(level("x"), Level::Grid);
}

/// Some lanes `continue` past the latch: they begin the next iteration by
/// another edge, so the header's PHIs differ.
TEST_F(UniformityControl, TwoBackEdges) {
  analyse(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %one, %loop ], [ %two, %rest ]
      %one = add i32 %i, 1
      %two = add i32 %i, 2
      br i1 %odd, label %loop, label %rest
    rest:
      br i1 %even, label %loop, label %end
    end:
      ret void
  )");
  EXPECT_EQ(level("i"), Level::Divergent);
}

/// `break` inside a nested `if`: lanes leave by two exits in different
/// iterations, and meet at %end.
TEST_F(UniformityControl, BreakInNestedIf) {
  analyse(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %latch ]
      %more = icmp slt i32 %i, %n
      br i1 %more, label %body, label %end
    body:
      br i1 %even, label %inner, label %latch
    inner:
      br i1 %odd, label %end, label %latch
    latch:
      %next = add i32 %i, 1
      br label %loop
    end:
      %how = phi i32 [ 0, %loop ], [ 1, %inner ]
      %count = phi i32 [ %i, %loop ], [ %i, %inner ]
      ret void
  )");
  EXPECT_FALSE(splits("loop"));
  EXPECT_FALSE(splits("body"));
  EXPECT_TRUE(splits("inner"));
  EXPECT_EQ(level("how"), Level::Divergent);
  EXPECT_EQ(level("count"), Level::Divergent) << "one value, many iterations";
  EXPECT_EQ(level("next"), Level::Grid);
}

/// An inner loop's divergent exit is over when the outer loop goes round.
TEST_F(UniformityControl, OuterLoopStaysUniform) {
  analyse(R"(
      br label %outer
    outer:
      %i = phi i32 [ 0, %entry ], [ %inext, %latch ]
      br label %inner
    inner:
      %j = phi i32 [ 0, %outer ], [ %jnext, %inner ]
      %jnext = add i32 %j, 1
      %jmore = icmp slt i32 %jnext, %tid
      br i1 %jmore, label %inner, label %latch
    latch:
      %sum = add i32 %j, %i
      %inext = add i32 %i, 1
      %imore = icmp slt i32 %inext, %n
      br i1 %imore, label %outer, label %end
    end:
      %x = add i32 %i, 1
      ret void
  )");
  EXPECT_EQ(level("j"), Level::Grid);
  EXPECT_EQ(level("sum"), Level::Divergent);
  EXPECT_FALSE(uniformUse("sum", 0));
  EXPECT_TRUE(uniformUse("sum", 1));
  EXPECT_FALSE(splits("latch"));
  EXPECT_EQ(level("x"), Level::Grid);
}

/// The inner branch leaves both loops: lanes part from the outer one as well.
TEST_F(UniformityControl, InnerBranchLeavesBothLoops) {
  analyse(R"(
      br label %outer
    outer:
      %i = phi i32 [ 0, %entry ], [ %inext, %latch ]
      br label %inner
    inner:
      %j = phi i32 [ 0, %outer ], [ %jnext, %next ]
      br i1 %odd, label %end, label %next
    next:
      %jnext = add i32 %j, 1
      %jmore = icmp slt i32 %jnext, %n
      br i1 %jmore, label %inner, label %latch
    latch:
      %inext = add i32 %i, 1
      br i1 %even, label %outer, label %end
    end:
      %x = add i32 %i, 1
      ret void
  )");
  EXPECT_FALSE(splits("latch"));
  EXPECT_FALSE(uniformUse("x", 0));
  EXPECT_EQ(level("x"), Level::Divergent);
}

TEST_F(UniformityControl, EarlyReturnJoinsNothing) {
  analyse(R"(
      br i1 %odd, label %out, label %on
    out:
      ret void
    on:
      br i1 %even, label %a, label %b
    a:
      br label %b
    b:
      %x = phi i32 [ 1, %on ], [ 2, %a ]
      ret void
  )");
  EXPECT_EQ(level("x"), Level::Grid);
}

TEST_F(UniformityControl, Switch) {
  analyse(R"(
      switch i32 %tid, label %last [ i32 0, label %a
                                     i32 1, label %b
                                     i32 2, label %b ]
    a:
      br label %b
    b:
      %x = phi i32 [ 0, %entry ], [ 0, %entry ], [ 1, %a ]
      br label %last
    last:
      %y = phi i32 [ 7, %entry ], [ 8, %b ]
      ret void
  )");
  EXPECT_TRUE(splits("entry"));
  EXPECT_EQ(level("x"), Level::Divergent);
  EXPECT_EQ(level("y"), Level::Divergent);
}

TEST_F(UniformityControl, AllSidesTheSameBlock) {
  analyse(R"(
      br i1 %odd, label %next, label %next
    next:
      %x = phi i32 [ 1, %entry ], [ 1, %entry ]
      ret void
  )");
  EXPECT_FALSE(splits("entry"));
  EXPECT_EQ(level("x"), Level::Grid);
}

TEST_F(UniformityControl, UnreachableSide) {
  analyse(R"(
      br i1 %odd, label %bad, label %on
    bad:
      unreachable
    on:
      %x = phi i32 [ 1, %entry ]
      ret void
  )");
  EXPECT_TRUE(splits("entry"));
  EXPECT_EQ(level("x"), Level::Grid);
}

/// Two entries, a divergent branch inside: nobody counts iterations, nothing in
/// the cycle is uniform, nor what leaves it.
TEST_F(UniformityControl, IrreducibleCycleWithDivergentBranch) {
  analyse(R"(
      br i1 %even, label %a, label %b
    a:
      %i = phi i32 [ 0, %entry ], [ %j, %b ]
      %pure = add i32 %n, 1
      br label %b
    b:
      %j = phi i32 [ 1, %entry ], [ %i, %a ]
      br i1 %odd, label %a, label %end
    end:
      %x = add i32 %pure, 1
      %y = add i32 %n, 1
      ret void
  )");
  EXPECT_EQ(level("i"), Level::Divergent);
  EXPECT_EQ(level("j"), Level::Divergent);
  EXPECT_EQ(level("pure"), Level::Divergent);
  EXPECT_EQ(level("x"), Level::Divergent);
  EXPECT_EQ(level("y"), Level::Grid);
}

TEST_F(UniformityControl, IrreducibleCycleEnteredApart) {
  analyse(R"(
      br i1 %odd, label %a, label %b
    a:
      %pure = add i32 %n, 1
      br label %b
    b:
      br i1 %even, label %a, label %end
    end:
      ret void
  )");
  EXPECT_EQ(level("pure"), Level::Divergent);
}

TEST_F(UniformityControl, IrreducibleCycleEnteredTogether) {
  analyse(R"(
      br i1 %even, label %a, label %b
    a:
      %i = phi i32 [ 0, %entry ], [ %j, %b ]
      br label %b
    b:
      %j = phi i32 [ 1, %entry ], [ %i, %a ]
      %more = icmp slt i32 %j, %n
      br i1 %more, label %a, label %end
    end:
      ret void
  )");
  EXPECT_FALSE(splits("b"));
  EXPECT_EQ(level("j"), Level::Grid);
}

/// A loop around a barrier runs alike for the block: no divergent exit.
TEST_F(UniformityControl, BarrierLoop) {
  analyse(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %loop ]
      %votes = call i32 @llvm.nvvm.barrier0.popc(i32 %tid)
      %next = add i32 %i, 1
      %more = icmp sgt i32 %votes, 0
      br i1 %more, label %loop, label %end
    end:
      %x = add i32 %i, 1
      ret void
  )");
  EXPECT_FALSE(splits("loop"));
  EXPECT_EQ(level("i"), Level::Grid);
  EXPECT_EQ(level("x"), Level::Block) << "blocks leave at different times";
}

/// p += 32 in a loop keeps its stride; a base that differs by a divergent exit
/// does not.
TEST_F(UniformityControl, AffineInLoop) {
  analyse(R"(
      br label %loop
    loop:
      %at = phi i32 [ %tid, %entry ], [ %next, %loop ]
      %next = add i32 %at, 32
      %more = icmp slt i32 %next, %n
      br i1 %even, label %loop, label %second
    second:
      %j = phi i32 [ %tid, %loop ], [ %jnext, %second ]
      %jnext = add i32 %j, %n
      br i1 %odd, label %second, label %end
    end:
      %x = add i32 %at, 1
      %y = add i32 %j, 1
      ret void
  )");
  EXPECT_EQ(level("at"), Level::Affine);
  EXPECT_EQ(Result.of(P->value("at")).Stride, 1);
  EXPECT_EQ(Result.of(P->value("x")).Stride, 1);
  EXPECT_EQ(Result.of(P->value("j")).Stride, 1);
  EXPECT_EQ(level("y"), Level::Divergent);
  EXPECT_EQ(cause("y"), Cause::Sync);
}

/// Strides that differ between the edges of a uniform join: one stride for the
/// lanes that are together, but not a known one.
TEST_F(UniformityControl, AffineWithTwoStrides) {
  analyse(R"(
      %twice = shl i32 %tid, 1
      br i1 %even, label %then, label %end
    then:
      br label %end
    end:
      %x = phi i32 [ %tid, %entry ], [ %twice, %then ]
      ret void
  )");
  EXPECT_EQ(level("x"), Level::Affine);
  EXPECT_EQ(Result.of(P->value("x")).Stride, std::nullopt);
}

TEST_F(UniformityControl, WithoutSameIteration) {
  const char *Body = R"(
      br label %before
    before:
      %b = phi i32 [ 0, %entry ], [ %bnext, %before ]
      %bnext = add i32 %b, 1
      br i1 %even, label %before, label %loop
    loop:
      %i = phi i32 [ 0, %before ], [ %next, %latch ]
      %fixed = add i32 %n, 1
      br i1 %odd, label %then, label %latch
    then:
      br label %latch
    latch:
      %next = add i32 %i, 1
      %more = icmp slt i32 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
  )";
  analyse(Body);
  EXPECT_EQ(level("i"), Level::Grid);
  analyse(Body, {/*UniformLoads=*/false, /*SameIteration=*/false});
  EXPECT_EQ(level("b"), Level::Grid) << "no branch has parted the lanes yet";
  EXPECT_EQ(level("i"), Level::Divergent);
  EXPECT_EQ(level("fixed"), Level::Grid);
  EXPECT_TRUE(splits("latch"));
}

TEST_F(UniformityControl, SameTextEveryTime) {
  auto Print = [&] {
    analyse(R"(
        br i1 %odd, label %a, label %b
      a:
        br label %b
      b:
        %x = phi i32 [ %tid, %entry ], [ %n, %a ]
        ret void
    )");
    std::string Text;
    raw_string_ostream Stream(Text);
    Result.print(Stream, P->function());
    return Text;
  };
  std::string First = Print();
  EXPECT_EQ(First, Print());
  EXPECT_NE(First.find("divergent branch: br i1 %odd"), std::string::npos);
}

} // namespace
