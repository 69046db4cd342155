//===- unittests/report/DecisionsTest.cpp - The table of trials -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Decisions.h"

#include "report/Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

TrialResult result(const char *Remedy, TrialOutcome End, double Speedup) {
  TrialResult R;
  R.What = {Remedy, ""};
  R.End = End;
  R.Compared.Kind = VerdictKind::Identical;
  R.Compared.Launches = 1;
  R.Predicted = 123.456;
  R.Speedup = R.Low = R.High = Speedup;
  R.Milliseconds = 1234.5;
  return R;
}

/// Measured: nvcc's code is 1.2x ours, and melding 1.5x that.
DecisionFile example() {
  DecisionFile F;
  F.Program = "app.cu";
  F.Device = "a GPU";
  Decision D;
  D.Display = "outer::inner::kernel_with_a_long_name<float, 256>";
  D.Measured = true;
  D.Milliseconds = 1234.5;
  D.Tried = {result("nvcc", TrialOutcome::Slower, 1.2),
             result("meld", TrialOutcome::Kept, 1.5),
             result("remap", TrialOutcome::Unproved, 1.4),
             result("clang", TrialOutcome::Rounded, 0)};
  D.Tried[1].What.Parameters = "threshold=0;skip=1;skip=2";
  D.Tried[2].Compared.Kind = VerdictKind::UpToOrder;
  D.Tried[2].Why = "the kernel's result depends on the order of its threads; "
                   "--allow-reorder keeps what stays within that";
  D.Tried[3].Compared.Kind = VerdictKind::Differs;
  D.Tried[3].Compared.First = {"x", 0, "1", "2", 1};
  D.Keep = D.Tried[1].What;
  F.Kernels = {D};
  return F;
}

std::string tableOf(const DecisionFile &F, unsigned Width) {
  std::string Text;
  raw_string_ostream OS(Text);
  report::TerminalOptions Options;
  Options.Width = Width;
  report::printDecisions(F, OS, Options);
  return Text;
}

TEST(Decisions, FitTheTerminal) {
  for (unsigned Width : {80u, 100u, 120u}) {
    const std::string Text = tableOf(example(), Width);
    SmallVector<StringRef> Lines;
    StringRef(Text).split(Lines, '\n');
    for (StringRef Line : Lines)
      EXPECT_LE(report::widthOf(Line), Width) << Line.str();
    EXPECT_NE(Text.find("up to order"), std::string::npos) << Text;
    EXPECT_NE(Text.find("rounding"), std::string::npos) << Text;
  }
}

/// No column is kept free for times that were not taken, or for long verdicts.
TEST(Decisions, NamesHaveTheRoomThatOthersLeave) {
  DecisionFile F = example();
  Decision &D = F.Kernels[0];
  D.Display = "sort";
  D.Measured = false;
  D.Tried = {result("remap", TrialOutcome::Slower, 0)};
  D.Tried[0].What.Parameters = "algorithm=head_or_tail;shared=2048";
  D.Keep = Candidate();
  EXPECT_NE(
      tableOf(F, 100).find("remap (algorithm=head_or_tail;shared=2048)  "),
      std::string::npos)
      << tableOf(F, 100);
}

/// Where a row has no room for a candidate, the line under it has it.
TEST(Decisions, CandidatesAreToldApart) {
  DecisionFile F = example();
  F.Kernels[0].Tried[1].What.Parameters = "threshold=0;skip=1;skip=2;skip=3";
  F.Kernels[0].Tried[2].What.Parameters = "tree=" + std::string(200, '1');
  const std::string Narrow = tableOf(F, 80), Wide = tableOf(F, 160);
  const char *Whole = "      meld (threshold=0;skip=1;skip=2;skip=3)\n";
  EXPECT_NE(Narrow.find(Whole), std::string::npos) << Narrow;
  EXPECT_EQ(Wide.find(Whole), std::string::npos) << Wide;
  EXPECT_NE(Wide.find("meld (threshold=0;skip=1;skip=2;skip=3) "),
            std::string::npos)
      << Wide;
  EXPECT_EQ(StringRef(Wide).count("\n\n"), 2u) << Wide; // around the table
  SmallVector<StringRef> Lines;
  StringRef(Narrow).split(Lines, '\n');
  for (StringRef Line : Lines)
    EXPECT_LE(report::widthOf(Line), 80u) << Line.str();
}

/// When time runs out there may be dozens; decisions.json has them all.
TEST(Decisions, WhatWasNotTriedForOneReasonHasOneRow) {
  DecisionFile F = example();
  Decision &D = F.Kernels[0];
  D.Tried.resize(2);
  for (const char *Remedy : {"refill", "share", "collect", "flatten"}) {
    TrialResult &R = D.Tried.emplace_back();
    R.What = {Remedy, ""};
    R.Why = "there was no time for it";
  }
  D.Tried.back().Why = "the launch is too large";
  const std::string Text = tableOf(F, 100);
  EXPECT_NE(Text.find("refill"), std::string::npos) << Text;
  EXPECT_NE(Text.find(" 2 more "), std::string::npos) << Text;
  EXPECT_EQ(Text.find("share"), std::string::npos) << Text;
  EXPECT_EQ(Text.find("collect"), std::string::npos) << Text;
  EXPECT_NE(Text.find("flatten"), std::string::npos) << Text;
}

TEST(Decisions, AGainIsOfARemedyOrOfACompiler) {
  DecisionFile F = example();
  EXPECT_NE(tableOf(F, 200).find(": 1.500x over nvcc's of the kernel as it is, "
                                 "which is 1.200x over ours\n"),
            std::string::npos)
      << tableOf(F, 200);
  F.Kernels[0].Tried[1].End = TrialOutcome::Slower;
  F.Kernels[0].Tried[0].End = TrialOutcome::Kept;
  F.Kernels[0].Keep = F.Kernels[0].Tried[0].What;
  EXPECT_NE(tableOf(F, 200).find("kept: nvcc for"), std::string::npos);
  EXPECT_NE(tableOf(F, 200).find(": 1.200x over our build\n"),
            std::string::npos);
  // On the warp VM there are no times.
  F = example();
  F.Kernels[0].Measured = false;
  EXPECT_NE(tableOf(F, 200).find(": 123.456x by the model\n"),
            std::string::npos);
}

TEST(Decisions, AnotherCompilersProgramIsSaid) {
  WholeTimes Whole = {5, 2, 2.5, {1, 3}, ForeignCompiler::Nvcc};
  std::string Text;
  raw_string_ostream OS(Text);
  report::TerminalOptions Options;
  Options.Width = 300;
  report::printWhole(Whole, OS, Options);
  EXPECT_NE(Text.find("nvcc's was faster in every run: it is what was built"),
            std::string::npos)
      << Text;
}

} // namespace
