//===- unittests/analysis/ConditionTextTest.cpp - Conditions as written ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/ConditionText.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

using namespace llvm;
using reconverge::analysis::conditionAt;

namespace {

/// The condition at the mark `^` of \p Source, which is taken out.
std::string at(StringRef Source) {
  auto [Before, After] = Source.split('^');
  unsigned Line = 1 + Before.count('\n');
  unsigned Column = 1 + (Before.size() - (Before.rfind('\n') + 1));
  return conditionAt(Before.str() + After.str(), Line, Column);
}

TEST(ConditionText, WhereClangPoints) {
  EXPECT_EQ(at("  if (^i < n) {"), "i < n");
  EXPECT_EQ(at("  ^for (int i = 0; i < n; ++i) {"), "i < n");
  EXPECT_EQ(at("  ^while (p[i] != 0) {"), "p[i] != 0");
  EXPECT_EQ(at("  ^switch (kind & 3) {"), "kind & 3");
  EXPECT_EQ(at("  do { x(); ^} while (s > 3);"), "s > 3");
  EXPECT_EQ(at("  ^do { if (a) { b(); } } while (s > 3);"), "s > 3");
  EXPECT_EQ(at("  s += ^p[i] > 4 ? a : b;"), "p[i] > 4");
  EXPECT_EQ(at("  if (t > n ^&& p[t] != 3)"), "t > n && p[t] != 3");
  EXPECT_EQ(at("  if (t > n && ^p[t] != 3)"), "p[t] != 3");
  EXPECT_EQ(at("  ok = a == f(b) ^|| c;"), "a == f(b) || c");
  EXPECT_EQ(at("  return ns::a ^&& c;"), "return ns::a && c");
}

TEST(ConditionText, LinesCommentsAndLiterals) {
  EXPECT_EQ(at("if (^a &&\n      b)\n"), "a && b");
  EXPECT_EQ(at("if (^a /* ) */ < b) // x"), "a < b");
  EXPECT_EQ(at("if (^a // )\n  < b)"), "a < b");
  EXPECT_EQ(at("if (^c == ')' || s == \"a)  b\")"),
            "c == ')' || s == \"a)  b\"");
  EXPECT_EQ(at("if (^n > 1'000)"), "n > 1'000");
  EXPECT_EQ(at("if (^f(a, b[g(c)]) == 2)"), "f(a, b[g(c)]) == 2");
}

TEST(ConditionText, NothingToSay) {
  EXPECT_EQ(at("  ^for (auto x : list) {"), "");
  EXPECT_EQ(at("  ^for (;;) {"), "");
  EXPECT_EQ(at("  x = 1; ^} else {"), "");
  EXPECT_EQ(at("  if (a ^"), "");
  EXPECT_EQ(conditionAt("a\nb\n", 7, 1), "");
  EXPECT_EQ(conditionAt("a\nb\n", 1, 99), "");
  EXPECT_EQ(conditionAt("a\nb\n", 0, 0), "");
  EXPECT_EQ(conditionAt("", 1, 1), "");
}

} // namespace
