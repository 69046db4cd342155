//===- unittests/driver/DecideTest.cpp - From trials to decisions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Decide.h"
#include "model/Time.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

const Candidate Meld{"meld", ""}, Eager{"meld", "threshold=0"},
    Nvcc{"nvcc", ""}, Clang{"clang", ""};

TrialRequest request(std::vector<Candidate> Candidates) {
  return {"k", "0123", std::move(Candidates)};
}

TrialEvent event(TrialEvent::Kind What, const Candidate &C) {
  TrialEvent E;
  E.What = What;
  E.Kernel = "k";
  E.Module = "0123";
  E.Tried = C;
  E.Compared.Kind = VerdictKind::Identical;
  E.Compared.Bytes = 100;
  return E;
}

TrialEvent estimated(const Candidate &C, double Original, double Variant) {
  TrialEvent E = event(TrialEvent::End, C);
  E.Original.emplace_back().Slots = Original;
  E.Variant.emplace_back().Slots = Variant;
  return E;
}

using Events = std::vector<TrialEvent>;

/// A launch on which \p C ended well and took \p Variant ms in each round,
/// where our build took \p Original.
Events timed(const Candidate &C, std::vector<double> Original,
             std::vector<double> Variant, uint64_t Launch = 1) {
  TrialEvent End = event(TrialEvent::End, C),
             Times = event(TrialEvent::Timed, C);
  End.Launch = Times.Launch = Launch;
  Times.OriginalMs = std::move(Original);
  Times.VariantMs = std::move(Variant);
  return {End, Times};
}

/// \p Speedup in 21 rounds, spread by +-\p Noise; the candidate takes 1 ms.
Events measured(const Candidate &C, double Speedup, double Noise) {
  std::vector<double> Original;
  for (int I = -10; I <= 10; ++I)
    Original.push_back(Speedup * (1 + Noise * I / 10));
  return timed(C, Original, std::vector<double>(21, 1));
}

Events operator+(Events A, const Events &B) {
  A.insert(A.end(), B.begin(), B.end());
  return A;
}

/// Rounds around \p Ms that are a little apart.
std::vector<double> around(double Ms) {
  std::vector<double> Times;
  for (int I = 0; I < 20; ++I)
    Times.push_back(Ms * (1 + 0.0001 * (I % 5)));
  return Times;
}

TEST(Ratio, IntervalHoldsTheMedian) {
  // Six pairs are the fewest whose extremes are a 95 % interval (1 in 32).
  RatioInterval Six = ratioOf({1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(Six.Low, 1);
  EXPECT_EQ(Six.Median, 3.5);
  EXPECT_EQ(Six.High, 6);
  // Table value for n = 20: the 6th and the 15th.
  std::vector<double> Twenty, Ones(20, 1);
  for (int I = 1; I <= 20; ++I)
    Twenty.push_back(I);
  RatioInterval R = ratioOf(Twenty, Ones);
  EXPECT_EQ(R.Low, 6);
  EXPECT_EQ(R.Median, 10.5);
  EXPECT_EQ(R.High, 15);
  EXPECT_EQ(ratioOf({}, {}).Median, 0);
}

TEST(Decide, TheFastestIdenticalCandidateIsKept) {
  Decision D =
      decide(request({Meld, Eager}), "k()",
             {estimated(Meld, 120, 100), estimated(Eager, 150, 100)}, {});
  EXPECT_EQ(D.Keep, Eager);
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Slower);
  EXPECT_EQ(D.Tried[0].Why, "+20.0 %, another is better");
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Kept);
  EXPECT_FALSE(D.Measured);
}

