//===- unittests/driver/ConditionTest.cpp - Conditions as written ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Condition.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

std::string conditionAt(StringRef Source, driver::Place Where,
                        ArrayRef<driver::Place> Others = {}) {
  return driver::ConditionText(Source).at(Where, Others);
}

/// The condition at the place that `@` marks in \p Marked; `$` marks other
/// branches.
std::string at(StringRef Marked) {
  auto PlaceOf = [](StringRef Before) {
    return driver::Place{
        unsigned(1 + Before.count('\n')),
        unsigned(Before.size() - (Before.rfind('\n') + 1) + 1)};
  };
  std::string Source;
  std::vector<driver::Place> Others;
  driver::Place Where;
  for (char C : Marked)
    if (C == '@')
      Where = PlaceOf(Source);
    else if (C == '$')
      Others.push_back(PlaceOf(Source));
    else
      Source += C;
  return conditionAt(Source, Where, Others);
}

TEST(Condition, OfStatements) {
  EXPECT_EQ(at("void f() { @if (a < b) g(); }"), "a < b");
  EXPECT_EQ(at("@if constexpr (a(1)[2]) g();"), "a(1)[2]");
  EXPECT_EQ(at("@while (x[i] > 0) x[i]--;"), "x[i] > 0");
  EXPECT_EQ(at("@switch (y[i + 7]) { case 1: break; }"), "y[i + 7]");
  EXPECT_EQ(at("@for (int j = 0; j < n; ++j) {}"), "j < n");
  EXPECT_EQ(at("@for (auto v : list) {}"), "auto v : list");
  EXPECT_EQ(at("@do { x = f(y); } while (x & 1);"), "x & 1");
  EXPECT_EQ(at("do { x = f(y); @} while (x & 1);"), "x & 1");
}

TEST(Condition, FromItsStart) {
  EXPECT_EQ(at("if (@y[i] < n && y[i+1] > 3) f();"), "y[i] < n && y[i+1] > 3");
  EXPECT_EQ(at("while (@true) {}"), "true");
  EXPECT_EQ(at("for (int j = 0; @j < n; ++j) {}"), "j < n");
  EXPECT_EQ(at("if (@int q = f(); q > 2) g();"), "int q = f(); q > 2");
  EXPECT_EQ(at("if (int q = f(); @q > 2) g();"), "int q = f(); q > 2");
}

// clang's places: of an operand's branch, the operator behind it; of the last
// operand's, the statement.
TEST(Condition, OfOperandsWithABranchEach) {
  EXPECT_EQ(at("if ($(a[t] & 1) @&& b[t] & 2) f();"), "a[t] & 1");
  EXPECT_EQ(at("if (@(a[t] & 1) $&&\n    (b[t] & 2)) f();"), "b[t] & 2");
  EXPECT_EQ(at("if ($a @|| b $|| c) f();"), "a");
  EXPECT_EQ(at("if ($a $|| b @|| c) f();"), "b");
  EXPECT_EQ(at("if (@a $|| b $|| c) f();"), "c");
  EXPECT_EQ(at("if ($a @&& (b $|| c)) f();"), "a");
  EXPECT_EQ(at("if ($a $&& (b @|| c)) f();"), "b");
  EXPECT_EQ(at("if (@a $&& (b $|| c)) f();"), "c");
  EXPECT_EQ(at("$while (a @&& b) f();"), "a");
  EXPECT_EQ(at("@while (a $&& b) f();"), "b");
  EXPECT_EQ(at("for (i = 0; $i < n @&& p[i]; ++i) f();"), "i < n");
  EXPECT_EQ(at("@for (i = 0; i < n $&& p[i]; ++i) f();"), "p[i]");
  EXPECT_EQ(at("do { f(); @} while (a $&& b(c));"), "b(c)");
  EXPECT_EQ(at("$do { f(); } while (a @&& b(c));"), "a");
  EXPECT_EQ(at("if ($!(a @&& b)) f();"), "a");
  EXPECT_EQ(at("r = a[i] > 3 @&& b;"), "a[i] > 3");
}

TEST(Condition, OfSeveralOperandsOfOneBranch) {
  EXPECT_EQ(at("if (@a $|| b && c) f();"), "b && c");
  EXPECT_EQ(at("if (@a $&& (b || c)) f();"), "b || c");
  EXPECT_EQ(at("if (a $&& b @&& c) f();"), "b && c") << "none at the statement";
}

