//===- unittests/report/TerminalTest.cpp - The table of text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Terminal.h"

#include "../model/HandMade.h"
#include "core/ProfileJson.h"
#include "model/Model.h"
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

static std::string shown(const Profile &P, TerminalOptions Options = {}) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printProfile(P, model::costsOf(P), OS, Options);
  return Text;
}

// Rows by slots wasted: walk loses 4 (3000 - 64000/32) = 4000 of 14000,
// alternate 4 of 11. Sorting would save 1 of 2 executions of each side of
// alternate, 4 of its 11 slots; walk was not sampled.
TEST(Terminal, Table) {
  EXPECT_EQ(shown(example()), R"(Divergence of ./alt -n 64

                                                                                     recoverable in
#  where        condition              kind       warps   split  lanes %   cost  warp  block   grid
2  rng.cuh:107  energy > cutoff &&...  loop exit  3.00k   33.3%    50/50  28.6%     -      -      -
    inlined at alt.cu:40
1  alt.cu:12    i & 1                  if-else        1  100.0%    50/50  36.4%  0.0%  36.4%  36.4%

#  kernel           launches  threads     time     CFE  potential  divergent warps
1  alternate(int*)         1       32  1.25 ms   63.6%      1.57x           100.0%
2  walk(int*)          1.00k    32.0k   2.50 s   71.4%      1.40x           100.0%
3  copy(int*)              1      128  0.00 us  100.0%      1.00x             0.0%

copy(int*): hardly diverges, nothing to gain here.

cost: share of the kernel's issue slots wasted from the branch to where its warp is whole again;
  nested branches are included, rows overlap, and come by slots wasted in the whole run. lanes %:
  into/past an if, on/out of a loop.
recoverable: what regrouping threads in a warp, block or grid would give back, before its own price;
  from 64 threads of 1 launch.
counted on the warp VM (test machine), reconvergence thread frontiers, issue costs h200; times are
  the CPU's.
)");
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
       {"alternate(int*): depends on the order. Up to 12 bytes differ in 1 of "
        "1 "
        "launch. First in launch 1: an allocation of 400 bytes, at byte 64: "
        "int 17, but 5 in order 3.\n",
        "alternate(int*): faults in 2 of 8 runs in other orders. First in "
        "launch 1, "
        "order 4: kernel alternate: trap\n",
        "walk(int*): no difference in 8 other orders of 26 launches (of "
        "1.00k).\n",
        "copy(int*): not tried.\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
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
  TerminalOptions One;
  One.MaxBranches = 1;
  std::string Text = shown(example(), One);
  EXPECT_NE(Text.find("and 1 more; the JSON file has them all\n"),
            std::string::npos);
  EXPECT_EQ(Text.find("alt.cu:12"), std::string::npos);
}

TEST(Terminal, ColorsOnlyWhenAsked) {
  TerminalOptions Colored;
  Colored.Color = true;
  EXPECT_EQ(shown(example()).find('\033'), std::string::npos);
  EXPECT_NE(shown(example(), Colored).find("\033[1;31m36.4%\033[0m"),
            std::string::npos);
}

TEST(Terminal, NothingLaunched) {
  Profile P;
  P.Program = "./alt";
  P.Backend = "vm";
  P.ExitStatus = 3;
  EXPECT_EQ(shown(P), "Divergence of ./alt\n\n"
                      "No kernel was launched.\n"
                      "counted on the warp VM; times are the CPU's.\n"
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
          "tail(int*): lanes idle in partial warps, not at "
          "branches; block sizes that are multiples of 32 fill\n  them.\n"),
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
      shown(P).find("\n    of its cost 37.5% by lanes that had returned\n"),
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
  K.Blocks[0] = {~0ull, ~0ull, 0, 0};
  std::string Text = shown(P);
  EXPECT_EQ(Text.find('\033'), std::string::npos);
  EXPECT_NE(Text.find("a[2J b \xef\xbf\xbd"), std::string::npos) << Text;
  EXPECT_NE(Text.find("...xxxxx"), std::string::npos) << Text;
}

// Whatever the reader lets through, model and table can bear.
TEST(Terminal, AnyProfileThatCanBeReadCanBePrinted) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printProfileJson(example(), {}, OS);
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
    for (const KernelCost &C : model::costsOf(*P))
      for (const BranchCost &B : C.Branches) {
        EXPECT_GE(B.Cost, 0);
        EXPECT_LE(B.Cost, 1 + 1e-9);
        EXPECT_LE(B.RecoverInGrid, B.Cost);
      }
    EXPECT_FALSE(shown(*P).empty());
  }
  EXPECT_GT(Printed, 200u);
}