TEST(Decide, WhatOutputsJudgeWaitsForThem) {
  const Candidate Herd{"herd", "", Promise::Bound},
      Slow{"herd", "every=1", Promise::Bound};
  Events All = {estimated(Meld, 120, 100), estimated(Herd, 200, 100),
                estimated(Slow, 90, 100)};
  for (TrialEvent &E : All)
    if (E.Tried != Meld)
      E.Compared.Kind = VerdictKind::Differs;
  DecideOptions Options;
  Options.ByOutputs = true;
  Decision D = decide(request({Meld, Herd, Slow}), "k()", All, Options);
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_TRUE(isForOutputs(D.Tried[1]));
  EXPECT_EQ(D.Tried[1].Predicted, 2);
  EXPECT_FALSE(isForOutputs(D.Tried[2]));
  EXPECT_EQ(D.Tried[2].End, TrialOutcome::Slower);
  // Else another result is a wrong one.
  D = decide(request({Meld, Herd, Slow}), "k()", All, {});
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Wrong);
  EXPECT_FALSE(isForOutputs(D.Tried[1]));
}

TEST(Decide, AProofIsNeverKept) {
  const Candidate Proof{"permute", "seed=1"};
  Decision D =
      decide(request({Proof, Meld}), "k()",
             {estimated(Proof, 200, 100), estimated(Meld, 120, 100)}, {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_EQ(D.Tried.size(), 1u);
}

TEST(Decide, LaunchesAddUp) {
  // Faster on a small launch, slower on a large one: slower.
  Decision D = decide(request({Meld}), "k()",
                      {estimated(Meld, 20, 10), estimated(Meld, 100, 115)}, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Slower);
  EXPECT_EQ(D.Tried[0].Why, "-4.0 %, not faster by the model");
  EXPECT_EQ(D.Tried[0].Compared.Launches, 2u);
  EXPECT_EQ(D.Tried[0].Compared.Bytes, 200u);
  EXPECT_EQ(D.Why, "no candidate was better");
}

TEST(Decide, WhatWasNotTriedIsNotCalledWorse) {
  const auto Ended = [](const Candidate &What, TrialEvent::Kind How) {
    TrialEvent E = estimated(What, 0, 0);
    E.What = How;
    return E;
  };
  const Candidate Flatten{"flatten", ""}, Share{"share", ""};
  Decision D = decide(
      request({Meld, Flatten}), "k()",
      {Ended(Meld, TrialEvent::Refused), Ended(Flatten, TrialEvent::Untried)},
      {});
  EXPECT_EQ(D.Why, "no candidate was tried");
  D = decide(request({Meld, Flatten, Share}), "k()",
             {estimated(Meld, 100, 115), Ended(Flatten, TrialEvent::Untried),
              Ended(Share, TrialEvent::Untried)},
             {});
  EXPECT_EQ(D.Why, "no candidate that was tried was better; 2 were not");
}

TEST(Decide, OneWrongLaunchIsEnough) {
  TrialEvent Wrong = estimated(Meld, 200, 100);
  Wrong.Compared.Kind = VerdictKind::Differs;
  Wrong.Compared.First = {"cudaMalloc #1 (4 bytes)", 0, "1", "2"};
  Decision D =
      decide(request({Meld}), "k()",
             {estimated(Meld, 200, 100), Wrong, estimated(Meld, 200, 100)}, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Wrong);
  EXPECT_EQ(D.Tried[0].Why, "cudaMalloc #1 (4 bytes), offset 0: 1 became 2");
}

TEST(Decide, OrderDependenceIsTheUsersToAllow) {
  TrialEvent E = estimated(Meld, 200, 100);
  E.Compared.Kind = VerdictKind::UpToOrder;
  EXPECT_EQ(decide(request({Meld}), "k()", {E}, {}).Tried[0].End,
            TrialOutcome::Unproved);
  DecideOptions Allow;
  Allow.AllowReorder = true;
  EXPECT_EQ(decide(request({Meld}), "k()", {E}, Allow).Keep, Meld);
}

TEST(Decide, WhatLeavesEachLaunchAsItWasIsNoTrial) {
  const Candidate Regroup{"regroup", "branch=1"};
  Decision D =
      decide(request({Regroup}), "k()",
             {estimated(Regroup, 120, 120), estimated(Regroup, 7, 7)}, {});
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Refused);
  EXPECT_EQ(D.Tried[0].Why, "it leaves launches like those tried as they were: "
                            "most often they have too few threads");
  // One that it changes is enough, and who changes code alone changes that.
  D = decide(request({Regroup}), "k()",
             {estimated(Regroup, 120, 120), estimated(Regroup, 7, 9)}, {});
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Slower);
  D = decide(request({Meld}), "k()", {estimated(Meld, 120, 120)}, {});
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Slower);
}