TEST(Condition, OfComparisonsByTheirOperator) {
  EXPECT_EQ(at("if (fabs(Off) @< Tolerance) return 1;"),
            "fabs(Off) < Tolerance");
  EXPECT_EQ(at("if (Sum @>= BestSum) break;"), "Sum >= BestSum");
  EXPECT_EQ(at("if (p && (Sum += x * x) @>= Best) break;"),
            "(Sum += x * x) >= Best");
  EXPECT_EQ(at("for (int C = 0; C @!= K; ++C) {}"), "C != K");
  EXPECT_EQ(at("bool b = x[i] @> y;"), "x[i] > y");
  EXPECT_EQ(at("return a @< b ? p : q;"), "a < b");
  EXPECT_EQ(at("x = p ? q : a @== b;"), "a == b");
}

TEST(Condition, OfOperatorsThatTheCompilerMadeOneBranch) {
  EXPECT_EQ(at("if (a @&& b[i] > 3) f();"), "a && b[i] > 3");
  EXPECT_EQ(at("if (a || (b @&& c)) f();"), "a || (b && c)");
  EXPECT_EQ(at("for (i = 0; i < n @&& p[i]; ++i) f();"), "i < n && p[i]");
  EXPECT_EQ(at("$if (z) f(); if (a @&& b) f();"), "a && b");
}

TEST(Condition, OfTheConditionalOperator) {
  EXPECT_EQ(at("x = @y[i] ? p : q;"), "y[i]");
  EXPECT_EQ(at("g(@y[i](1, 2) ? p : q, 3);"), "y[i](1, 2)");
}

TEST(Condition, ExpressionsThatMayBranch) {
  EXPECT_EQ(at("bool b = @p(x) && q(x);"), "p(x) && q(x)");
  EXPECT_EQ(at("f(@min(a, b), c);"), "min(a, b)");
}

TEST(Condition, BracketsInCommentsAndLiteralsDoNotCount) {
  EXPECT_EQ(at("@if (a /* ) */ < b) f();"), "a < b");
  EXPECT_EQ(at("@if (c == ')' || s == \"((\\\"\") f();"),
            "c == ')' || s == \"((\\\"\"");
  EXPECT_EQ(at("@if (n > 1'000'000) f();"), "n > 1'000'000");
  EXPECT_EQ(at("@if (box > x) f();"), "box > x");
}

TEST(Condition, ComesOnOneLine) {
  EXPECT_EQ(at("  @if (a &&   // first\n      b)\n    f();"), "a && b");
  EXPECT_EQ(at("#define M @if (a \\\n  < b) f();\n"), "a < b");
}

TEST(Condition, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(conditionAt("if (a) f();", {0, 0}), "");
  EXPECT_EQ(conditionAt("if (a) f();", {1, 0}), "");
  EXPECT_EQ(conditionAt("if (a) f();", {1, 500}), "");
  EXPECT_EQ(conditionAt("if (a) f();", {9, 1}), "");
  EXPECT_EQ(conditionAt("", {1, 1}), "");
  EXPECT_EQ(at("float Depth = 0, @Cosine = 1.0f;"), "");
  EXPECT_EQ(at("@if (a < b"), "");
  EXPECT_EQ(at("@do x++; while (a);"), "");
  EXPECT_EQ(at("{ f(); @}"), "");
  EXPECT_EQ(at("@if (" + std::string(500, 'a') + ") f();"), "");
}

TEST(Condition, NoPlaceInAFileIsTooMuch) {
  StringRef Hostile = "if (/* \" ' ( */ a ? '\\'' : \"\\\\\")) } ] ;; ((({{{";
  for (unsigned Column = 1; Column <= Hostile.size() + 1; ++Column)
    conditionAt(Hostile, {1, Column});
}

// An operand with a branch of its own, on a line of its own.
TEST(Condition, LeadsToTheOperand) {
  const char *Source = "if (a < 1 &&\n"
                       "    (b[t] & 2))\n"
                       "  f();\n"
                       "if (\n"
                       "    c)\n"
                       "  g();\n";
  const driver::ConditionText Text(Source);
  const driver::Place If{1, 1}, And{1, 11}, Alone{4, 1};
  EXPECT_EQ(Text.at(If, {And}), "b[t] & 2");
  using driver::Place;
  EXPECT_EQ(Text.leadingTo(If, {And}), (Place{2, 6}));
  EXPECT_EQ(Text.leadingTo(And, {If}), And);
  EXPECT_EQ(Text.leadingTo(If), If) << "one branch for both";
  EXPECT_EQ(Text.leadingTo(Alone), Alone);
}

} // namespace
