//===- unittests/driver/FailIfTest.cpp - Conditions that fail a run -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/FailIf.h"

#include "../model/HandMade.h"
#include "core/Error.h"
#include "model/Model.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;

namespace {

/// What is said if \p Text holds of \p P; empty if it does not.
std::string said(const Profile &P, StringRef Text) {
  auto Condition = parseFailCondition(Text);
  if (!Condition)
    return "error: " + toString(Condition.takeError());
  std::string Out;
  raw_string_ostream OS(Out);
  bool Holds = sayWhatHolds({*Condition}, P, model::costOf(P), OS);
  EXPECT_EQ(Holds, !Out.empty());
  return Out;
}

/// 36.4 % of the run lost at alt.cu:12, CFE 63.6 %.
Profile example() {
  Profile P;
  P.Kernels.push_back(test::alternating("walk").K);
  P.Kernels[0].Regrouped = {1,
                            64,
                            {64, 32, 32, 64},
                            {2, 2, 2, 2},
                            {2, 2, 2, 2},
                            {2, 1, 1, 2},
                            {2, 1, 1, 2}};
  return P;
}

TEST(FailIf, Measures) {
  EXPECT_EQ(said(example(), "total>36%"),
            "reconverge: --fail-if 'total>36%': 36.4% at alt.cu:12: i & 1\n");
  EXPECT_EQ(said(example(), "total>37%"), "");
  EXPECT_NE(said(example(), "cost > 20 %"), "") << "blanks, and another word";
  EXPECT_NE(said(example(), "self>36.3%"), "");
  EXPECT_EQ(said(example(), "self>36.4%"), "");
  EXPECT_NE(said(example(), "self<50%"), "");
  EXPECT_NE(said(example(), "recoverable>30%"), "");
  EXPECT_EQ(said(example(), "cfe<64%"), "reconverge: --fail-if 'cfe<64%': walk "
                                        "has a CFE of 63.6%\n");
  EXPECT_EQ(said(example(), "cfe<63%"), "");
}

TEST(FailIf, Events) {
  Profile P = example();
  P.Kernels[0].Orders.Launches = 1;
  P.Kernels[0].Races.Launches = 1;
  P.Kernels[0].Races.Races.emplace_back().SameValue = true;
  for (const char *Event : {"refused", "none-ran", "order-dependent", "races"})
    EXPECT_EQ(said(P, Event), "");
  P.Refused = {"app.cu:3: a texture"};
  EXPECT_EQ(said(P, "refused"),
            "reconverge: --fail-if 'refused': app.cu:3: a texture\n");
  P.Kernels[0].Orders.Differing = 1;
  EXPECT_EQ(
      said(P, "order-dependent"),
      "reconverge: --fail-if 'order-dependent': walk depends on the order "
      "of its threads\n");
  P.Kernels[0].Races.Races.emplace_back();
  EXPECT_EQ(said(P, "races"),
            "reconverge: --fail-if 'races': walk has a race\n");
  P.Kernels.clear();
  EXPECT_NE(said(P, "none-ran"), "");
}

TEST(FailIf, WhatCannotBeJudgedFails) {
  EXPECT_EQ(said(example(), "order-dependent"),
            "reconverge: --fail-if 'order-dependent' cannot be judged: no "
            "launch was tried in other orders (--shuffle)\n");
  EXPECT_EQ(said(example(), "races"),
            "reconverge: --fail-if 'races' cannot be judged: no launch was "
            "looked at for races (--races)\n");
  Profile P = example();
  P.Kernels[0].Races.Launches = 1;
  P.Kernels[0].Races.Incomplete = true;
  EXPECT_EQ(said(P, "races"),
            "reconverge: --fail-if 'races' cannot be judged: there was no "
            "memory to follow all accesses\n");
  P.Kernels[0].Regrouped = {};
  EXPECT_EQ(said(P, "recoverable>90%"),
            "reconverge: --fail-if 'recoverable>90%' cannot be judged: no "
            "threads were sampled for regrouping\n");
  EXPECT_EQ(said(P, "total>90%"), "");
  P.Kernels.clear();
  EXPECT_EQ(said(P, "refused"), "");
  for (const char *Measure :
       {"self>1%", "total>1%", "recoverable>1%", "cfe<1%"})
    EXPECT_EQ(said(P, Measure),
              "reconverge: --fail-if '" + std::string(Measure) +
                  "' cannot be judged: no kernel ran to its end\n");
}

TEST(FailIf, OthersAreNamedWithWhatIsAllowed) {
  for (const char *Wrong : {"", "cost", "cost>", "cost>20", "cost>x%",
                            "cost>101%", "cost>-1%", "cost>nan%", "cost=20%",
                            "cost>=20%", "time>20%", "refused>1%", "20%"}) {
    std::string Message = said(example(), Wrong);
    EXPECT_NE(Message.find("is no condition of --fail-if"), std::string::npos)
        << Wrong << ": " << Message;
    EXPECT_NE(Message.find("order-dependent"), std::string::npos);
  }
}

} // namespace