TEST(Decide, FaultsHangsAndRefusalsSayWhy) {
  for (auto [What, End] :
       {std::pair(TrialEvent::Fault, TrialOutcome::Faulted),
        std::pair(TrialEvent::Hang, TrialOutcome::TimedOut),
        std::pair(TrialEvent::Refused, TrialOutcome::Refused),
        std::pair(TrialEvent::Untried, TrialOutcome::Untried)}) {
    TrialEvent E = event(What, Meld);
    E.Why = "because";
    Decision D =
        decide(request({Meld}), "k()", {event(TrialEvent::Begin, Meld), E}, {});
    EXPECT_EQ(D.Tried[0].End, End);
    EXPECT_EQ(D.Tried[0].Why, "because");
    EXPECT_EQ(D.Keep, Candidate());
  }
  EXPECT_EQ(decide(request({Meld}), "k()", {}, {}).Tried[0].Why,
            "no launch of the kernel was tried");
}

TEST(Decide, AGainInsideTheNoiseIsNone) {
  Decision D = decide(request({Meld}), "k()", measured(Meld, 1.02, 0.1), {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].Why, "+2.0 %, not faster beyond the noise");
  D = decide(request({Meld}), "k()", measured(Meld, 1.02, 0.01), {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_TRUE(D.Measured);
  EXPECT_NEAR(D.Tried[0].Speedup, 1.02, 1e-9);
  EXPECT_NEAR(D.Milliseconds, 1.02, 1e-9);
  EXPECT_EQ(D.Timed, 1u);
  // Beyond the noise, but not worth another kernel.
  D = decide(request({Meld}), "k()", measured(Meld, 1.004, 0.0001), {});
  EXPECT_EQ(D.Keep, Candidate());
}

TEST(Decide, AShortLaunchMustSaveMoreThanItsPlaceInMemory) {
  auto Keeps = [](double Ms, double Gain) {
    return decide(request({Meld}), "k()",
                  timed(Meld, around(Ms * Gain), around(Ms), 1) +
                      timed(Meld, around(Ms * Gain), around(Ms), 2),
                  {})
               .Keep == Meld;
  };
  EXPECT_FALSE(Keeps(0.025, 1.019)) << "a launch saves 0.48 us";
  EXPECT_TRUE(Keeps(0.025, 1.022)) << "a launch saves 0.55 us";
  EXPECT_TRUE(Keeps(0.25, 1.007));
}

TEST(Decide, TheBaselineIsTheFastestOfTheBuildsAsTheyAre) {
  // A round has all three builds: ours takes 1.2, nvcc's 1.
  const Events OfNvcc = timed(Nvcc, around(1.2), around(1));
  auto With = [&](double MeldMs) {
    return decide(request({Nvcc, Meld}), "k()",
                  OfNvcc + timed(Meld, around(1.2), around(MeldMs)), {});
  };
  // Melding gains over ours, and loses to nvcc's.
  Decision D = With(1.1);
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Kept);
  EXPECT_NEAR(D.Tried[0].Speedup, 1.2, 1e-9);
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Slower);
  EXPECT_NEAR(D.Tried[1].Speedup, 1 / 1.1, 1e-9);
  EXPECT_EQ(D.Tried[1].Why, "-9.1 %, not faster beyond the noise");

  D = With(0.8);
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.25, 1e-9);
  EXPECT_NEAR(D.Tried[1].Milliseconds, 0.8, 1e-3);
  EXPECT_EQ(D.Tried[0].Why, "+20.0 % over ours, another is better");
}

