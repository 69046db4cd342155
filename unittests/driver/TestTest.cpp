//===- unittests/driver/TestTest.cpp - Tests without a GPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Test.h"
#include "driver/Suppressions.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

static Finding finding(FindingKind Kind, std::string Kernel, unsigned Line) {
  Finding F;
  F.Kind = Kind;
  F.Kernel = std::move(Kernel);
  F.Places = {{"", {{"/home/me/src/a.cu", Line, 0, ""}}, {}, {}}};
  return F;
}

static TestedProcess process(std::string Program, std::vector<Finding> Found) {
  TestedProcess P;
  P.Program = std::move(Program);
  P.Findings = std::move(Found);
  return P;
}

TEST(TestCommand, WordsBecomeWhatTheVmIsTold) {
  auto R = parseTestWords({"--check=races,bounds", "--threads", "2",
                           "--max-findings=0", "--junit=a.xml", "--", "ctest",
                           "--check=x"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->Vm, "check=bounds,races=on,threads=2");
  EXPECT_EQ(R->Checks, "bounds, races");
  EXPECT_EQ(R->Command, (std::vector<std::string>{"ctest", "--check=x"}));
  EXPECT_EQ(R->MostOfKernel, 0u);
  EXPECT_EQ(R->JUnit, "a.xml");
  auto Usual = parseTestWords({"--", "app"});
  ASSERT_TRUE(bool(Usual)) << toString(Usual.takeError());
  EXPECT_EQ(Usual->Vm, "check=bounds:sync,races=off");
  auto None = parseTestWords({"--check=none", "--no-cache", "--", "app"});
  ASSERT_TRUE(bool(None)) << toString(None.takeError());
  EXPECT_EQ(None->Vm, "check=off,races=off,cache=none");
  auto Both = parseTestWords({"--check=races", "--shuffle=2", "--", "app"});
  ASSERT_TRUE(bool(Both)) << toString(Both.takeError());
  EXPECT_EQ(Both->Vm, "check=off,races=on,shuffle=2");
  EXPECT_EQ(Both->Checks, "races, order");
}

TEST(TestCommand, WrongWordsAreNamed) {
  for (std::vector<const char *> Words :
       {std::vector<const char *>{"--check=all,races", "--", "app"},
        {"--check=", "--", "app"},
        {"--max-findings=few", "--", "app"},
        {"--junit=a", "--sarif=a", "--", "app"},
        {"--cache=/dev/null", "--", "app"},
        {"--nothing", "--", "app"},
        {"app"},
        {"--"},
        {}}) {
    auto R = parseTestWords(Words);
    EXPECT_FALSE(bool(R));
    consumeError(R.takeError());
  }
}

TEST(TestCommand, TheSameFindingOfSeveralProcessesIsOne) {
  report::TestOutcome T;
  T.Processes = {process("b", {finding(FindingKind::Race, "f", 3)}),
                 process("a", {finding(FindingKind::Init, "f", 3),
                               finding(FindingKind::Race, "f", 3)})};
  mergeFindings(T);
  EXPECT_EQ(T.Processes[0].Program, "a") << "in a stable order";
  ASSERT_EQ(T.Findings.size(), 2u);
  EXPECT_EQ(T.Findings[0].What.Kind, FindingKind::Race);
  EXPECT_EQ(T.Findings[0].Processes, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(T.Findings[1].Processes, (std::vector<size_t>{0}));
}

TEST(TestCommand, TheWorstFindingDecidesTheExitCode) {
  report::TestOutcome T;
  EXPECT_EQ(exitCodeOf(T), 0);
  T.Exit = 8;
  EXPECT_EQ(exitCodeOf(T), 1);
  for (auto [Kind, Code] : {std::pair(FindingKind::Unsupported, 15),
                            {FindingKind::Order, 14},
                            {FindingKind::Init, 13},
                            {FindingKind::Sync, 12},
                            {FindingKind::Race, 11},
                            {FindingKind::Hang, 10}}) {
    T.Findings.push_back({finding(Kind, "f", 1), {}, false});
    EXPECT_EQ(exitCodeOf(T), Code);
  }
}

static bool suppresses(StringRef Line, const Finding &F) {
  auto S = Suppressions::parse(Line, "known.txt");
  EXPECT_TRUE(bool(S)) << toString(S.takeError());
  report::TestOutcome T;
  T.Findings = {{F, {}, false}};
  S->apply(T);
  EXPECT_EQ(T.UnusedSuppressions.empty(), T.Findings[0].Suppressed);
  return T.Findings[0].Suppressed;
}

TEST(Suppressions, MatchKindKernelAndPlace) {
  const Finding F = finding(FindingKind::Race, "ns::scale<float, 2>", 12);
  EXPECT_TRUE(suppresses("race \"ns::scale<*>\"", F));
  EXPECT_TRUE(suppresses("* *scale*  # known since May", F));
  EXPECT_TRUE(suppresses("race \"ns::scale<float, 2>\" a.cu:12", F));
  EXPECT_TRUE(suppresses("race * src/a.cu:*", F));
  EXPECT_TRUE(suppresses("race * /home/me/src/a.cu:1?", F));
  EXPECT_FALSE(suppresses("init *", F));
  EXPECT_FALSE(suppresses("race ns::scale", F));
  EXPECT_FALSE(suppresses("race * a.cu:1", F));
  EXPECT_FALSE(suppresses("race * b/a.cu:12", F));
  EXPECT_FALSE(suppresses("race * aa.cu:12", F));
  EXPECT_FALSE(suppresses("race -", F));
  EXPECT_TRUE(suppresses("init -", finding(FindingKind::Init, "", 12)));
}

TEST(Suppressions, ABadLineIsNamed) {
  for (StringRef Text : {"race", "race a b c", "rice *", "race ["}) {
    auto S = Suppressions::parse(("# one\n\n" + Text).str(), "known.txt");
    ASSERT_FALSE(bool(S)) << Text.str();
    EXPECT_NE(toString(S.takeError()).find("known.txt:3"), std::string::npos);
  }
  auto None = Suppressions::parse("", "known.txt");
  EXPECT_TRUE(bool(None));
  consumeError(None.takeError());
}
