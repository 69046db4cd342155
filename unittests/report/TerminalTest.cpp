//===- unittests/report/TerminalTest.cpp - The table of text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Terminal.h"

#include "../model/HandMade.h"
#include "core/ProfileJson.h"
#include "model/Model.h"
#include "remedies/Table.h"
#include "report/Text.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <random>

using namespace reconverge;
using namespace reconverge::report;
using reconverge::test::HandMadeKernel;

static Profile example() {
  Profile P;
  P.Program = "./alt";
  P.Arguments = {"-n", "64"};
  P.Backend = "vm";
  P.Device = "test machine";
  P.Policy = "thread frontiers";
  P.Machine = "h200";

  HandMadeKernel H = test::alternating("alternate");
  for (BlockCounts &B : H.K.Blocks) {
    B.Warps *= 2000;
    B.Lanes *= 2000;
  }
  H.K.Branches[0] = {2000, 2000, {32000, 32000}};
  H.K.Regrouped = {1,
                   64,
                   {64, 32, 32, 64},
                   {2, 2, 2, 2},
                   {2, 2, 2, 2},
                   {2, 1, 1, 2},
                   {2, 1, 1, 2}};
  P.Kernels.push_back(H.K);

  HandMadeKernel L("walk");
  L.block(1, 1000, 32000);
  uint32_t Body = L.block(4, 3000, 64000);
  uint32_t Exit = L.block(1, 1000, 32000);
  L.branch(BranchKind::LoopExit, Body, {Exit, Body}, {Body}, 1000,
           {32000, 32000});
  L.at("/home/me/include/rng.cuh", 107, "energy > cutoff && !material.absorbs");
  L.K.Info.Branches[0].Where.push_back({"src/alt.cu", 40, 3, "walk(int*)"});
  L.K.Launches = 1000;
  L.K.Threads = 32000;
  L.K.WarpsRun = 1000;
  L.K.DivergentWarps = 1000;
  L.K.Seconds = 2.5;
  P.Kernels.push_back(L.K);

  HandMadeKernel Full("copy");
  Full.block(10, 4, 128);
  Full.K.Launches = 1;
  Full.K.Threads = 128;
  Full.K.WarpsRun = 4;
  P.Kernels.push_back(Full.K);
  return P;
}

static std::string shown(const Profile &P, TerminalOptions Options = {},
                         ViewOptions Chosen = {}) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printTerminal(viewOf(P, model::costOf(P, remedies::rules()), Chosen), OS,
                Options);
  return Text;
}

// alternate takes 2000 x 11 slots and loses 4 of 11; walk takes 14000 and loses
// 4 (3000 - 64000/32) = 4000; copy takes 40: shares are of 36040. Sorting would
// save 1 of 2 executions of each side of alternate, all that it loses; walk was
// not sampled.
TEST(Terminal, Table) {
  EXPECT_EQ(shown(example()), R"(Divergence of ./alt -n 64

                  recoverable in
 self  total  warp  block   grid  branch
22.2%  22.2%  0.0%  22.2%  22.2%  alt.cu:12  i & 1
    in alternate; 100.0% of 2.00k warps split, lanes 50/50%
    -> meld its sides: at most 22.2%
    -> regroup its threads over the grid: at most 19.8% (22.2% less about 2.4% for sorting)
11.1%  11.1%     -      -      -  rng.cuh:107  energy > cutoff && !material.absorbs
    in walk, inlined at alt.cu:40; 33.3% of 3.00k warps split, lanes on/out 50/50%
    -> not known: no threads were sampled for regrouping

kernel     launches  threads  CPU time  of run    CFE  potential  divergent warps
alternate         1       32   1.25 ms   61.0%  63.6%      1.57x           100.0%
walk          1.00k    32.0k    2.50 s   38.8%  71.4%      1.40x           100.0%
and 1 kernel with nothing to gain: 95.0% of their lanes work or more, and no branch costs 1.0%

Try meld and regroup: reconverge optimize ./alt -- -n 64

self: issue slots lost where lanes part here; total: with the branches inside.
recoverable: by regrouping, before its price. More: reconverge explain self
Counted on the CPU (test machine), priced as H200; regrouping from 64 threads.
)");
}