TEST(Decide, OfThreeBuildsAsTheyAreAnyMayBeTheBaseline) {
  // A round has four builds: ours takes 1.2, melded 1.05.
  auto With = [](double NvccMs, double ClangMs) {
    return decide(request({Nvcc, Clang, Meld}), "k()",
                  timed(Nvcc, around(1.2), around(NvccMs)) +
                      timed(Clang, around(1.2), around(ClangMs)) +
                      timed(Meld, around(1.2), around(1.05)),
                  {});
  };
  // Melding gains over ours and nvcc's, and loses to clang's.
  Decision D = With(1.1, 1);
  EXPECT_EQ(D.Keep, Clang);
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Kept);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.2, 1e-9);
  EXPECT_EQ(D.Tried[0].Why, "+9.1 % over ours, another is better");
  EXPECT_NEAR(D.Tried[2].Speedup, 1 / 1.05, 1e-9);
  EXPECT_EQ(D.Tried[2].Why, "-4.8 %, not faster beyond the noise");
  // The order in which they are tried does not matter.
  D = With(1, 1.1);
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_EQ(D.Tried[1].Why, "+9.1 % over ours, another is better");
  EXPECT_NEAR(D.Tried[2].Speedup, 1 / 1.05, 1e-9);
  // Both lose to ours: melding is held against that.
  D = With(1.3, 1.4);
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[2].Speedup, 1.2 / 1.05, 1e-9);
  EXPECT_EQ(D.Tried[1].Why, "-14.3 % over ours, another is better");
}

TEST(Decide, AFastBuildWithAnotherResultLeavesTheOther) {
  // clang's square root is approximate: its 0.5 ms count for nothing.
  Events OfClang = timed(Clang, around(1.2), around(0.5));
  OfClang.front().Compared.Kind = VerdictKind::Differs;
  Decision D = decide(request({Nvcc, Clang}), "k()",
                      timed(Nvcc, around(1.2), around(1.1)) + OfClang, {});
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Wrong);
  EXPECT_EQ(D.Tried[1].Speedup, 0);
}

TEST(Decide, TheBuildThatIsSurelyFasterIsKept) {
  // clang's is the fastest by its median, and within the noise of ours.
  const std::vector<double> Ours = around(1.006);
  std::vector<double> OfClang;
  for (size_t I = 0; I != Ours.size(); ++I)
    OfClang.push_back(Ours[I] / (1.008 + 0.01 * (double(I) - 9.5)));
  Decision D =
      decide(request({Nvcc, Clang}), "k()",
             timed(Nvcc, Ours, around(1)) + timed(Clang, Ours, OfClang), {});
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_GT(D.Tried[1].Speedup, D.Tried[0].Speedup);
}

TEST(Decide, WhatOthersTookInARoundIsWhatCounts) {
  // The clock halves in the middle; each round by itself says 1.1.
  std::vector<double> Original, Variant;
  for (int I = 0; I < 20; ++I) {
    Original.push_back(I < 10 ? 1.1 : 2.2);
    Variant.push_back(I < 10 ? 1 : 2);
  }
  EXPECT_EQ(
      decide(request({Meld}), "k()", timed(Meld, Original, Variant), {}).Keep,
      Meld);
}

TEST(Decide, AWrongBuildIsNobodysBaseline) {
  Events OfNvcc = timed(Nvcc, around(2), around(1));
  OfNvcc.front().Compared.Kind = VerdictKind::Differs;
  Decision D = decide(request({Nvcc, Meld}), "k()",
                      OfNvcc + timed(Meld, around(2), around(2 / 1.5)), {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.5, 1e-9);
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Wrong);
}

