//===- unittests/core/DecisionJsonTest.cpp --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/DecisionJson.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

DecisionFile example() {
  DecisionFile F;
  F.Program = "app.cu";
  F.Arguments = {"--size", "10"};
  F.Device = "warp VM";
  F.Notes = {"two launches were left untried"};
  Decision D;
  D.Kernel = "_Z4sortPi";
  D.Display = "sort(int*)";
  D.Module = "0123456789abcdef";
  D.Shapes = {{{64, 1, 1}, {256, 2, 1}, 1024}};
  TrialResult Meld;
  Meld.What = {"meld", "threshold=0.2"};
  Meld.End = TrialOutcome::Kept;
  Meld.Compared = {VerdictKind::Identical, 3, 12288, 0, {}, ""};
  Meld.Predicted = 1.25;
  Meld.Forecasted = 1.5;
  Meld.ForecastLow = 1;
  Meld.ForecastHigh = 1.75;
  Meld.Low = 1.1;
  Meld.Speedup = 1.2;
  Meld.High = 1.3;
  Meld.Milliseconds = 0.358;
  TrialResult Nvcc;
  Nvcc.What = {"nvcc", ""};
  Nvcc.End = TrialOutcome::Wrong;
  Nvcc.Why = "another result";
  Nvcc.Compared = {VerdictKind::Differs,
                   1,
                   4096,
                   4,
                   {"cudaMalloc #2 (4096 bytes)", 64, "1", "\xff", 3},
                   ""};
  D.Tried = {Meld, Nvcc};
  D.Keep = Meld.What;
  D.Measured = true;
  D.Timed = 4;
  D.Milliseconds = 0.43;
  F.Kernels = {D};
  QualitySet Herded;
  Herded.Members = {{"sort(int*)", {"herd", "every=4", Promise::Bound}}};
  Herded.Speedup = 1.5;
  Herded.HeldOutSpeedup = 1.25;
  Herded.Trained = {"3.1 %"};
  Herded.HeldOut = {"3.2 %"};
  Herded.IsBest = false;
  Herded.Why = "more was added";
  F.Search = {{"out=a,metric=mismatch,bound=5%"}, 2, 3, {Herded}, "within"};
  F.Whole = {5, 1.5, 1.75, {1.625, 1.875}, ForeignCompiler::Nvcc};
  return F;
}

std::string textOf(const DecisionFile &F) {
  std::string Text;
  raw_string_ostream OS(Text);
  printDecisions(F, OS);
  return Text;
}

std::string faultIn(StringRef Text) {
  Expected<DecisionFile> F = parseDecisions(Text, "d.json");
  return F ? "" : toString(F.takeError());
}

