//===- unittests/driver/ProgressTest.cpp - What long work is doing --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Progress.h"
#include "driver/CommandLine.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <thread>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

/// What a log has of work of each kind that lasts three times as long as a line
/// in it takes to come due.
std::string logOf(const RunRequest &Request) {
  constexpr std::chrono::milliseconds First{10};
  std::string Text;
  raw_string_ostream OS(Text);
  Progress Now(OS, Request, First);
  Now.step("short");
  Now.stage("long");
  for (size_t I = 0; I != 30; ++I) {
    std::this_thread::sleep_for(First / 10);
    Now.goesOn();
  }
  Now.stage("trials");
  for (size_t I = 0; I != 30; ++I) {
    std::this_thread::sleep_for(First / 10);
    Now.update([&] { return WorkDone{I / 10, 3, "k: meld"}; });
  }
  return Text;
}

size_t linesWith(StringRef Text, StringRef Words) { return Text.count(Words); }

TEST(Progress, ALogHasStagesAndLinesOfWhatLasts) {
  const std::string Text = logOf({});
  EXPECT_EQ(Text.find("short"), std::string::npos) << Text;
  EXPECT_EQ(Text.find("reconverge: long\n"), 0u) << Text;
  // After one, two, four times as long: not at each call.
  EXPECT_GE(linesWith(Text, "reconverge: long: "), 1u) << Text;
  EXPECT_LE(linesWith(Text, "reconverge: long: "), 6u) << Text;
  EXPECT_GE(linesWith(Text, " of 3, 0 s: k: meld\n"), 1u) << Text;
  EXPECT_LE(linesWith(Text, " of 3, 0 s: k: meld\n"), 6u) << Text;
  EXPECT_EQ(Text.find_first_of("\r\033"), std::string::npos) << Text;
}

TEST(Progress, VerboseAndQuiet) {
  RunRequest Request;
  Request.Verbose = true;
  EXPECT_NE(logOf(Request).find("reconverge: short\n"), std::string::npos);
  Request.Quiet = true;
  EXPECT_EQ(logOf(Request), "");
}

TEST(Progress, SeveralSourcesHaveALineEach) {
  std::string Text;
  raw_string_ostream OS(Text);
  Progress Now(OS, {});
  BuildRequest Request;
  using frontend::InputKind;
  Request.Inputs = {"a.cu", "b.o", "c.cpp"};
  Request.Kinds = {InputKind::Cuda, InputKind::LinkerInput, InputKind::Cxx};
  Now.follow(Request);
  ASSERT_TRUE(Request.OnSource);
  Request.OnSource("a.cu");
  Request.OnSource("c.cpp");
  EXPECT_EQ(Text, "reconverge: compiling a.cu (1 of 2)\n"
                  "reconverge: compiling c.cpp (2 of 2)\n");
  BuildRequest One;
  One.Inputs = {"a.cu"};
  One.Kinds = {InputKind::Cuda};
  Now.follow(One);
  EXPECT_FALSE(One.OnSource);
}

TEST(Progress, ABarFitsItsLine) {
  EXPECT_EQ(barOf({5, 10, "k: meld"}, 80),
            "[##########          ] 5/10 k: meld");
  EXPECT_EQ(barOf({0, 0, ""}, 80), "[                    ] 0/0 ");
  EXPECT_EQ(barOf({9, 3, ""}, 80).find("####################]"), 1u);
  EXPECT_EQ(barOf({1, 2, std::string(300, 'x')}, 40).size(), 40u);
  EXPECT_LE(barOf({1, 2, "x"}, 0).size(), 0u);
}

} // namespace