TEST(Decide, RoundingOfOtherCompilersIsTheUsersToAllow) {
  Events OfNvcc = timed(Nvcc, around(2), around(1)),
         OfMeld = timed(Meld, around(2), around(1));
  for (Events *Of : {&OfNvcc, &OfMeld}) {
    Of->front().Compared.Kind = VerdictKind::Differs;
    Of->front().Compared.First = {"x", 8, "1", "1.5", 2};
  }
  const Events All = OfNvcc + OfMeld;
  Decision D = decide(request({Nvcc, Meld}), "k()", All, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Rounded);
  EXPECT_EQ(D.Tried[0].Why,
            "x, offset 8: 1 became 1.5; all differ in rounding alone, by 2 ulp "
            "at most; --allow-rounding keeps that");
  DecideOptions Allow;
  Allow.AllowRounding = true;
  D = decide(request({Nvcc, Meld}), "k()", All, Allow);
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_EQ(D.Tried[1].End, TrialOutcome::Rounded); // a remedy has no reason to
  // More than rounding on another launch.
  Events Wrong = timed(Nvcc, around(2), around(1), 2);
  Wrong.front().Compared.Kind = VerdictKind::Differs;
  Wrong.front().Compared.First = {"y", 0, "1", "7", 0};
  D = decide(request({Nvcc}), "k()", OfNvcc + Wrong, Allow);
  EXPECT_EQ(D.Tried[0].End, TrialOutcome::Wrong);
  EXPECT_EQ(D.Tried[0].Why, "y, offset 0: 1 became 7");
}

TEST(Decide, WithoutAGainTheFasterBuildIsKept) {
  // The kernel has no candidate but nvcc's code.
  auto With = [](double NvccMs) {
    return decide(request({Nvcc}), "k()",
                  timed(Nvcc, around(1), around(NvccMs)), {});
  };
  EXPECT_EQ(With(0.9).Keep, Nvcc);
  EXPECT_EQ(With(1.1).Keep, Candidate());
  EXPECT_EQ(With(1.1).Why, "no candidate was better");
  EXPECT_EQ(With(1.1).Tried[0].Why, "-9.1 % over ours");
}

TEST(Decide, LaunchesCountByTheirTime) {
  // Twice as fast on three small launches, slower on the large one.
  Events All;
  for (uint64_t Launch = 1; Launch <= 3; ++Launch)
    All = All + timed(Meld, around(0.02), around(0.01), Launch);
  All = All + timed(Meld, around(1), around(1.1), 4);
  Decision D = decide(request({Meld}), "k()", All, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Timed, 4u);
  EXPECT_NEAR(D.Tried[0].Speedup, 1.06 / 1.13, 1e-4);
  EXPECT_NEAR(D.Milliseconds, 1.06, 1e-3);
}

