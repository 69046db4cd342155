//===- unittests/report/TestsTest.cpp - What a test showed ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Tests.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::report;

static Finding finding(FindingKind Kind, std::string Kernel, unsigned Line) {
  Finding F;
  F.Kind = Kind;
  F.Kernel = std::move(Kernel);
  F.Text = "a < b & \"c\"";
  F.Places = {
      {"write", {{"/home/me/a.cu", Line, 5, "f"}}, {{0, 0, 0}}, {{1, 0, 0}}},
      {"read", {{"/home/me/a.cu", Line + 1, 5, "f"}}, {}, {}}};
  return F;
}

static TestOutcome outcome() {
  TestOutcome T;
  T.Command = {"ctest"};
  T.Exit = 8;
  T.Seconds = 1.5;
  T.Checks = "bounds";
  T.Folder = "/home/me";
  TestedProcess First;
  First.Program = "/home/me/build/one";
  First.Kernels = {"f()", "g()"};
  First.Launches = 4;
  First.HasEnded = true;
  TestedProcess Second;
  Second.Program = "two";
  Second.Arguments = {"-x"};
  Second.Kernels = {"f()"};
  T.Processes = {First, Second};
  T.Findings = {{finding(FindingKind::Race, "f()", 3), {0, 1}, false},
                {finding(FindingKind::Race, "f()", 5), {1}, false},
                {finding(FindingKind::Init, "g()", 9), {0}, true}};
  T.MostOfKernel = 1;
  T.UnusedSuppressions = {"race h"};
  return T;
}

static std::string summary(const TestOutcome &T) {
  std::string Text;
  raw_string_ostream OS(Text);
  printTest(T, OS, {});
  return Text;
}

TEST(Tests, TheSummaryHasFindingsThenNotesThenTheCount) {
  EXPECT_EQ(summary(outcome()),
            "race: f: a < b & \"c\"\n"
            "    write at a.cu:3 by thread (1,0,0) of block (0,0,0)\n"
            "    read at a.cu:4\n"
            "    in build/one and 1 other process\n"
            "1 more finding in f (--max-findings)\n"
            "reconverge: note: two (process 0) did not come to its end: a "
            "signal, or _exit\n"
            "reconverge: note: no finding was suppressed by 'race h'\n"
            "reconverge: tested for bounds: 2 processes, 2 kernels, at least 5 "
            "launches: found: race (2), 1\n"
            "    suppressed; the command returned 8\n");
}

TEST(Tests, PathsInTextAreRelativeToTheFolder) {
  Finding F;
  F.Text = "waits at /home/me/src/a.cu:3, not /home/mell/b.cu:4 or x/home/me/";
  EXPECT_EQ(findingText(F, "/home/me"),
            "waits at src/a.cu:3, not /home/mell/b.cu:4 or x/home/me/");
  EXPECT_EQ(findingText(F, ""), F.Text);
  TestOutcome T = outcome();
  T.Findings.front().What.Text = F.Text;
  EXPECT_EQ(summary(T).find("race: f: waits at src/a.cu:3,"), 0u);
}

TEST(Tests, OnlyWhatIsNeitherHarmlessNorSuppressedFails) {
  TestOutcome T = outcome();
  EXPECT_TRUE(T.fails(FindingKind::Race));
  EXPECT_FALSE(T.fails(FindingKind::Init)) << "suppressed";
  T.Findings.resize(1);
  T.Findings[0].What.Harmless = true;
  EXPECT_FALSE(T.fails(FindingKind::Race));
  EXPECT_NE(summary(T).find("race (fails no test): f:"), std::string::npos);
}

TEST(Tests, JUnitHasASuiteForEachProcess) {
  std::string Text;
  raw_string_ostream OS(Text);
  printJUnit(outcome(), OS);
  auto Has = [&](StringRef Part) {
    EXPECT_NE(Text.find(Part.str()), std::string::npos) << Text;
  };
  Has("<testsuites name=\"reconverge\" tests=\"4\" failures=\"3\" "
      "time=\"1.500\">");
  Has("<failure type=\"command\" message=\"returned 8\"/>");
  Has("<testsuite name=\"/home/me/build/one\" tests=\"2\" failures=\"1\">");
  Has("<testcase classname=\"one\" name=\"g()\"/>");
  Has("message=\"a &lt; b &amp; &quot;c&quot;\">");
  Has("<testsuite name=\"two -x\" tests=\"1\" failures=\"1\">");
  Has("did not come to its end");
}

TEST(Tests, SarifKeepsWhatIsSuppressed) {
  const SarifRun Run = sarifOf(outcome(), "1");
  EXPECT_EQ(Run.Rules.size(), allFindingKinds().size());
  ASSERT_EQ(Run.Results.size(), 3u);
  EXPECT_EQ(Run.Results[0].Rule, "race");
  ASSERT_EQ(Run.Results[0].Places.size(), 2u);
  EXPECT_EQ(Run.Results[0].Places[0].Line, 3u);
  EXPECT_EQ(Run.Results[0].Places[1].Message, "read at a.cu:4");
  EXPECT_TRUE(Run.Results[2].Suppressed);
}
