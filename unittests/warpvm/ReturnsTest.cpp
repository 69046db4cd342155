//===- unittests/warpvm/ReturnsTest.cpp - Which idle lanes have left ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that a branch sends straight to a return have left: they are idle as
// such from then on. Lanes that do something first are on another path, as
// those of an else side are: the compiler makes the same code of both sources.
// Lanes that leave a loop wait behind it for those that go round, then go on to
// the return. With the ipdom policy they go on at once, as whoever has done one
// side of a branch goes on to where the sides meet.
//
// One warp of 32 threads, t = 0 to 31; counts by hand.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

struct Want {
  const char *Block;
  uint64_t Warps, Lanes, Exited;
};

/// \p ByStack: what the ipdom policy counts, if it is something else.
void check(const std::string &Body, ArrayRef<Want> Wanted,
           ArrayRef<Want> ByStack = {}) {
  for (const MachineOptions &O : setups(32)) {
    SCOPED_TRACE(describe(O));
    const bool Stack =
        O.Policy == PolicyKind::PostDominator && !ByStack.empty();
    TestProgram P("define ptx_kernel void @k(ptr %out) {\n"
                  "entry:\n"
                  "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                  "  %p = getelementptr i32, ptr %out, i32 %t\n" +
                      Body + "gone:\n  ret void\n}\n",
                  O);
    std::vector<uint32_t> Out(32);
    P.run(shape(1, 32), Out.data());
    for (const Want &W : Stack ? ByStack : Wanted) {
      EXPECT_EQ(P.block(W.Block).Warps, W.Warps) << W.Block;
      EXPECT_EQ(P.block(W.Block).Lanes, W.Lanes) << W.Block;
      EXPECT_EQ(P.block(W.Block).ExitedIdle, W.Exited) << W.Block;
    }
  }
}

// if (t < 8) { work; exit; } rest; Unlike a return, an exit is where it is.
TEST(Returns, AnExitIsOneWhereverItIs) {
  check(R"(
      %a = icmp ult i32 %t, 8
      br i1 %a, label %work, label %rest
    work:
      store i32 1, ptr %p
      call void @llvm.nvvm.exit()
      br label %gone
    rest:
      store i32 2, ptr %p
      %b = icmp ult i32 %t, 20
      br i1 %b, label %more, label %gone
    more:
      store i32 3, ptr %p
      br label %gone
  )",
        {{"work", 1, 8, 0}, {"rest", 1, 24, 8}, {"more", 1, 12, 20}},
        {{"work", 1, 8, 0}, {"rest", 1, 24, 8}, {"more", 1, 12, 20}});
}

// if (t < 8) { work; return; } rest;
TEST(Returns, WorkBeforeIsAnotherPath) {
  check(R"(
      %a = icmp ult i32 %t, 8
      br i1 %a, label %work, label %rest
    work:
      store i32 1, ptr %p
      br label %gone
    rest:
      store i32 2, ptr %p
      br label %gone
    )",
        {{"entry", 1, 32, 0},
         {"work", 1, 8, 0},
         {"rest", 1, 24, 0},
         {"gone", 1, 32, 0}});
}

// if (t < 8) { work; } return;
TEST(Returns, AroundTheWork) {
  check(R"(
      %a = icmp ult i32 %t, 8
      br i1 %a, label %work, label %gone
    work:
      store i32 1, ptr %p
      br label %gone
    )",
        {{"entry", 1, 32, 0}, {"work", 1, 8, 24}, {"gone", 1, 32, 0}});
}

// if (t < 16) { if (t < 4) return; work; } rest;
TEST(Returns, InANest) {
  check(R"(
      %a = icmp ult i32 %t, 16
      br i1 %a, label %in, label %rest
    in:
      %b = icmp ult i32 %t, 4
      br i1 %b, label %gone, label %work
    work:
      store i32 1, ptr %p
      br label %rest
    rest:
      store i32 2, ptr %p
      br label %gone
    )",
        {{"in", 1, 16, 0},
         {"work", 1, 12, 4},
         {"rest", 1, 28, 4},
         {"gone", 1, 32, 0}},
        {{"in", 1, 16, 0},
         {"work", 1, 12, 4},
         {"rest", 2, 28, 4 + 16}, // 12 of in's, then 16
         {"gone", 1, 32, 0}});
}

// if (t < 2) return; for (i = 0; i < 4; ++i) { if (i + 2 == t) return; work; }
// rest: lanes 2 to 5 leave one after the other.
TEST(Returns, OutOfALoop) {
  check(R"(
      %a = icmp ult i32 %t, 2
      br i1 %a, label %gone, label %ahead
    ahead:
      br label %loop
    loop:
      %i = phi i32 [ 0, %ahead ], [ %n, %work ]
      %j = add i32 %i, 2
      %b = icmp eq i32 %j, %t
      br i1 %b, label %gone, label %work
    work:
      store i32 %i, ptr %p
      %n = add i32 %i, 1
      %c = icmp ult i32 %n, 4
      br i1 %c, label %loop, label %rest
    rest:
      store i32 9, ptr %p
      br label %gone
    )",
        {{"ahead", 1, 30, 2},
         {"loop", 4, 30 + 29 + 28 + 27, 4 * 2},
         {"work", 4, 29 + 28 + 27 + 26, 4 * 2},
         {"rest", 1, 26, 6},
         {"gone", 1, 32, 0}},
        {{"loop", 4, 30 + 29 + 28 + 27, 2 + 3 + 4 + 5},
         {"work", 4, 29 + 28 + 27 + 26, 3 + 4 + 5 + 6},
         {"rest", 1, 26, 6}});
}

} // namespace
} // namespace reconverge::warpvm
