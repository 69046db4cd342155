//===- unittests/driver/TrialRunsTest.cpp - Runs that candidates end ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs are played: each writes a log as a backend would and ends as one does.
//
//===----------------------------------------------------------------------===//

#include "driver/TrialRuns.h"

#include "core/File.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

const Candidate Nvcc{"nvcc", ""}, Meld{"meld", ""}, Eager{"meld", "eager"};

TrialEvent event(TrialEvent::Kind What, const Candidate &C) {
  TrialEvent E;
  E.What = What;
  E.Kernel = "k";
  E.Module = "0123";
  E.Tried = C;
  return E;
}

class TrialRuns : public testing::Test {
protected:
  TrialRuns() {
    SmallString<128> Path;
    EXPECT_FALSE(sys::fs::createTemporaryFile("trials", "log", Path));
    Plan.Log = std::string(Path);
    Plan.Kernels = {{"k", "0123", {Nvcc, Meld, Eager}}};
  }
  ~TrialRuns() override { (void)sys::fs::remove(Plan.Log); }

  /// Tries every candidate; \p End says how the run of one that ends it ends.
  std::vector<TrialEvent>
  run(function_ref<std::optional<TrialEvent::Kind>(const Candidate &)> End) {
    raw_string_ostream OS(Notes);
    auto All = runTrials(
        Plan,
        [&](const TrialPlan &Now) -> Expected<frontend::ProcessResult> {
          Tried.push_back(Now.Kernels.front().Candidates);
          frontend::ProcessResult Result;
          std::vector<TrialEvent> Log;
          for (const Candidate &C : Tried.back()) {
            Log.push_back(event(TrialEvent::Begin, C));
            std::optional<TrialEvent::Kind> Last = End(C);
            if (!Last) {
              Log.push_back(event(TrialEvent::End, C));
              continue;
            }
            if (*Last != TrialEvent::Begin)
              Log.push_back(event(*Last, C));
            Result.Exit = TrialsEnded;
            break;
          }
          if (Error E = writeOutput(Now.Log, [&](raw_ostream &File) {
                for (const TrialEvent &E : Log)
                  printTrialEvent(E, File);
              }))
            return std::move(E);
          return Result;
        },
        OS, [&] { return IsTimeUp; });
    EXPECT_TRUE(bool(All)) << toString(All.takeError());
    return All ? *All : std::vector<TrialEvent>();
  }

  TrialPlan Plan;
  bool IsTimeUp = false;                     ///< after the first run
  std::vector<std::vector<Candidate>> Tried; ///< by each run
  std::string Notes;
};

TEST_F(TrialRuns, AProofThatEndsTheRunRefusesWhatMoves) {
  const Candidate Proof{"permute", "seed=1"}, Mover{"permute", "seed=2"},
      Blocks{"permute", "unit=block"};
  Plan.Kernels = {{"k", "0123", {Proof, Mover, Blocks, Meld}}};
  const auto All = run([&](const Candidate &C) {
    return C == Proof ? std::optional(TrialEvent::Fault) : std::nullopt;
  });
  ASSERT_EQ(Tried.size(), 2u);
  EXPECT_EQ(Tried[1], (std::vector<Candidate>{Blocks, Meld}));
  ASSERT_GE(All.size(), 2u);
  EXPECT_EQ(All[0].What, TrialEvent::Fault);
  EXPECT_EQ(All[1].What, TrialEvent::Refused);
  EXPECT_EQ(All[1].Tried, Mover);
}

TEST_F(TrialRuns, OneIsEnoughIfNothingEndsIt) {
  auto All = run([](const Candidate &) { return std::nullopt; });
  EXPECT_EQ(Tried.size(), 1u);
  EXPECT_EQ(All.size(), 6u);
  EXPECT_EQ(Notes, "");
}

