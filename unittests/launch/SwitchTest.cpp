//===- unittests/launch/SwitchTest.cpp - Which form is faster -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/Switch.h"

#include <gtest/gtest.h>

#include <vector>

using namespace reconverge::launch;

namespace {

/// A program whose launches take so long in each form.
struct Program {
  double Recipe = 1, Original = 1;
  Switch S;
  double Spent = 0;
  std::vector<Form> Late; ///< measured, and not told yet
  bool Tells = true;

  Form launch() {
    const Switch::Turn T = S.next();
    Spent += T.Take == Form::Recipe ? Recipe : Original;
    if (T.Measured)
      Late.push_back(T.Take);
    if (Tells)
      tell();
    return T.Take;
  }
  void tell() {
    for (Form F : Late)
      S.arrived(F, F == Form::Recipe ? Recipe : Original);
    Late.clear();
  }
  unsigned byRecipe(unsigned Launches) {
    unsigned N = 0;
    for (unsigned I = 0; I != Launches; ++I)
      N += launch() == Form::Recipe;
    return N;
  }
};

TEST(Switch, TriesBothAndKeepsTheFaster) {
  Program Slow{2, 1, {}, 0, {}, true}, Fast{1, 2, {}, 0, {}, true};
  EXPECT_EQ(Slow.byRecipe(20), 2u);
  EXPECT_EQ(Fast.byRecipe(20), 18u);
  EXPECT_EQ(Slow.S.kept(), Form::Original);
  EXPECT_EQ(Slow.S.changes(), 0u);
  EXPECT_EQ(Slow.S.milliseconds(Form::Recipe), 2);
  EXPECT_EQ(Slow.S.milliseconds(Form::Original), 1);
}

TEST(Switch, BeginsWithTheRecipeAndAlternates) {
  Program P;
  EXPECT_EQ(P.launch(), Form::Recipe);
  EXPECT_EQ(P.launch(), Form::Original);
  EXPECT_EQ(P.launch(), Form::Recipe);
  EXPECT_FALSE(P.S.isDecided());
  EXPECT_EQ(P.launch(), Form::Original);
  EXPECT_TRUE(P.S.isDecided());
}

TEST(Switch, TheFirstTimeOfEachMayBeLong) {
  Switch S;
  const double Took[] = {900, 70, 1, 2}; // code was loaded
  for (double Time : Took)
    S.arrived(S.next().Take, Time);
  EXPECT_EQ(S.kept(), Form::Recipe);
}

TEST(Switch, WaitsForNobody) {
  Program P{9, 1, {}, 0, {}, false};
  // The program is far ahead of the device: nothing is known.
  EXPECT_EQ(P.byRecipe(1000), 998u);
  EXPECT_EQ(P.Late.size(), 4u);
  P.tell();
  EXPECT_EQ(P.byRecipe(10), 0u);
}

TEST(Switch, TimesThatAreNeverKnownChangeNothing) {
  Switch S;
  for (unsigned I = 0; I != 1000; ++I)
    if (const Switch::Turn T = S.next(); T.Measured)
      S.arrived(T.Take, -1);
  EXPECT_EQ(S.kept(), Form::Recipe);
  EXPECT_FALSE(S.isDecided());
}

TEST(Switch, TriesAgainAndNoticesOtherData) {
  Program P{2, 1, {}, 0, {}, true};
  P.byRecipe(100);
  P.Recipe = 0.5;
  EXPECT_GT(P.byRecipe(1000), 500u);
  EXPECT_EQ(P.S.kept(), Form::Recipe);
  EXPECT_EQ(P.S.changes(), 1u);
}

TEST(Switch, ChangesForNoLittleGain) {
  Program P{2, 1, {}, 0, {}, true};
  P.byRecipe(100);
  P.Recipe = 0.97;
  P.byRecipe(10000);
  EXPECT_EQ(P.S.kept(), Form::Original);
  EXPECT_EQ(P.S.changes(), 0u);
}

// The two that a round takes in the slower form are 1 % of the time at most, but
// for the first round.
TEST(Switch, RoundsCostLittle) {
  for (double Times : {1.1, 2., 20., 1000.}) {
    Program P{Times, 1, {}, 0, {}, true};
    for (unsigned I = 0; I != 4; ++I)
      P.launch();
    P.Spent = 0;
    const unsigned Launches = 1000000;
    P.byRecipe(Launches);
    EXPECT_LE(P.Spent, Launches * 1.01) << Times;
    EXPECT_GT(P.Spent, Launches) << Times << ": it is tried again";
  }
}

} // namespace
