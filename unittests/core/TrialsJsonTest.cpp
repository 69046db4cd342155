//===- unittests/core/TrialsJsonTest.cpp ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/File.h"
#include "core/Trials.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;

namespace {

/// A file that goes with the test.
struct ScratchFile {
  ScratchFile() {
    EXPECT_FALSE(sys::fs::createTemporaryFile("trials", "json", Path));
  }
  ~ScratchFile() { sys::fs::remove(Path); }
  void write(StringRef Text) {
    ASSERT_FALSE(errorToBool(
        writeFileAtomically(Path, [&](raw_ostream &OS) { OS << Text; })));
  }
  SmallString<64> Path;
};

TrialEvent event(TrialEvent::Kind What) {
  TrialEvent E;
  E.What = What;
  E.Kernel = "_Z4sortPi";
  E.Module = "0123456789abcdef";
  E.Tried = {"meld", "threshold=0.2"};
  E.Launch = 3;
  E.Shape = {{8, 1, 1}, {64, 1, 1}, 0};
  E.Why = "a \"reason\"";
  E.Compared.Kind = VerdictKind::Identical;
  E.Compared.Bytes = 4096;
  Demand &D = E.Original.emplace_back();
  D.Shape = E.Shape;
  D.Registers = 40;
  D.StaticShared = 1024;
  D.Share = 0.1;
  D.Slots = 100.5;
  D.Busy = {1, 2, 3, 4, 5, 6, 7, 8};
  D.PathCycles = 9;
  D.PathLoads = 10;
  D.HasMachineCode = true;
  D.HasMemory = true;
  D.Wavefronts = 11;
  D.LoadSectors = 12;
  D.StoreSectors = 13;
  D.MergedStores = 12.5;
  D.AtomicSectors = 14;
  D.AtomicTurns = 15;
  D.Touched = {16, 17, 18, 19};
  E.Variant = {D, D};
  E.Variant[1].Slots = 80;
  E.OriginalMs = {1.5, 1.25};
  E.VariantMs = {1, 1.125};
  return E;
}

std::string lineOf(const TrialEvent &E) {
  std::string Line;
  raw_string_ostream OS(Line);
  printTrialEvent(E, OS);
  return Line;
}

TEST(TrialPlan, IsReadAsWritten) {
  ScratchFile File;
  TrialPlan Plan;
  Plan.Log = "/tmp/log";
  Plan.Launches = 7;
  Plan.Budget = uint64_t(1) << 40;
  Plan.Orders = 5;
  Plan.Samples = 30;
  Plan.Images = {{ForeignCompiler::Nvcc, "00ff", "/tmp/n"},
                 {ForeignCompiler::Clang, "00ff", "/tmp/c"}};
  Plan.Kernels = {
      {"_Z1kv", "00ff", {{"meld", ""}, {"meld", "threshold=0"}}, 17}};
  ASSERT_FALSE(errorToBool(writeTrialPlan(Plan, File.Path)));
  Expected<TrialPlan> Back = readTrialPlan(File.Path);
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_EQ(Back->Log, Plan.Log);
  EXPECT_EQ(Back->Launches, 7u);
  EXPECT_EQ(Back->Budget, Plan.Budget);
  EXPECT_EQ(Back->Orders, 5u);
  EXPECT_EQ(Back->Samples, 30u);
  ASSERT_EQ(Back->Images.size(), 2u);
  EXPECT_EQ(Back->Images[0].By, ForeignCompiler::Nvcc);
  EXPECT_EQ(Back->Images[1].By, ForeignCompiler::Clang);
  EXPECT_EQ(Back->Images[1].Module, "00ff");
  EXPECT_EQ(Back->Images[1].Path, "/tmp/c");
  ASSERT_EQ(Back->Kernels.size(), 1u);
  EXPECT_EQ(Back->Kernels[0].Kernel, "_Z1kv");
  EXPECT_EQ(Back->Kernels[0].Candidates, Plan.Kernels[0].Candidates);
  EXPECT_EQ(Back->Kernels[0].Launches, 17u);
}

TEST(TrialPlan, CarriesWhatCandidatesPromise) {
  ScratchFile File;
  TrialPlan Plan;
  Plan.ByOutputs = true;
  Plan.Kernels = {{"_Z1kv",
                   "00ff",
                   {{"meld", ""},
                    {"fast", "", Promise::Bound},
                    {"sum", "", Promise::Order}}}};
  ASSERT_FALSE(errorToBool(writeTrialPlan(Plan, File.Path)));
  Expected<TrialPlan> Back = readTrialPlan(File.Path);
  ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
  EXPECT_TRUE(Back->ByOutputs);
  EXPECT_EQ(Back->Kernels[0].Candidates, Plan.Kernels[0].Candidates);
  EXPECT_EQ(Back->Kernels[0].Candidates[1].Promises, Promise::Bound);

  const std::string Text = cantFail(readFile(File.Path))->getBuffer().str();
  auto Fault = [&](StringRef From, StringRef To) {
    std::string Damaged = Text;
    const size_t At = Damaged.find(From);
    EXPECT_NE(At, std::string::npos) << From.str();
    Damaged.replace(At, From.size(), To);
    File.write(Damaged);
    Expected<TrialPlan> Plan = readTrialPlan(File.Path);
    return Plan ? "" : toString(Plan.takeError());
  };
  EXPECT_NE(Fault("\"promise\":\"order\"", "\"promise\":\"hope\"")
                .find("expected bytes, order or bound"),
            std::string::npos);
}

TEST(TrialLog, EventsTakeALineEach) {
  ScratchFile File;
  File.write(lineOf(event(TrialEvent::Begin)) + lineOf(event(TrialEvent::End)));
  auto Events = readTrialLog(File.Path);
  ASSERT_TRUE(bool(Events)) << toString(Events.takeError());
  ASSERT_EQ(Events->size(), 2u);
  EXPECT_EQ((*Events)[0].What, TrialEvent::Begin);
  EXPECT_EQ((*Events)[1].What, TrialEvent::End);
  EXPECT_EQ(lineOf((*Events)[1]), lineOf(event(TrialEvent::End)));
}

/// A run that dies may die in the middle of a line.
TEST(TrialLog, ACutLineIsNoEvent) {
  ScratchFile File;
  const std::string Whole = lineOf(event(TrialEvent::Begin));
  for (size_t N = 0; N < Whole.size(); ++N) {
    File.write(Whole + Whole.substr(0, N));
    auto Events = readTrialLog(File.Path);
    ASSERT_TRUE(bool(Events)) << toString(Events.takeError());
    EXPECT_EQ(Events->size(), 1u) << N;
  }
}

TEST(TrialLog, DamageIsNamedWithItsLine) {
  ScratchFile File;
  File.write(lineOf(event(TrialEvent::Begin)) + "{}\n");
  auto Events = readTrialLog(File.Path);
  ASSERT_FALSE(bool(Events));
  EXPECT_NE(
      toString(Events.takeError()).find(":2: not a line of a trial's log"),
      std::string::npos);
}

TEST(TrialLog, NoTimeIsWithoutTheOriginals) {
  ScratchFile File;
  TrialEvent E = event(TrialEvent::End);
  E.VariantMs.pop_back();
  File.write(lineOf(E));
  EXPECT_EQ(cantFail(readTrialLog(File.Path)).front().VariantMs.size(), 1u);
  E.OriginalMs.clear();
  File.write(lineOf(E));
  auto Events = readTrialLog(File.Path);
  ASSERT_FALSE(bool(Events));
  EXPECT_NE(toString(Events.takeError()).find("no more times"),
            std::string::npos);
}

} // namespace
