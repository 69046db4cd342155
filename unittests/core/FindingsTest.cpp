//===- unittests/core/FindingsTest.cpp - What a process showed ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Findings.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

static Finding overrun(unsigned Line) {
  Finding F;
  F.Kernel = "scale(float*)";
  F.Text = "an illegal \"read\"";
  F.Places = {{"", {{"app.cu", Line, 3, "scale"}}, {{1, 2, 3}}, {{4, 5, 6}}}};
  return F;
}

/// What is read of a file that holds \p Text.
static Expected<TestedProcess> readBack(StringRef Text) {
  SmallString<128> Path;
  cantFail(
      errorCodeToError(sys::fs::createTemporaryFile("findings", "", Path)));
  {
    std::error_code EC;
    raw_fd_ostream OS(Path, EC);
    OS << Text;
  }
  auto Read = readTestedProcess(Path);
  (void)sys::fs::remove(Path);
  return Read;
}

static std::string wholeFile() {
  TestedProcess P;
  P.Program = "./app";
  P.Arguments = {"a b", "\xff"};
  P.Id = 42;
  return startLine(P) + kernelLine("scale(float*)") + findingLine(overrun(7)) +
         endLine(3);
}

TEST(Findings, AreReadAsTheyWereWritten) {
  auto P = readBack(wholeFile());
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Program, "./app");
  EXPECT_EQ(P->Arguments.front(), "a b");
  EXPECT_EQ(P->Id, 42u);
  EXPECT_EQ(P->Kernels, std::vector<std::string>{"scale(float*)"});
  EXPECT_TRUE(P->HasEnded);
  EXPECT_EQ(P->Launches, 3u);
  ASSERT_EQ(P->Findings.size(), 1u);
  EXPECT_EQ(P->Findings[0].Text, "an illegal \"read\"");
  EXPECT_EQ(P->Findings[0].Places, overrun(7).Places);
}

TEST(Findings, AProcessThatIsCutShortKeepsWholeLines) {
  const std::string Whole = wholeFile();
  for (size_t Length = 0; Length != Whole.size(); ++Length) {
    auto P = readBack(StringRef(Whole).take_front(Length));
    ASSERT_TRUE(bool(P)) << toString(P.takeError());
    EXPECT_FALSE(P->HasEnded);
    EXPECT_EQ(P->Findings.size(),
              size_t(StringRef(Whole).take_front(Length).count('\n') > 2));
  }
}

TEST(Findings, ADamagedLineIsNamed) {
  auto P = readBack(wholeFile() + "{}\n");
  ASSERT_FALSE(bool(P));
  EXPECT_NE(toString(P.takeError()).find(":5"), std::string::npos);
}

TEST(Findings, AreTheSameByKindKernelAndPlaces) {
  Finding Other = overrun(7);
  Other.Text = "at another address";
  Other.Places[0].Thread = {{0, 0, 0}};
  EXPECT_TRUE(Other.sameAs(overrun(7)));
  EXPECT_FALSE(overrun(8).sameAs(overrun(7)));
  Other.Kernel = "add";
  EXPECT_FALSE(Other.sameAs(overrun(7)));
  // Without a place there is the text alone.
  Finding A = overrun(7), B = overrun(7);
  A.Places.clear();
  B.Places.clear();
  EXPECT_TRUE(A.sameAs(B));
  B.Text = "another";
  EXPECT_FALSE(A.sameAs(B));
}
