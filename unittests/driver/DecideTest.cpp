//===- unittests/driver/DecideTest.cpp - From trials to decisions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Decide.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

const Candidate Meld{"meld", ""}, Eager{"meld", "threshold=0"},
    Nvcc{"nvcc", ""};

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
  E.OriginalSlots = Original;
  E.VariantSlots = Variant;
  return E;
}

/// \p Speedup in 21 pairs, spread by +-\p Noise.
TrialEvent measured(const Candidate &C, double Speedup, double Noise) {
  TrialEvent E = event(TrialEvent::End, C);
  for (int I = -10; I <= 10; ++I) {
    E.OriginalMs.push_back(Speedup * (1 + Noise * I / 10));
    E.VariantMs.push_back(1);
  }
  return E;
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
  EXPECT_EQ(D.Tried[0].End, Outcome::Slower);
  EXPECT_EQ(D.Tried[0].Why, "+20.0 %, another is better");
  EXPECT_EQ(D.Tried[1].End, Outcome::Kept);
  EXPECT_FALSE(D.Measured);
}

TEST(Decide, LaunchesAddUp) {
  // Faster on a small launch, slower on a large one: slower.
  Decision D = decide(request({Meld}), "k()",
                      {estimated(Meld, 20, 10), estimated(Meld, 100, 115)}, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, Outcome::Slower);
  EXPECT_EQ(D.Tried[0].Why, "-4.0 %, not faster beyond the noise");
  EXPECT_EQ(D.Tried[0].Compared.Launches, 2u);
  EXPECT_EQ(D.Tried[0].Compared.Bytes, 200u);
  EXPECT_EQ(D.Why, "no candidate was better");
}

TEST(Decide, OneWrongLaunchIsEnough) {
  TrialEvent Wrong = estimated(Meld, 200, 100);
  Wrong.Compared.Kind = VerdictKind::Differs;
  Wrong.Compared.First = {"cudaMalloc #1 (4 bytes)", 0, "1", "2"};
  Decision D =
      decide(request({Meld}), "k()",
             {estimated(Meld, 200, 100), Wrong, estimated(Meld, 200, 100)}, {});
  EXPECT_EQ(D.Keep, Candidate());
  EXPECT_EQ(D.Tried[0].End, Outcome::Wrong);
  EXPECT_EQ(D.Tried[0].Why, "cudaMalloc #1 (4 bytes), offset 0: 1 became 2");
}

TEST(Decide, OrderDependenceIsTheUsersToAllow) {
  TrialEvent E = estimated(Meld, 200, 100);
  E.Compared.Kind = VerdictKind::UpToOrder;
  EXPECT_EQ(decide(request({Meld}), "k()", {E}, {}).Tried[0].End,
            Outcome::Unproved);
  DecideOptions Allow;
  Allow.AllowReorder = true;
  EXPECT_EQ(decide(request({Meld}), "k()", {E}, Allow).Keep, Meld);
}

TEST(Decide, FaultsHangsAndRefusalsSayWhy) {
  for (auto [What, End] : {std::pair(TrialEvent::Fault, Outcome::Faulted),
                           std::pair(TrialEvent::Hang, Outcome::TimedOut),
                           std::pair(TrialEvent::Refused, Outcome::Refused),
                           std::pair(TrialEvent::Untried, Outcome::Untried)}) {
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
  EXPECT_EQ(
      decide(request({Meld}), "k()", {measured(Meld, 1.02, 0.1)}, {}).Keep,
      Candidate());
  Decision D = decide(request({Meld}), "k()", {measured(Meld, 1.02, 0.01)}, {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_TRUE(D.Measured);
  EXPECT_NEAR(D.Tried[0].Speedup, 1.02, 1e-9);
}

TEST(Decide, TheBaselineIsTheBetterOfNvccAndOurs) {
  Decision D =
      decide(request({Nvcc, Meld}), "k()",
             {measured(Nvcc, 1.2, 0.01), measured(Meld, 1.1, 0.01)}, {});
  EXPECT_EQ(D.Keep, Nvcc);
  EXPECT_EQ(D.Tried[1].End, Outcome::Slower);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.1 / 1.2, 1e-9);

  D = decide(request({Nvcc, Meld}), "k()",
             {measured(Nvcc, 1.2, 0.01), measured(Meld, 1.5, 0.01)}, {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.25, 1e-9);

  // A wrong one is nobody's baseline.
  TrialEvent Wrong = measured(Nvcc, 2, 0.01);
  Wrong.Compared.Kind = VerdictKind::Differs;
  D = decide(request({Nvcc, Meld}), "k()", {Wrong, measured(Meld, 1.5, 0.01)},
             {});
  EXPECT_EQ(D.Keep, Meld);
  EXPECT_NEAR(D.Tried[1].Speedup, 1.5, 1e-9);
}

TEST(Decide, OtherKernelsEventsAreNotCounted) {
  TrialEvent Other = estimated(Meld, 200, 100);
  Other.Module = "4567";
  EXPECT_EQ(decide(request({Meld}), "k()", {Other}, {}).Tried[0].End,
            Outcome::Untried);
}

TEST(Decide, ARunThatEndsInATrialNamesIt) {
  TrialEvent Begin = event(TrialEvent::Begin, Meld);
  EXPECT_EQ(unfinishedTrial({}), nullptr);
  std::vector<TrialEvent> Ended = {Begin, event(TrialEvent::End, Meld)};
  EXPECT_EQ(unfinishedTrial(Ended), nullptr);
  std::vector<TrialEvent> Died = {Begin, event(TrialEvent::End, Meld), Begin};
  ASSERT_NE(unfinishedTrial(Died), nullptr);
  EXPECT_EQ(unfinishedTrial(Died)->Tried, Meld);
}

} // namespace
