//===- unittests/launch/RecipeTextTest.cpp - A recipe as text -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/RecipeText.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::launch;

namespace {

Recipe everything() {
  Recipe R;
  R.LeastThreads = 64;
  R.MostThreads = uint64_t(1) << 32;
  R.MostBlockThreads = 512;
  R.OneDimension = true;
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, false},
               {{LaunchAmount::One, 8, 1}, true},
               {{LaunchAmount::One, 4, 1}, false, /*Kept=*/true}};
  R.Reuse = {2, {LaunchAmount::Threads, 1, 1024}};
  RecipeStep Before;
  Before.Kernel = "_Z1kPi__order";
  Before.Helper = true;
  Before.When = RecipeStep::Making;
  Before.Grid = {false, {LaunchAmount::Threads, 1, 256}};
  Before.Block = {false, {LaunchAmount::One, 256, 1}};
  Before.DynamicShared = false;
  Before.Arguments = {{RecipeArgument::Scratch, 0},
                      {RecipeArgument::Amount, 0, {LaunchAmount::Threads}}};
  RecipeStep Main;
  Main.Kernel = "_Z1kPi";
  Main.Grid = {false,
               {LaunchAmount::Resident, 2, 3},
               LaunchAmount{LaunchAmount::Threads, 1, 640}};
  Main.Arguments = {{RecipeArgument::Program, 0},
                    {RecipeArgument::Scratch, 1},
                    {RecipeArgument::Dimension, 5}};
  RecipeStep Probe = Main;
  Probe.When = RecipeStep::Probing;
  R.Steps = {Before, Main, Probe};
  return R;
}

/// What one launch makes serves later ones alone.
Recipe renewed() {
  Recipe R = everything();
  R.Reuse.emplace().Renewed = true;
  R.Steps[1].When = RecipeStep::Reusing;
  return R;
}

/// The user gives an order.
Recipe given() {
  Recipe R = everything();
  R.Scratch[0].Given = true;
  return R;
}

/// Launches count, and what they count may stop it.
Recipe stopped() {
  Recipe R = everything();
  R.Reuse.reset();
  R.Scratch[2].Zeroed = true;
  R.Stop = {2, {LaunchAmount::Threads, 125, 1000}, 16};
  return R;
}

/// Takes the launch for one of as many threads as max(n - 1, 0).
Recipe overTrips() {
  Recipe R = everything();
  R.Trips = TripCount{{{TripCount::Argument, 32, 2, 8},
                       {TripCount::Constant, 32, 0, 4294967295},
                       {TripCount::Add, 32},
                       {TripCount::Constant, 32, 0, 0},
                       {TripCount::SMax, 32},
                       {TripCount::SExt, 64, 32}}};
  return R;
}

/// Has an array of rows in the order.
Recipe withRows() {
  Recipe R = overTrips();
  RecipeRows Rows;
  Rows.Pointer = 3;
  Rows.CellBytes = 12;
  Rows.Stored = true;
  Rows.Stride = {{{TripCount::Dimension, 32, 0, 0},
                  {TripCount::Dimension, 32, 3, 0},
                  {TripCount::Mul, 32},
                  {TripCount::ZExt, 64, 32}}};
  R.Rows = {Rows, Rows};
  R.Rows[1].Stored = false;
  R.Rows[1].Guarded = true;
  R.Elsewhere = {{0, 8}, {4, 0}};
  R.Steps[1].Arguments.push_back(
      {RecipeArgument::OfRows, RecipeRows::Fields + RecipeRows::Pitch});
  return R;
}

/// Makes what the next launch will use.
Recipe followed() {
  Recipe R = withRows();
  R.Reuse.reset();
  R.Ahead.emplace().Sizes = {16, 8, 4};
  R.Ahead->Parts = {{{0, 8}, 8, true}, {{2, 0}, 4, false}};
  R.Ahead->Loaded = {{{0, 8}, 1}, {{1, 0}, 48}};
  R.Steps[0].Arguments.push_back({RecipeArgument::OfRange, 3});
  return R;
}

TEST(RecipeText, ReadsWhatItPrints) {
  for (const Recipe &R : {Recipe(), everything(), renewed(), given(), stopped(),
                          overTrips(), withRows(), followed()}) {
    auto Read = parseRecipe(printRecipe(R));
    ASSERT_TRUE(Read) << printRecipe(R);
    EXPECT_EQ(*Read, R);
  }
}