// A command is never broken: one that is too long for its line gets its own.
TEST(Terminal, CommandsStayWhole) {
  Profile P = example();
  P.Program = std::string(60, 'p');
  EXPECT_NE(
      shown(P, {80}).find("\nTry meld and regroup:\n  reconverge optimize " +
                          P.Program + " -- -n 64\n"),
      std::string::npos);
}

// At 80 columns the last column goes on in the next line, between words.
TEST(Terminal, NarrowLinesBreakBetweenWords) {
  Profile P = example();
  P.Kernels[1].Info.Branches[0].Condition =
      "energy > cutoff && !material.absorbs && remaining > 0";
  TerminalOptions Narrow;
  Narrow.Width = 80;
  std::string Text = shown(P, Narrow);
  EXPECT_NE(Text.find(R"(
11.1%  11.1%     -      -      -  rng.cuh:107  energy > cutoff &&
                                  !material.absorbs && remaining > 0
    in walk, inlined at alt.cu:40; 33.3% of 3.00k warps split, lanes on/out
    50/50%
)"),
            std::string::npos)
      << Text;
  EXPECT_EQ(Text.find("divergent warps"), std::string::npos);
}

// A copy of the branch in another kernel, a third of the first's size, and a
// branch inside it: one row for both copies, and an indented one.
TEST(Terminal, CopiesAreCountedAndInnerPlacesIndented) {
  HandMadeKernel H("walk<float>");
  uint32_t Entry = H.block(2, 1, 32), Outer = H.block(2, 1, 16),
           Inner = H.block(4, 1, 8), Rest = H.block(1, 1, 16),
           Join = H.block(1, 1, 32);
  H.branch(BranchKind::If, Outer, {Inner, Rest}, {Inner}, 1, {8, 8});
  H.at("a.cu", 7, "x < y");
  H.branch(BranchKind::If, Entry, {Outer, Join}, {Outer, Inner, Rest}, 1,
           {16, 16});
  H.at("a.cu", 5, "x < z");
  Profile P;
  P.Kernels = {H.K, H.K};
  P.Kernels[1].Info.Display = "walk<double>(int*)";
  std::string Text = shown(P);
  for (const char *Line :
       {"35.0%  45.0%     -      -     -  a.cu:5  x < z (2 copies)\n"
        "    in walk<float>, walk<double>; 100.0% of 2 warps split, lanes "
        "in/past 50/50%\n",
        "10.0%  10.0%     -      -     -    a.cu:7  x < y (2 copies)\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
}

TEST(Terminal, WhatWasRefusedComesFirst) {
  Profile P = example();
  P.Refused = {"app.cu:3: a texture"};
  EXPECT_NE(shown(P).find("Divergence of ./alt -n 64\n\nNot all of the program "
                          "was run. Left out:\n  app.cu:3: a texture\n\n"),
            std::string::npos)
      << shown(P);
  P.Kernels.clear();
  EXPECT_NE(shown(P).find("Nothing could be run:\n  app.cu:3: a texture\n\n"
                          "No kernel ran to its end.\n"),
            std::string::npos)
      << shown(P);
}

TEST(Terminal, OrdersAreReportedWhereTheyWereTried) {
  Profile P = example();
  EXPECT_EQ(shown(P).find("Order of blocks"), std::string::npos);
  OrderTrials &Differs = P.Kernels[0].Orders;
  Differs.Orders = 8;
  Differs.Launches = Differs.Differing = 1;
  Differs.Bytes = 12;
  Differs.FaultyRuns = 2;
  Differs.First = {1, 3, "an allocation of 400 bytes", 64, "int", "17", "5"};
  Differs.Faults = {{1, 4, "kernel alternate: trap"}};
  P.Kernels[1].Orders.Orders = 8;
  P.Kernels[1].Orders.Launches = 26;
  P.Kernels[2].Orders.Untried = 1;
  TerminalOptions Wide;
  Wide.Width = 200;
  const std::string Text = shown(P, Wide);
  for (const char *Line :
       {"alternate: depends on the order. Up to 12 bytes differ in 1 of "
        "1 "
        "launch. First in launch 1: an allocation of 400 bytes, at byte 64: "
        "int 17, but 5 in order 3.\n",
        "alternate: faults in 2 of 8 runs in other orders. First in "
        "launch 1, "
        "order 4: kernel alternate: trap\n",
        "walk: no difference in 8 other orders of 26 launches (of "
        "1.00k).\n",
        "copy: not tried.\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
}

// Only if it was asked for, and then of each kernel: from some thread blocks, with
// a drawing, where nothing fits, and where there are no vectors.
TEST(Terminal, SchedulesAreShownIfAskedFor) {
  const Profile P = example();
  RunCost Cost = model::costOf(P);
  LaunchSchedule S;
  S.Launch = 3;
  S.Shape = {{100, 10, 1}, {96, 1, 1}, 0};
  S.SampledBlocks = 50;
  S.Multiprocessors = 132;
  S.Resident = {7, OccupancyLimit::Registers};
  S.RegistersKnown = true;
  S.Times = {1500.4, 2500};
  S.LongestBlock = 300;
  S.MeanBlock = 200;
  S.Busy = 0.75;
  S.Tail = 0.1;
  Cost.Kernels[0].Schedule = S;
  S.Shape = {{1, 1, 1}, {1, 1, 1}, 0};
  S.SampledBlocks = S.Multiprocessors = 1;
  S.Resident = {0, OccupancyLimit::Shared};
  S.Drawing = {"SM 0 |0|", "SM 1 |1|"};
  Cost.Kernels[1].Schedule = S;
  auto Shown = [&] {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    printTerminal(viewOf(P, Cost), OS, {});
    return Text;
  };
  EXPECT_EQ(Shown().find("Schedule"), std::string::npos);
  Cost.HasSchedules = true;
  const std::string Text = Shown();
  const size_t From = Text.find("Schedule"), To = Text.find("\n\n", From);
  EXPECT_EQ(Text.substr(From, To - From), R"(Schedule of thread blocks
alternate: launch 3, 1.00k thread blocks of 96 threads (each taken to be as the nearest of 50 with
  block vectors); 7 thread blocks at once on each of 132 multiprocessors (limited by registers).
  BBV-weighted 1.50k cycles, scheduled 2.50k; slots are full for 75.0% of that, and some
    multiprocessor has nothing left for 10.0%; the longest thread block takes 1.5x the mean.
walk: launch 3, 1 thread block of 1 thread; no thread block fits on a multiprocessor (shared
  memory).
  BBV-weighted 1.50k cycles; the longest thread block takes 1.5x the mean.
  SM 0 |0|
  SM 1 |1|
copy: no block vectors were taken.
Cycles are latencies added up: to compare two forms of a kernel by, not a time. A slot holds one
  thread block.)");
}

TEST(Terminal, WiderLinesCutLess) {
  TerminalOptions Wide;
  Wide.Width = 120;
  std::string Text = shown(example(), Wide);
  EXPECT_NE(Text.find("energy > cutoff && !material.absorbs"),
            std::string::npos);
}

TEST(Terminal, LinesFitTheWidth) {
  for (unsigned Width : {80u, 100u, 120u, 200u}) {
    TerminalOptions Options;
    Options.Width = Width;
    std::string Text = shown(example(), Options);
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(Text).split(Lines, '\n');
    for (llvm::StringRef Line : Lines)
      EXPECT_LE(widthOf(Line), std::max(Width, 96u)) << Line.str();
  }
}

TEST(Terminal, LimitSaysHowManyAreLeftOut) {
  ViewOptions One;
  One.MaxPlaces = 1;
  std::string Text = shown(example(), {}, One);
  EXPECT_NE(Text.find("and 1 more place; the JSON file has all\n"),
            std::string::npos);
  EXPECT_EQ(Text.find("rng.cuh"), std::string::npos);
}

TEST(Terminal, ColorsOnlyWhenAsked) {
  TerminalOptions Colored;
  Colored.Color = true;
  EXPECT_EQ(shown(example()).find('\033'), std::string::npos);
  EXPECT_NE(shown(example(), Colored).find("\033[1;31m22.2%\033[0m"),
            std::string::npos);
}

TEST(Terminal, NothingLaunched) {
  Profile P;
  P.Program = "./alt";
  P.Backend = "vm";
  P.ExitStatus = 3;
  EXPECT_EQ(shown(P), "Divergence of ./alt\n\n"
                      "No kernel was launched.\n"
                      "Counted on the CPU.\n"
                      "note: the program ended with status 3; what ran before "
                      "is counted.\n");
}

// 33 threads in two warps: CFE 33/64, and no branch at all.
TEST(Terminal, PartialWarpsAreNamedWhereNoBranchIsToBlame) {
  HandMadeKernel H("tail");
  H.block(10, 2, 33, 31);
  Profile P;
  P.Kernels.push_back(H.K);
  EXPECT_NE(
      shown(P).find(
          "tail: lanes idle in partial warps, not at branches; block sizes "
          "that are multiples of 32 fill them.\n"),
      std::string::npos)
      << shown(P);
}

// The loss of the model's EarlyExit: 3 of 3.5 slots of 8 by lanes that
// returned.
TEST(Terminal, CausesOtherThanTheBranchAreNamed) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 1, 32);
  uint32_t Leave = H.block(1, 1, 16);
  uint32_t Work = H.block(6, 1, 16, 0, 16);
  H.branch(BranchKind::If, Entry, {Leave, Work}, {Leave, Work}, 1, {16, 16});
  H.at("a.cu", 3, "i & 1");
  Profile P;
  P.Kernels.push_back(H.K);
  EXPECT_NE(
      shown(P).find("\n    of its total, 37.5% by lanes that had returned\n"),
      std::string::npos)
      << shown(P);
}

TEST(Terminal, HostileTextAndNumbersStayInTheirPlace) {
  Profile P = example();
  BranchInfo &B = P.Kernels[0].Info.Branches[0];
  B.Condition = "a\033[2J\n\tb \xff";
  B.Where[0].File = std::string(300, 'x');
  KernelProfile &K = P.Kernels[2];
  K.Launches = K.Threads = K.WarpsRun = ~0ull;
  std::string Text = shown(P);
  EXPECT_EQ(Text.find('\033'), std::string::npos);
  EXPECT_NE(Text.find("a[2J b \xef\xbf\xbd"), std::string::npos) << Text;
  EXPECT_NE(Text.find("...xxxxx"), std::string::npos) << Text;
  K.Blocks[0] = {~0ull, ~0ull, 0, 0};
  EXPECT_NE(shown(P).find("No place costs 0.1% of the run.\n"),
            std::string::npos)
      << shown(P);
}

// Whatever the reader lets through, model and table can bear.
TEST(Terminal, AnyProfileThatCanBeReadCanBePrinted) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printProfileJson(example(), nullptr, OS);
  std::mt19937_64 Random(7);
  unsigned Printed = 0;
  for (unsigned I = 0; I != 2000; ++I) {
    std::string Changed = Text;
    size_t At = Changed.find_first_of("0123456789", Random() % Text.size());
    if (At == std::string::npos)
      continue;
    size_t End = Changed.find_first_not_of("0123456789.", At);
    static constexpr llvm::StringLiteral Numbers[] = {
        "0", "1", "31", "18446744073709551615", "1000000000000000", "2"};
    Changed.replace(At, End - At, Numbers[Random() % 6].str());
    llvm::Expected<Profile> P = parseProfile(Changed, "changed.json");
    if (!P) {
      llvm::consumeError(P.takeError());
      continue;
    }
    ++Printed;
    const RunCost Cost = model::costOf(*P, remedies::rules());
    for (const KernelCost &C : Cost.Kernels) {
      double Self = 0;
      for (const BranchCost &B : C.Branches) {
        EXPECT_GE(B.Cost, 0);
        EXPECT_LE(B.Cost, 1 + 1e-9);
        EXPECT_LE(B.Recover.InGrid, B.Cost);
        EXPECT_GE(B.Self, 0);
        EXPECT_LE(B.Self, B.Cost + 1e-9);
        Self += B.Self;
      }
      EXPECT_LE(Self, 1 + 1e-9);
    }
    for (const PlaceCost &Place : Cost.Places) {
      EXPECT_LE(Place.Self, Place.Cost + 1e-9);
      EXPECT_LE(Place.Cost, 1 + 1e-9);
      EXPECT_LE(Place.Recover.InGrid, Place.Cost);
    }
    EXPECT_FALSE(shown(*P).empty());
  }
  EXPECT_GT(Printed, 200u);
}