TEST(Decide, ALaunchWithTooFewRoundsIsLeftOut) {
  // Time ran out in the second: its one round would leave one for both.
  Decision D = decide(
      request({Meld}), "k()",
      timed(Meld, around(1.2), around(1), 1) + timed(Meld, {1}, {5}, 2), {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[0].Speedup, 1.2, 1e-9);
}

TEST(Decide, ALaunchThatWasLostAtOnceCounts) {
  // One round was enough there to see that it loses by half.
  Decision D = decide(request({Meld}), "k()",
                      timed(Meld, around(1.2), around(1), 1) +
                          timed(Meld, std::vector<double>(20, 10), {20}, 2),
                      {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_NEAR(D.Tried[0].Speedup, 11.2 / 21, 1e-3);
}

TEST(Decide, OnAGpuAnEstimateIsNotEnough) {
  DecideOptions OnGpu;
  OnGpu.NeedsTimes = true;
  Decision D =
      decide(request({Meld}), "k()", {estimated(Meld, 150, 100)}, OnGpu);
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].Why, "it was not timed");
  EXPECT_NEAR(D.Tried[0].Predicted, 1.5, 1e-9);
  EXPECT_FALSE(D.Measured);
}

TEST(Decide, AKernelOfAFewMicrosecondsIsNone) {
  Decision D = decide(request({Nvcc, Meld}), "k()",
                      timed(Nvcc, around(0.003), around(0.002)) +
                          timed(Meld, around(0.003), around(0.002)),
                      {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Why, "a launch takes 3.0 us, most of it the cost of launching");
}

TEST(Decide, OtherKernelsEventsAreNotCounted) {
  TrialEvent Other = estimated(Meld, 200, 100);
  Other.Module = "4567";
  EXPECT_EQ(decide(request({Meld}), "k()", {Other}, {}).Tried[0].End,
            TrialOutcome::Untried);
}

TEST(Decide, ARunThatEndsInATrialNamesIt) {
  TrialEvent Begin = event(TrialEvent::Begin, Meld);
  EXPECT_EQ(endOfRun({}, true), nullptr);
  Events Ended = {Begin, event(TrialEvent::End, Meld)};
  EXPECT_EQ(endOfRun(Ended, true), nullptr);
  Events Died = {Begin, event(TrialEvent::End, Meld), Begin};
  ASSERT_NE(endOfRun(Died, false), nullptr);
  EXPECT_EQ(endOfRun(Died, false)->Tried, Meld);
  // On the VM a run goes on after a fault; a GPU's does not.
  Events Faulted = {Begin, event(TrialEvent::Fault, Eager)};
  EXPECT_EQ(endOfRun(Faulted, false), nullptr);
  ASSERT_NE(endOfRun(Faulted, true), nullptr);
  EXPECT_EQ(endOfRun(Faulted, true)->Tried, Eager);
}

static analysis::MachineLimits smallGpu() {
  return {.Multiprocessors = 2,
          .ClockMHz = 1000,
          .Schedulers = 4,
          .Threads = 2048,
          .Blocks = 32,
          .Registers = 65536,
          .SharedBytes = 100000,
          .L1Bytes = 100000,
          .L1Latency = 30,
          .L2Latency = 200,
          .DramLatency = 400,
          .L2Bytes = 1e6,
          .L2BytesPerCycle = 64,
          .DramBytesPerCycle = 32,
          .Norm = 4};
}

/// One warp that only issues: 130 cycles over 100. The interval is what the
/// model is usually off by, less where it knows the machine code of both sides.
TEST(Decide, PredictsTimeWhereTheGpuIsKnown) {
  TrialEvent E = estimated(Meld, 1000, 10);
  for (auto [Asked, Cycles] :
       {std::pair(&E.Original, 130.0), {&E.Variant, 100.0}}) {
    Demand &D = Asked->front();
    D.Shape.Block = {32, 1, 1};
    D.Busy[size_t(Unit::Issue)] = Cycles;
  }
  DecideOptions Options;
  Options.Limits = smallGpu();
  auto Expect = [&](double Error) {
    const Decision D = decide(request({Meld}), "k", {E}, Options);
    EXPECT_NEAR(D.Tried[0].Predicted, 1.3, 1e-9);
    EXPECT_NEAR(D.Tried[0].PredictedLow, 1.3 / Error, 1e-9);
    EXPECT_NEAR(D.Tried[0].PredictedHigh, 1.3 * Error, 1e-9);
  };
  Expect(model::UsualErrorByIr);
  E.Original.front().HasMachineCode = true;
  Expect(model::UsualErrorByIr);
  E.Variant.front().HasMachineCode = true;
  Expect(model::UsualError);
}

/// Half the issue slots and as many sectors: what waits for memory gains nothing.
TEST(Decide, WithoutTimesTheModelDecides) {
  TrialEvent E = estimated(Meld, 200, 100);
  for (auto [Asked, Cycles] :
       {std::pair(&E.Original, 200.0), {&E.Variant, 100.0}}) {
    Demand &D = Asked->front();
    D.Shape.Block = {32, 1, 1};
    D.Busy[size_t(Unit::Issue)] = Cycles;
    D.HasMemory = true;
    D.StoreSectors = D.MergedStores = 1e4;
  }
  DecideOptions Options;
  Decision D = decide(request({Meld}), "k", {E}, Options);
  EXPECT_EQ(D.Keep, Meld) << "by slots alone";
  Options.Limits = smallGpu();
  D = decide(request({Meld}), "k", {E}, Options);
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_NEAR(D.Tried[0].Predicted, 1, 1e-3);
  EXPECT_EQ(D.Tried[0].Why, "+0.0 %, not faster by the model");
}

} // namespace