TEST_F(TrialRuns, AFaultIsStruckOffAndTheOthersAreSeenAgain) {
  for (TrialEvent::Kind How : {TrialEvent::Fault, TrialEvent::Hang}) {
    Tried.clear();
    auto All = run([&](const Candidate &C) {
      return C == Meld ? std::optional(How) : std::nullopt;
    });
    ASSERT_EQ(Tried.size(), 2u);
    EXPECT_EQ(Tried[1], (std::vector<Candidate>{Nvcc, Eager}));
    // How meld ended; begin and end of the others, once each.
    ASSERT_EQ(All.size(), 5u);
    EXPECT_EQ(All[0].What, How);
    EXPECT_EQ(All[0].Tried, Meld);
    EXPECT_EQ(All[4].What, TrialEvent::End);
    EXPECT_EQ(All[4].Tried, Eager);
  }
}

TEST_F(TrialRuns, ATrialWithoutAnEndIsAFault) {
  auto All = run([](const Candidate &C) {
    return C == Nvcc ? std::optional(TrialEvent::Begin) : std::nullopt;
  });
  ASSERT_EQ(Tried.size(), 2u);
  EXPECT_EQ(All[0].What, TrialEvent::Fault);
  EXPECT_EQ(All[0].Why, "the run with it returned 86");
}

TEST_F(TrialRuns, AllMayEndTheirRun) {
  auto All = run([](const Candidate &) { return TrialEvent::Fault; });
  EXPECT_EQ(Tried.size(), 3u);
  EXPECT_EQ(All.size(), 3u);
}

TEST_F(TrialRuns, WhenTheTimeIsUpWhatHadNoTurnIsSaid) {
  IsTimeUp = true;
  // The run was ended in meld's trial, which is not meld's fault.
  auto All = run([](const Candidate &C) {
    return C == Meld ? std::optional(TrialEvent::Begin) : std::nullopt;
  });
  EXPECT_EQ(Tried.size(), 1u);
  ASSERT_EQ(All.size(), 4u);
  EXPECT_EQ(All[1].What, TrialEvent::End);
  EXPECT_EQ(All[1].Tried, Nvcc);
  for (int I : {2, 3}) {
    EXPECT_EQ(All[I].What, TrialEvent::Untried);
    EXPECT_EQ(All[I].Tried, I == 2 ? Meld : Eager);
    EXPECT_EQ(All[I].Why, "the time limit was met before");
  }
  EXPECT_NE(Notes.find("2 candidates were not tried"), std::string::npos)
      << Notes;
}

TEST_F(TrialRuns, RunsAreLimited) {
  Plan.Kernels.front().Candidates.clear();
  for (int I = 0; I < 50; ++I)
    Plan.Kernels.front().Candidates.push_back({"meld", std::to_string(I)});
  auto All = run([](const Candidate &) { return TrialEvent::Hang; });
  EXPECT_EQ(Tried.size(), 17u);
  EXPECT_NE(Notes.find("17 runs were ended by candidates"), std::string::npos)
      << Notes;
  EXPECT_EQ(All.back().What, TrialEvent::Hang);
}

TEST_F(TrialRuns, HowFarARunHasCome) {
  // Three candidates on two launches, one refused before any.
  Plan.Launches = 4;
  Plan.Kernels[0].Launches = 2;
  (void)sys::fs::remove(Plan.Log);
  EXPECT_EQ(doneOf(Plan).Of, 6u);
  EXPECT_EQ(doneOf(Plan).Done, 0u) << "there is no log yet";
  TrialEvent Begun = event(TrialEvent::Begin, Meld);
  Begun.Launch = 1;
  cantFail(writeFileAtomically(Plan.Log, [&](raw_ostream &OS) {
    printTrialEvent(event(TrialEvent::Refused, Nvcc), OS);
    printTrialEvent(Begun, OS);
    printTrialEvent(event(TrialEvent::End, Meld), OS);
    printTrialEvent(event(TrialEvent::Timed, Meld), OS);
  }));
  const WorkDone Work = doneOf(Plan);
  EXPECT_EQ(Work.Done, 3u);
  EXPECT_EQ(Work.Of, 6u);
  EXPECT_EQ(Work.Now, "k, launch 1: meld");
}

} // namespace