std::string replaced(std::string Text, StringRef From, StringRef To) {
  size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

TEST(DecisionJson, WhatIsWrittenIsReadBack) {
  std::string Text = textOf(example());
  EXPECT_EQ(Text, textOf(example()));
  Expected<DecisionFile> Back = parseDecisions(Text, "d.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  ASSERT_EQ(Back->Kernels.size(), 1u);
  const Decision &D = Back->Kernels.front();
  EXPECT_EQ(D.Keep.text(), "meld (threshold=0.2)");
  ASSERT_EQ(D.Shapes.size(), 1u);
  EXPECT_EQ(D.Shapes.front(), example().Kernels.front().Shapes.front());
  ASSERT_EQ(D.Tried.size(), 2u);
  EXPECT_EQ(D.Tried[0].Speedup, 1.2);
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Wrong);
  EXPECT_EQ(D.Tried[1].Compared.First.Offset, 64u);
  ASSERT_TRUE(Back->Search && Back->Search->Sets.size() == 1);
  EXPECT_EQ(Back->Search->HeldOut, 3u);
  EXPECT_EQ(Back->Search->Sets[0].Members[0].What.text(), "herd (every=4)");
  EXPECT_EQ(Back->Search->Sets[0].HeldOutSpeedup, 1.25);
  EXPECT_FALSE(Back->Search->Sets[0].IsBest);
  // A byte that is no UTF-8 is mended once and stays as it is then.
  EXPECT_EQ(textOf(*Back), Text);
}

TEST(DecisionJson, TimesAreReadBackAndMayBeMissing) {
  std::string Text = textOf(example());
  Expected<DecisionFile> Back = parseDecisions(Text, "d.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(Back->Kernels[0].Timed, 4u);
  EXPECT_EQ(Back->Kernels[0].Milliseconds, 0.43);
  EXPECT_EQ(Back->Whole.Runs, 5u);
  EXPECT_EQ(Back->Whole.Final, 1.5);
  EXPECT_EQ(Back->Whole.Ours, 1.75);
  EXPECT_EQ(Back->Whole.Foreign[ForeignCompiler::Nvcc], 1.625);
  EXPECT_EQ(Back->Whole.Foreign[ForeignCompiler::Clang], 1.875);
  // A file from before clang's build was timed.
  Back = parseDecisions(replaced(Text, ",\"clang\":1.875", ""), "d.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(Back->Whole.Foreign[ForeignCompiler::Nvcc], 1.625);
  EXPECT_EQ(Back->Whole.Foreign[ForeignCompiler::Clang], 0);
  // A file from before they were written.
  Text = replaced(Text, "\"whole\"", "\"other\"");
  Text = replaced(Text, "\"timed\"", "\"ignored\"");
  Back = parseDecisions(Text, "d.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(Back->Kernels[0].Timed, 0u);
  EXPECT_EQ(Back->Whole.Runs, 0u);
  EXPECT_NE(faultIn(replaced(textOf(example()), "\"runs\":5", "\"runs\":-5"))
                .find("whole.runs"),
            std::string::npos);
}

TEST(DecisionJson, DamageIsNamedWithItsPlace) {
  const struct {
    StringRef From, To, Fault;
  } Cases[] = {
      {"\"kept\"", "\"won\"",
       "expected kept, slower, wrong, rounded, unproved, faulted, timed out, "
       "refused or untried "
       "at (root).kernels[0].tried[0].outcome"},
      {"\"identical\"", "\"same\"",
       "expected identical, identical-up-to-order, differs or unknown "
       "at (root).kernels[0].tried[0].verdict.kind"},
      {"\"low\": 1.1", "\"low\": 1.21",
       "lies outside its interval at (root).kernels[0].tried[0].speedup"},
      {"\"orderDependent\":4", "\"orderDependent\":4097",
       "more bytes vary than were compared at "
       "(root).kernels[0].tried[1].verdict"},
      {"\"_Z4sortPi\"", "\"\"",
       "expected the kernel's name at (root).kernels[0].name"},
      {"\"remedy\":\"meld\"", "\"remedy\":\"\"",
       "expected a remedy's name, or none at "
       "(root).kernels[0].keep.remedy"},
      {"\"program\"", "\"programme\"", "missing value at (root).program"},
  };
  for (const auto &C : Cases)
    EXPECT_EQ(StringRef(faultIn(replaced(textOf(example()), C.From, C.To)))
                  .split('\n')
                  .first.str(),
              ("d.json: " + C.Fault).str())
        << C.From.str();
}

TEST(DecisionJson, APromiseComesBack) {
  DecisionFile F = example();
  F.Kernels[0].Tried[0].What.Promises = F.Kernels[0].Keep.Promises =
      Promise::Bound;
  auto Back = parseDecisions(textOf(F), "d.json");
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(textOf(*Back), textOf(F));
  EXPECT_EQ(Back->Kernels[0].Keep.Promises, Promise::Bound);
}

TEST(DecisionJson, NothingIsKeptThatWasNotEarned) {
  DecisionFile F = example();
  F.Kernels.front().Tried.front().End = TrialOutcome::Slower;
  EXPECT_NE(
      faultIn(textOf(F)).find("what is kept was not tried and found better at "
                              "(root).kernels[0].keep"),
      std::string::npos);
  // The unmodified kernel needs no trial, whoever builds it.
  for (const char *Build : {"none", "nvcc", "clang"}) {
    F.Kernels.front().Keep = {Build, ""};
    EXPECT_EQ(faultIn(textOf(F)), "");
  }
}

TEST(DecisionJson, AKernelIsDecidedOnce) {
  DecisionFile F = example();
  F.Kernels.push_back(F.Kernels.front());
  EXPECT_NE(faultIn(textOf(F)).find("a kernel is decided twice"),
            std::string::npos);
  F.Kernels.back().Module = "fedcba9876543210"; // of another unit
  EXPECT_EQ(faultIn(textOf(F)), "");
}

TEST(DecisionJson, EveryPrefixIsRefused) {
  std::string Text = textOf(example());
  for (size_t N = 0; N + 2 < Text.size(); ++N)
    EXPECT_NE(faultIn(StringRef(Text).take_front(N)), "") << N;
}

TEST(DecisionJson, OtherFilesAreRefused) {
  EXPECT_NE(faultIn("{}").find("not a file of decisions"), std::string::npos);
  EXPECT_NE(
      faultIn("{\"schema\": \"reconverge-divergence/1\"}").find("is not known"),
      std::string::npos);
}

} // namespace
