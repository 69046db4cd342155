//===- unittests/analysis/GridLoopTest.cpp - One loop over the grid -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is one, and the same with one thing changed at a time.
//
//===----------------------------------------------------------------------===//

#include "analysis/GridLoop.h"
#include "Parsed.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace reconverge;
using namespace reconverge::analysis;

namespace {

// for (int i = thread; i < n; i += threads)
//   if (p[i] > 3) p[i] = f(p[i])
constexpr StringLiteral Usual = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @other()
define ptx_kernel void @k(ptr %p, i32 %n) {
entry:
  %own = alloca i32
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %b, %size
  %start = add i32 %first, %t
  %any = icmp slt i32 %start, %n
  br i1 %any, label %ph, label %end
ph:
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %step = mul i32 %blocks, %size
  br label %loop
loop:
  %i = phi i32 [ %start, %ph ], [ %next, %latch ]
  %at = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %at
  %heavy = icmp sgt i32 %v, 3
  br i1 %heavy, label %work, label %latch
work:
  %w = mul i32 %v, %v
  store i32 %w, ptr %at
  br label %latch
latch:
  %next = add i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
)";

/// What is found where each first text is replaced by the second.
struct Found {
  explicit Found(std::vector<std::pair<StringRef, StringRef>> Changes) {
    std::string Text = Usual.str();
    for (auto [Old, New] : Changes) {
      const size_t At = Text.find(Old.str());
      EXPECT_NE(At, std::string::npos) << Old.str();
      Text.replace(At, Old.size(), New.str());
    }
    P = std::make_unique<Parsed>(Text);
    Loop = findGridLoop(P->function());
  }
  std::unique_ptr<Parsed> P;
  std::optional<GridLoop> Loop;
};

bool isOne(StringRef Old, StringRef New) {
  return Found({{Old, New}}).Loop.has_value();
}

TEST(GridLoop, IsFound) {
  const Found F({});
  ASSERT_TRUE(F.Loop);
  EXPECT_EQ(F.Loop->Index->getName(), "i");
  EXPECT_EQ(F.Loop->Start->getName(), "start");
  EXPECT_EQ(F.Loop->Bound->getName(), "n");
  EXPECT_EQ(F.Loop->InBounds, CmpInst::ICMP_SLT);
  EXPECT_EQ(F.Loop->Exiting->getName(), "latch");
  EXPECT_EQ(F.Loop->Exit->getName(), "end");
}

TEST(GridLoop, MayBeTestedInOtherWords) {
  EXPECT_TRUE(isOne("%more = icmp slt i32 %next, %n\n"
                    "  br i1 %more, label %loop, label %end",
                    "%more = icmp sle i32 %n, %next\n"
                    "  br i1 %more, label %end, label %loop"));
  const Found F({{"icmp slt i32 %start", "icmp ult i32 %start"},
                 {"icmp slt i32 %next", "icmp ult i32 %next"}});
  ASSERT_TRUE(F.Loop);
  EXPECT_EQ(F.Loop->InBounds, CmpInst::ICMP_ULT);
  // With the test at the header, and nobody sent around the loop.
  EXPECT_TRUE(
      Found({{"%any = icmp slt i32 %start, %n\n"
              "  br i1 %any, label %ph, label %end",
              "br label %ph"},
             {"%at = get",
              "%go = icmp slt i32 %i, %n\n"
              "  br i1 %go, label %body, label %end\nbody:\n  %at = get"},
             {"%more = icmp slt i32 %next, %n\n"
              "  br i1 %more, label %loop, label %end",
              "br label %loop"}})
          .Loop);
}

TEST(GridLoop, MayBeComeToBesideItsWayOut) {
  EXPECT_TRUE(Found({{"br i1 %any, label %ph, label %end\nph:\n", ""},
                     {"br label %loop", "br i1 %any, label %loop, label %end"},
                     {"[ %start, %ph ]", "[ %start, %entry ]"}})
                  .Loop);
}

TEST(GridLoop, MayBeOfMoreBits) {
  EXPECT_TRUE(
      Found(
          {{"i32 %n)", "i64 %n)"},
           {"%any = icmp slt i32 %start",
            "%wide = zext i32 %start to i64\n  %any = icmp ult i64 %wide"},
           {"br label %loop", "%far = zext i32 %step to i64\n  br label %loop"},
           {"phi i32 [ %start", "phi i64 [ %wide"},
           {"ptr %p, i32 %i", "ptr %p, i64 %i"},
           {"add i32 %i, %step", "add i64 %i, %far"},
           {"icmp slt i32 %next", "icmp ult i64 %next"}})
          .Loop);
}

TEST(GridLoop, HasOtherBounds) {
  EXPECT_FALSE(isOne("icmp slt i32 %next", "icmp sle i32 %next"));
  EXPECT_FALSE(isOne("icmp slt i32 %next", "icmp ne i32 %next"));
  EXPECT_FALSE(isOne("%next = add i32 %i, %step", "%next = sub i32 %i, %step"));
  EXPECT_FALSE(isOne("icmp slt i32 %next, %n", "icmp slt i32 %next, %v"));
}

TEST(GridLoop, GoesByOtherSteps) {
  EXPECT_FALSE(
      isOne("%step = mul i32 %blocks, %size", "%step = mul i32 %blocks, 256"));
  EXPECT_FALSE(
      isOne("%start = add i32 %first, %t",
            "%more0 = add i32 %first, %t\n  %start = add i32 %more0, 1"));
  EXPECT_FALSE(isOne("%first = mul i32 %b, %size", "%first = mul i32 %b, 256"));
}

TEST(GridLoop, AsksForTheThreadInAnotherWay) {
  EXPECT_FALSE(isOne("store i32 %w", "store i32 %t"));
  EXPECT_FALSE(isOne("store i32 %w", "store i32 %start"));
  EXPECT_FALSE(isOne("store i32 %w", "store i32 %blocks"));
  EXPECT_FALSE(isOne("store i32 %w, ptr %at",
                     "%y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
                     "  store i32 %y, ptr %at"));
  EXPECT_TRUE(isOne("store i32 %w", "store i32 %size"));
  EXPECT_TRUE(isOne("store i32 %w", "store i32 %i"));
}

TEST(GridLoop, CarriesSomething) {
  EXPECT_FALSE(Found({{"%at = get", "%sum = phi i32 [ 0, %ph ], [ %w2, %latch ]"
                                    "\n  %at = get"},
                      {"%next = add", "%w2 = add i32 %sum, %v\n  %next = add"}})
                   .Loop);
  // In memory of the thread's own.
  EXPECT_FALSE(isOne("store i32 %w, ptr %at",
                     "store i32 %w, ptr %at\n  store i32 %w, ptr %own"));
  EXPECT_TRUE(isOne("store i32 %w, ptr %at",
                    "call void @llvm.lifetime.start.p0(i64 4, ptr %own)\n"
                    "  store i32 %w, ptr %own\n  store i32 %w, ptr %at"));
  EXPECT_FALSE(Found({{"store i32 %w, ptr %at",
                       "call void @llvm.lifetime.start.p0(i64 4, ptr %own)\n"
                       "  store i32 %w, ptr %own\n  store i32 %w, ptr %at"},
                      {"%b = call", "store i32 0, ptr %own\n  %b = call"}})
                   .Loop);
}

TEST(GridLoop, DoesMoreThanTheLoop) {
  EXPECT_FALSE(isOne("ret void", "store i32 0, ptr %p\n  ret void"));
  EXPECT_FALSE(isOne("%b = call", "store i32 0, ptr %p\n  %b = call"));
  EXPECT_FALSE(
      isOne("%b = call", "call void @llvm.nvvm.barrier0()\n  %b = call"));
  EXPECT_FALSE(isOne("%b = call", "call void @other()\n  %b = call"));
  EXPECT_TRUE(isOne("%b = call", "%seen = load i32, ptr %p\n  %b = call"));
  std::string Much = "%b = call";
  for (unsigned I = 0; I != 70; ++I)
    Much = "%x" + utostr(I) + " = mul i32 %n, %n\n  " + Much;
  EXPECT_FALSE(isOne("%b = call", Much));
}

TEST(GridLoop, IsLeftElsewhereToo) {
  EXPECT_FALSE(isOne("br i1 %heavy, label %work, label %latch",
                     "br i1 %heavy, label %work, label %end"));
  EXPECT_FALSE(isOne("end:\n  ret void",
                     "end:\n  br label %second\nsecond:\n  %j = phi i32 [ 0, "
                     "%end ], [ %j2, %second ]\n  %j2 = add i32 %j, 1\n  %d = "
                     "icmp slt i32 %j2, %n\n  br i1 %d, label %second, label "
                     "%out\nout:\n  ret void"));
}

} // namespace
