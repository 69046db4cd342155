//===- unittests/report/ViewTest.cpp - What a report says -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profile and cost are made by hand: a view takes both as they are.
//
//===----------------------------------------------------------------------===//

#include "report/View.h"

#include "../model/HandMade.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::report;
using reconverge::test::HandMadeKernel;

namespace {

/// Kernels with an if each, and a place for each that costs so much.
struct MadeRun {
  Profile P;
  RunCost Cost;

  explicit MadeRun(std::vector<double> Selves) {
    P.Program = "./app";
    Cost.Slots = 1000;
    for (double Self : Selves) {
      const auto Kernel = uint32_t(P.Kernels.size());
      P.Kernels.push_back(test::alternating("k" + std::to_string(Kernel)).K);
      KernelCost C;
      C.Slots = 100;
      C.OfRun = 0.1;
      C.Cfe = 0.5;
      C.Branches.resize(1);
      C.Branches[0].Self = 0.5;
      Cost.Kernels.push_back(C);
      PlaceCost Place;
      Place.Branches = {{Kernel, 0}};
      Place.Warps = 4;
      Place.Splits = 1;
      Place.Self = Self;
      Place.Cost = 2 * Self;
      Place.LossSlots = 100;
      Place.Recover.InGrid = Self;
      Cost.Places.push_back(Place);
    }
  }
  View view(ViewOptions Options = {}) const { return viewOf(P, Cost, Options); }
};

TEST(View, PlacesAreShownFromAThousandthOfTheRunOn) {
  View V = MadeRun({0.1, 0.05, 0.001, 0.0009}).view();
  ASSERT_EQ(V.Places.size(), 3u);
  EXPECT_EQ(V.SlightPlaces, 1u);
  EXPECT_EQ(V.MorePlaces, 0u);
  EXPECT_EQ(V.Places[0].Weight, Severity::Grave);
  EXPECT_EQ(V.Places[1].Weight, Severity::Notable);
  EXPECT_EQ(V.Places[2].Weight, Severity::Slight);
  EXPECT_EQ(V.Places[0].At, "alt.cu:12");
  EXPECT_EQ(V.Places[0].Where.File, "src/alt.cu");
  EXPECT_EQ(V.Places[0].Split, 0.25);
}

TEST(View, AsManyAsWereAskedFor) {
  const MadeRun R({0.3, 0.2, 0.1, 0});
  View V = R.view({2});
  EXPECT_EQ(V.Places.size(), 2u);
  EXPECT_EQ(V.MorePlaces, 1u);
  EXPECT_EQ(V.SlightPlaces, 1u);
  EXPECT_EQ(R.view({0}).Places.size(), 3u);
}

TEST(View, PlacesOnOneLineAreToldApart) {
  MadeRun R({0.3, 0.2, 0.1});
  for (uint32_t I : {0u, 1u})
    R.P.Kernels[I].Info.Branches[0].Condition = "";
  R.P.Kernels[1].Info.Branches[0].Where[0].Column = 40;
  View V = R.view();
  EXPECT_EQ(V.Places[0].At, "alt.cu:12:7");
  EXPECT_EQ(V.Places[1].At, "alt.cu:12:40");
  EXPECT_EQ(V.Places[2].At, "alt.cu:12") << "its condition does";
}

TEST(View, AdviceFromAHundredthOn) {
  View V = MadeRun({0.01, 0.0099}).view();
  EXPECT_FALSE(V.Places[0].Advice.empty());
  EXPECT_TRUE(V.Places[1].Advice.empty());
  ASSERT_TRUE(V.Next.has_value());
  EXPECT_EQ(V.Next->Command, "reconverge optimize ./app");
  EXPECT_EQ(V.Next->Words,
            "Nothing that is automatic should pay. To try all the same");
  V = MadeRun({0.0099}).view();
  ASSERT_TRUE(V.Next.has_value());
  EXPECT_EQ(V.Next->Command, "");
  EXPECT_TRUE(llvm::StringRef(V.Next->Words)
                  .starts_with("No branch loses 1.0% of the run: "));
  V = MadeRun({}).view();
  EXPECT_FALSE(V.Next.has_value()) << "no kernel ran";
  EXPECT_EQ(V.WhyNoKernels, "No kernel was launched.");
}

TEST(View, NamesWhatIsAutomaticIfItMayPay) {
  MadeRun R({0.2});
  R.Cost.Automatic = {"meld", "remap"};
  RemedyBound Meld{{"meld", "meld its sides"}, 0.1, 0};
  R.Cost.Places[0].Remedies = {Meld};
  View V = R.view();
  EXPECT_EQ(V.Places[0].Advice,
            std::vector<std::string>{"meld its sides: at most 10.0%"});
  EXPECT_EQ(V.Next->Words, "Try meld");
  R.Cost.Places[0].Remedies[0].What.ByHand = true;
  EXPECT_EQ(R.view().Next->Words,
            "Nothing that is automatic should pay. To try all the same");
}

TEST(View, WhatARemedyMadeIsNotTriedAgain) {
  MadeRun R({0.2, 0.1});
  R.P.Kernels[0].Info.Name += "$remedied";
  EXPECT_TRUE(R.view().Next.has_value()) << "the other kernel has none";
  R.P.Kernels[1].Info.Name += "$remedied";
  EXPECT_FALSE(R.view().Next.has_value());
  EXPECT_FALSE(R.view().Places[0].Advice.empty());
}

// A remedy that no line names is not what to try.
TEST(View, TheNextStepNamesWhatLinesDo) {
  MadeRun R({0.2});
  R.Cost.Automatic = {"meld", "refill", "share", "regroup"};
  RemedyBound Meld{{"meld", "meld its sides", ""}, 0.019, 0};
  RemedyBound Refill{{"refill", "refill its lanes", "stops"}, 0.1, 0.1001};
  RemedyBound Share{{"share", "share its work", "dealing"}, 0.1, 0.0001};
  RemedyBound Regroup{{"regroup", "regroup it", "sorting"}, 0.1, 0.06};
  R.Cost.Places[0].Remedies = {Meld, Refill, Share, Regroup};
  View V = R.view();
  EXPECT_EQ(V.Places[0].Advice,
            (std::vector<std::string>{
                "share its work: at most 10.0%",
                "regroup it: at most 4.0% (10.0% less about 6.0% for sorting)",
                "refill its lanes: no; at most 10.0%, less about 10.0% for "
                "stops"}));
  EXPECT_EQ(V.Next->Words, "Try share and regroup");
}

// Of four places, the second lies inside the first, the third inside the
// second, the last in neither.
TEST(View, DepthIsOfWhatStandsRightAbove) {
  MadeRun R({0.4, 0.3, 0.2, 0.1});
  R.Cost.Places[1].Outer = 0;
  R.Cost.Places[2].Outer = 1;
  View V = R.view();
  EXPECT_EQ(V.Places[0].Depth, 0u);
  EXPECT_EQ(V.Places[1].Depth, 1u);
  EXPECT_EQ(V.Places[2].Depth, 2u);
  EXPECT_EQ(V.Places[3].Depth, 0u);
}

TEST(View, RegroupingIsKnownOnlyWhereThreadsWereSampled) {
  MadeRun R({0.2, 0.1});
  R.P.Kernels[0].Regrouped.Launches = 1;
  R.P.Kernels[0].Regrouped.Threads = 64;
  View V = R.view();
  ASSERT_TRUE(V.Places[0].Regrouped.has_value());
  EXPECT_EQ(V.Places[0].Regrouped->InGrid, 0.2);
  EXPECT_FALSE(V.Places[1].Regrouped.has_value());
  EXPECT_NE(V.CountedOn.find("regrouping from 64 threads"), std::string::npos);
}

TEST(View, OtherCausesAreNamedFromATenthOfTheLossOn) {
  MadeRun R({0.2});
  R.Cost.Places[0].ExitSlots = 10;
  R.Cost.Places[0].PartialSlots = 9;
  View V = R.view();
  ASSERT_TRUE(V.Places[0].ByReturned.has_value());
  EXPECT_DOUBLE_EQ(*V.Places[0].ByReturned, 0.04); // of 0.4 in total
  EXPECT_FALSE(V.Places[0].ByPartialWarps.has_value());
}

TEST(View, KernelsWithNothingToGainAreCounted) {
  MadeRun R({0.3, 0.2, 0.1});
  R.Cost.Kernels[1].OfRun = 0.5;
  R.Cost.Kernels[2].Cfe = 0.96;
  R.Cost.Kernels[2].Branches[0].Self = 0.0099;
  View V = R.view();
  EXPECT_EQ(V.Ranking, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(V.FineKernels, 1u);
  EXPECT_TRUE(V.Kernels[2].IsFine);
  EXPECT_EQ(V.Kernels[1].OfRun, 0.5);
  // A branch to blame is enough, and so are lanes that idle.
  R.Cost.Kernels[2].Branches[0].Self = 0.01;
  EXPECT_EQ(R.view().FineKernels, 0u);
  R.Cost.Kernels[2].Branches[0].Self = 0;
  R.Cost.Kernels[2].Cfe = 0.94;
  V = R.view();
  EXPECT_EQ(V.FineKernels, 0u);
  EXPECT_FALSE(V.Kernels[2].WhyIdle.empty());
  EXPECT_TRUE(V.Kernels[0].WhyIdle.empty());
  // Slots are wasted, and no time: what the kernel waits for is named.
  R.Cost.Kernels[2].Branches[0].SelfSlots = 50;
  R.Cost.Kernels[2].Time.Busiest = Unit::Dram;
  EXPECT_NE(R.view().Kernels[2].WhyIdle.find("it waits for dram"),
            std::string::npos);
}

TEST(View, AllKernelsWhereAllAreFine) {
  MadeRun R({0, 0});
  for (KernelCost &C : R.Cost.Kernels) {
    C.Cfe = 1;
    C.Branches[0].Self = 0;
  }
  View V = R.view();
  EXPECT_EQ(V.Ranking.size(), 2u);
  EXPECT_EQ(V.FineKernels, 0u);
}

TEST(View, CopiesAndTheWaysToThem) {
  MadeRun R({0.2, 0.1});
  R.Cost.Places[0].Branches = {{1, 0}, {0, 0}};
  R.P.Kernels[0].Info.Branches[0].Where.push_back({"src/alt.cu", 40, 1, "f"});
  View V = R.view();
  EXPECT_EQ(V.Places[0].Copies, 2u);
  EXPECT_EQ(V.Places[0].Kernels, (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(V.Places[0].InlinedInMany);
  R.P.Kernels[1].Info.Branches[0].Where.push_back({"src/alt.cu", 40, 1, "f"});
  V = R.view();
  EXPECT_FALSE(V.Places[0].InlinedInMany);
  EXPECT_EQ(V.Places[0].InlinedAt, std::vector<std::string>{"alt.cu:40"});
}

TEST(View, TextsAreClean) {
  MadeRun R({0.2});
  R.P.Program = "a\033b";
  R.P.Refused = {"no\ttexture\nwrite none"};
  R.P.Notes = {"line\nline"};
  R.P.Kernels[0].Info.Branches[0].Condition = "a\n  < b";
  View V = R.view();
  EXPECT_EQ(V.Program, "ab");
  EXPECT_EQ(V.Refused, (std::vector<std::vector<std::string>>{
                           {"no texture", "write none"}}));
  EXPECT_EQ(V.Notes, std::vector<std::string>{"line line"});
  EXPECT_EQ(V.Places[0].What, "a < b");
}

} // namespace