TEST(RecipeText, IsWhatTheHeaderSays) {
  EXPECT_EQ(
      printRecipe(everything()),
      "for 64 4294967296 512 line reuse 2 threads 1 1024 "
      "scratch threads 4 1 scratch one 8 1 zeroed scratch one 4 1 kept "
      "helper _Z1kPi__order making grid threads 1 256 block one 256 1 "
      "memory 0 amount threads 1 1 "
      "step _Z1kPi grid resident 2 3 most threads 1 640 block same shared "
      "program 0 memory 1 dimension 5 "
      "step _Z1kPi probing grid resident 2 3 most threads 1 640 block same "
      "shared program 0 memory 1 dimension 5");
}

TEST(RecipeText, RefusesWhatIsNone) {
  for (const char *Text : {
           "",
           "for 1 2",
           "for 1 2 3 step k reusing grid same block same",
           "for 1 2 x",
           "for 1 2 3 step",
           "for 1 2 3 step k grid same",
           "for 1 2 3 step k grid same block same program",
           "for 1 2 3 step k grid same block same program -1",
           "for 1 2 3 step k grid same block same dimension 6",
           "for 1 2 3 step k grid same block same memory 0",
           "for 1 2 3 step k grid many 1 1 block same",
           "for 1 2 3 step k grid threads 1 0 block same",
           "for 1 2 3 step k grid threads 1 1 most block same",
           "for 1 2 3 step k grid same most one 1 1 block same",
           "for 1 2 3 step k grid one 1 1 most resident 1 1 block same",
           "for 1 2 3 scratch resident 1 1",
           "for 1 2 3 trips argument 32 0",
           "for 1 2 3 trips argument 31 0 0",
           "for 1 2 3 trips sext 64 0 0",
           "for 1 2 3 trips power 32 0 0",
           "for 1 2 3 trips size 32 6 0",
           "for 1 2 3 array 0",
           "for 1 2 3 array 0 0 constant 64 0 9",
           "for 1 2 3 elsewhere 0",
           "for 1 2 3 array 0 4 constant 64 0 9 step k grid same block same "
           "rows 9",
           "for 1 2 3 scratch one 18446744073709551616 1",
           "for 1 2 3 reuse 0 one 1 1",
           "for 1 2 3 reuse 0 one 1 1 scratch one 4 1",
           "for 1 2 3 reuse 0 resident 1 1 scratch one 4 1 kept",
           "for 1 2 3 scratch one 4 1 zeroed kept",
           "for 1 2 3 stop 0 threads 1 100 16",
           "for 1 2 3 stop 0 threads 1 100 16 scratch one 4 1 kept",
           "for 1 2 3 stop 0 threads 1 100 16 scratch one 4 1 zeroed",
           "for 1 2 3 stop 0 threads 1 100 0 scratch one 4 1 zeroed kept",
           "for 1 2 3 stop 0 resident 1 1 16 scratch one 4 1 zeroed kept",
           "for 1 2 3 stop 0 threads 1 1 16 scratch one 4 1 zeroed kept "
           "scratch one 4 1 given",
           "for 1 2 3 ahead",
           "for 1 2 3 ahead one 1 1 2 4",
           "for 1 2 3 ahead one 1 1 1 4 part 1 0 4",
           "for 1 2 3 ahead one 1 1 1 4 part 0 2 4",
           "for 1 2 3 ahead one 1 1 1 4 part 0 0 0",
           "for 1 2 3 ahead one 1 1 1 4 part 0 0 3 advances",
           "for 1 2 3 ahead one 1 1 1 4 loaded 0 0 1",
           "for 1 2 3 ahead one 1 1 1 8 loaded 0 0 1 step k grid same block "
           "same "
           "range 2",
           "for 1 2 3 step k grid same block same range 0",
           "for 1 2 3 renew ahead one 1 1 0",
           "for 1 2 3 ahead one 1 1 0 scratch one 4 1 given",
           "for 1 2 3 and more",
           "for 1 2 3  step k grid same block same",
       })
    EXPECT_FALSE(parseRecipe(Text)) << Text;
}

} // namespace
