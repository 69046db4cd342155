//===- unittests/report/TextTest.cpp - Numbers and columns ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Text.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace reconverge::report;

TEST(Text, CountsHaveThreeDigits) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1000), "1.00k");
  EXPECT_EQ(count(12345), "12.3k");
  EXPECT_EQ(count(999499), "999k");
  EXPECT_EQ(count(999500), "1.00M") << "not 1000k";
  EXPECT_EQ(count(~0ull), "18.4E");
}

TEST(Text, DurationsChooseTheirUnit) {
  EXPECT_EQ(duration(0), "0.00 us");
  EXPECT_EQ(duration(0.000123), "123 us");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(61.4), "61.4 s");
}

TEST(Text, CleanTextIsOneSafeLine) {
  EXPECT_EQ(cleanText("  a <\n\t b\r\n"), "a < b");
  EXPECT_EQ(cleanText("x\033[31m\x7f"
                      "y"),
            "x[31my");
  EXPECT_EQ(cleanText("\xff"), "\xef\xbf\xbd");
}

TEST(Text, CutsBetweenCharacters) {
  EXPECT_EQ(cutEnd("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(cutEnd("abcdefghi", 8), "abcde...");
  EXPECT_EQ(cutStart("abcdefghi", 8), "...efghi");
  EXPECT_EQ(cutEnd("a b cdefghi", 7), "a b...");
  EXPECT_EQ(cutEnd("abc", 2), "..");
  // Two bytes, one column; three bytes, two columns.
  EXPECT_EQ(widthOf("\u00e4\u00f6"), 2u);
  EXPECT_EQ(cutEnd("\u00e4\u00f6\u00fc\u00e4\u00f6", 4), "\u00e4...");
  EXPECT_EQ(widthOf("\u4f60\u597d"), 4u);
  EXPECT_EQ(cutEnd("\u4f60\u597d\u4f60", 5), "\u4f60...");
  EXPECT_EQ(cutStart("\u4f60\u597d\u4f60", 4), "...");
  EXPECT_LE(widthOf(cutEnd("\xff\xfe\xff\xfe\xff", 3)), 3u) << "no crash";
}

TEST(Text, PathsAreAsShortAsTheyCanBe) {
  PathNames Names(
      {"/a/b/x.cu", "/a/c/x.cu", "/a/c/y.cu", "x.cu", "z/w.cuh", "/a/c/y.cu"});
  EXPECT_EQ(Names.shortName("/a/b/x.cu"), "b/x.cu");
  EXPECT_EQ(Names.shortName("/a/c/x.cu"), "c/x.cu");
  EXPECT_EQ(Names.shortName("/a/c/y.cu"), "y.cu");
  EXPECT_EQ(Names.shortName("x.cu"), "x.cu");
  EXPECT_EQ(Names.shortName("z/w.cuh"), "w.cuh");
  EXPECT_EQ(Names.shortName("other.cu"), "other.cu");
  PathNames Absolute({"/x.cu", "/a/x.cu", ""});
  EXPECT_EQ(Absolute.shortName("/x.cu"), "/x.cu");
  EXPECT_EQ(Absolute.shortName("/a/x.cu"), "a/x.cu");
}

TEST(Text, WrapsAtSpaces) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printWrapped(OS, "one two three four overlong-word", 10, 2);
  EXPECT_EQ(Text, "one two\n  three\n  four\n  overlong-word\n");
}

TEST(Text, TableAlignsByColumnsNotBytes) {
  Table T;
  T.column("name", true);
  T.column("n", false);
  T.row({{"\u00e4"}, {"1"}});
  T.row({{"longer"}, {"1000", Ink::Hot}});
  T.remark("remark");
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  T.print(OS, false);
  EXPECT_EQ(Text, "name       n\n"
                  "\u00e4          1\n"
                  "longer  1000\n"
                  "    remark\n");
  EXPECT_EQ(T.width(), 12u);
  Text.clear();
  T.print(OS, true);
  EXPECT_NE(Text.find("\033[1;31m1000\033[0m"), std::string::npos);
}

TEST(Text, RemarksGoOnWhereTheirWordsBegan) {
  Table T;
  T.column("name", true);
  T.row({{"a"}});
  T.remark("-> one two three", Ink::Plain, /*Hang=*/3);
  T.wrapLast(14);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  T.print(OS, false);
  EXPECT_EQ(Text, "name\na\n"
                  "    -> one two\n"
                  "       three\n");
}
