//===- unittests/frontend/WidthsTest.cpp - 16, 32 and 64 bits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Widths.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

/// The instructions of function f of \p Code, one a line, after fitWidths.
std::string fitted(StringRef Code) {
  LLVMContext Context;
  SMDiagnostic Problem;
  std::unique_ptr<Module> M = parseAssemblyString(Code, Problem, Context);
  if (!M)
    return Problem.getMessage().str();
  Function &F = *M->getFunction("f");
  frontend::fitWidths(F);
  std::string Text;
  raw_string_ostream OS(Text);
  if (verifyFunction(F, &OS))
    return Text;
  for (const Instruction &I : instructions(F))
    OS << I << "\n";
  return Text;
}

// int f(short *p) { return *p / 8 % 6; }
TEST(WidthsTest, QuotientsAndRemaindersInWords) {
  EXPECT_EQ(fitted(R"(
define i32 @f(ptr %p) {
  %x = load i16, ptr %p
  %q = sdiv i16 %x, 8
  %r = srem i16 %q, -6
  %w = sext i16 %r to i32
  ret i32 %w
})"),
            R"(  %x = load i16, ptr %p, align 2
  %1 = sext i16 %x to i32
  %2 = sdiv i32 %1, 8
  %3 = srem i32 %2, -6
  ret i32 %3
)");
}

// The difference of two, as an index.
TEST(WidthsTest, ADifferenceThatDoesNotWrap) {
  const std::string Text = fitted(R"(
define i64 @f(ptr %p, ptr %q) {
  %x = load i8, ptr %p
  %y = load i8, ptr %q
  %d = sub nsw i8 %x, %y
  %w = sext i8 %d to i64
  ret i64 %w
})");
  EXPECT_NE(Text.find("= sub i32"), std::string::npos) << Text;
  EXPECT_NE(Text.find("sext i32 %3 to i64"), std::string::npos) << Text;
}

// One that may wrap, and the least number over -1, stay 16 bits wide.
TEST(WidthsTest, WhatMayWrapStays) {
  for (StringRef Short : {"add i16 %x, %x", "sdiv i16 %x, -1",
                          "srem i16 %x, %x", "shl nsw i16 %x, 1"}) {
    const std::string Text = fitted("define i32 @f(ptr %p) {\n"
                                    "  %x = load i16, ptr %p\n"
                                    "  %r = " +
                                    Short.str() +
                                    "\n  %w = sext i16 %r to i32\n"
                                    "  ret i32 %w\n}");
    EXPECT_NE(Text.find(Short), std::string::npos) << Text;
  }
}

const char *Meeting = R"(
define i64 @f(i1 %c, i32 %a, i32 %b) {
entry:
  br i1 %c, label %left, label %right
left:
  %wa = zext nneg i32 %a to i64
  br label %meet
right:
  %wb = zext i32 %b to i64
  br label %meet
meet:
  %wide = phi i64 [ %wa, %left ], [ %wb, %right ]
  %narrow = phi i32 [ %a, %left ], [ %b, %right ]
  %n = zext i32 %narrow to i64
  %sum = add i64 %wide, %n
  ret i64 %sum
})";

// The narrow PHI is there; what only one way knows is not said of both.
TEST(WidthsTest, OneExtensionBehindAPhi) {
  EXPECT_EQ(fitted(Meeting), R"(  br i1 %c, label %left, label %right
  br label %meet
  br label %meet
  %narrow = phi i32 [ %a, %left ], [ %b, %right ]
  %0 = zext i32 %narrow to i64
  %n = zext i32 %narrow to i64
  %sum = add i64 %0, %n
  ret i64 %sum
)");
}

// A[i - 1] and A[i - 2]: extended alike, so that the constants come off.
TEST(WidthsTest, NeighboursAreExtendedAlike) {
  EXPECT_EQ(fitted(R"(
define i64 @f(i32 %i) {
  %a = add nsw i32 %i, -2
  %b = add nuw nsw i32 %i, 2
  %wa = zext nneg i32 %a to i64
  %wb = zext nneg i32 %b to i64
  %s = add i64 %wa, %wb
  ret i64 %s
})"),
            R"(  %a = add nsw i32 %i, -2
  %b = add nuw nsw i32 %i, 2
  %wa = sext i32 %a to i64
  %wb = zext nneg i32 %b to i64
  %s = add i64 %wa, %wb
  ret i64 %s
)");
}

} // namespace
