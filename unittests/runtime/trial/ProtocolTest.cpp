//===- ProtocolTest.cpp - The order of a trial ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a bench that has one page of memory and writes down what it is told.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Protocol.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;

namespace {

const char Code[] = R"(
define void @k(ptr %p) {
  store float 1.0, ptr %p
  ret void
}
define void @sum(ptr %p) {
  %was = atomicrmw fadd ptr %p, float 1.0 monotonic
  ret void
}
)";

/// The kernel sets a float; a candidate is named for what it sets it to, or
/// for how it ends.
struct FakeBench : Bench {
  FakeBench(const Function &F) : F(&F) {}

  Error takeBefore() override {
    Done += "before ";
    return NoRoom ? createStringError("no room") : Error::success();
  }
  Expected<RunEnd> runNatural() override {
    Done += "natural ";
    Memory = 1;
    RunEnd End;
    End.Asks.emplace_back().Slots = 100;
    End.How = Fails ? RunEnd::Fault : RunEnd::Well;
    End.Prints = Prints;
    End.Milliseconds = Times ? 10 * Slowness : 0;
    return End;
  }
  Error takeAfter() override {
    Done += "after ";
    return Error::success();
  }
  void runUntried() override { Done += "untried "; }
  void restoreBefore() override {
    Done += "restore ";
    Memory = 0;
  }
  RunEnd runOriginal(const RunOptions &How) override {
    RunEnd End;
    if (How.Timed) {
      Done += "time ";
      End.Milliseconds = 10 * Slowness;
      return End;
    }
    Done += "order" + std::to_string(How.Order) + " ";
    Memory = How.Order < Orders.size() ? Orders[How.Order] : 1;
    if (Memory < 0) {
      End.How = RunEnd::Fault;
      End.Why = "it fell over";
    }
    return End;
  }
  void differences(PageVisitor Visit) override {
    const float Natural = 1;
    if (Memory == Natural)
      return;
    uint8_t Then[4], Now[4];
    std::memcpy(Then, &Natural, 4);
    std::memcpy(Now, &Memory, 4);
    Visit({0x1000, 0, [] { return std::string("x"); }}, Then, Now);
  }
  uint64_t extent() const override { return 1000; }
  void restoreAfter() override { Done += "done "; }

  SmallVector<TriedCandidate *> candidates() override {
    SmallVector<TriedCandidate *> All;
    for (TriedCandidate &C : Own)
      All.push_back(&C);
    return All;
  }
  const Function &kernel() const override { return *F; }
  SpreadRule spread() const override { return Rule; }
  Error build(TriedCandidate &C) override {
    return C.What.Remedy == "none yet" ? createStringError("no code")
                                       : Error::success();
  }
  RunEnd run(TriedCandidate &C, const RunOptions &How) override {
    Done += (How.Timed ? "time " : "run ") + C.What.Remedy + " ";
    RunEnd End;
    End.Asks.emplace_back().Slots = 50;
    End.Milliseconds = (C.What.Remedy == "1.000"  ? 16
                        : C.What.Remedy == "1.0"  ? 12
                        : C.What.Remedy == "1.00" ? 9.9
                                                  : 5) *
                       Slowness;
    if (C.What.Remedy == "prints") {
      End.Prints = true;
    } else if (C.What.Remedy == "permute") {
      Memory = std::stof(C.What.Parameters.substr(5)); // of seed=
    } else if (C.What.Remedy == "fault" || C.What.Remedy == "hang") {
      End.How = C.What.Remedy == "hang" ? RunEnd::Hang : RunEnd::Fault;
      End.Why = "why";
    } else {
      Memory = std::stof(C.What.Remedy);
    }
    return End;
  }
  void goOnAfter(const RunEnd &) override { Done += "lost "; }
  std::optional<RaceFindings> findRaces() override { return Found; }
  bool canTime() const override { return Times; }

  const Function *F;
  std::vector<TriedCandidate> Own;
  std::optional<RaceFindings> Found;
  std::vector<float> Orders; ///< what the original sets in each
  SpreadRule Rule{1, /*Seeded=*/true};
  bool NoRoom = false, Fails = false, Prints = false, Times = false;
  double Slowness = 1;
  float Memory = 0;
  std::string Done;
};

class ProtocolTest : public ::testing::Test {
protected:
  ProtocolTest() {
    SMDiagnostic Problem;
    M = parseAssemblyString(Code, Problem, Context);
    EXPECT_TRUE(M) << Problem.getMessage().str();
    Bench.emplace(*function("k"));
    EXPECT_FALSE(sys::fs::createTemporaryFile("log", "txt", LogFile));
    Plan.Samples = 1;
  }
  ~ProtocolTest() override { sys::fs::remove(LogFile); }

  const Function *function(StringRef Name) { return M->getFunction(Name); }

  /// A candidate that moves threads, and a proof that they may be moved.
  void addMover(const char *Result, const char *Unit = "") {
    Bench->Own.push_back(
        {{"permute", std::string("seed=") + Result + Unit, Promise::Bytes}});
  }

  void add(const char *Name, Promise P = Promise::Bytes) {
    Bench->Own.push_back({{Name, "", P}});
  }

  /// What is logged.
  std::vector<TrialEvent> tryAll() {
    auto To = cantFail(TrialLog::open(LogFile));
    LaunchLog Log(*To, {});
    tryLaunch(*Bench, Log, Plan);
    return cantFail(readTrialLog(LogFile));
  }
  /// Times \p Better and \p Loser, which takes 1.5 ms, on a launch of 1.25 ms
  /// in 20 rounds at most. Of these there have to be \p Rounds, in each of
  /// which \p Better takes \p Milliseconds; the loser has the first six.
  void timeShort(const char *Better, const char *Loser, size_t Rounds,
                 double Milliseconds) {
    add(Better);
    add(Loser);
    Bench->Times = true;
    Bench->Slowness = 0.125;
    Plan.Samples = 20;
    const auto Events = tryAll();
    ASSERT_EQ(Events.size(), 6u);
    for (unsigned I : {4, 5})
      EXPECT_EQ(Events[I].OriginalMs, std::vector<double>(Rounds, 1.25)) << I;
    EXPECT_EQ(Events[4].VariantMs, std::vector<double>(Rounds, Milliseconds));
    EXPECT_EQ(Events[5].VariantMs, std::vector<double>(6, 1.5));
  }
  std::vector<TrialEvent::Kind> kinds(ArrayRef<TrialEvent> Events) {
    std::vector<TrialEvent::Kind> Kinds;
    for (const TrialEvent &E : Events)
      Kinds.push_back(E.What);
    return Kinds;
  }
  using Kinds = std::vector<TrialEvent::Kind>;

  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::optional<FakeBench> Bench;
  TrialPlan Plan;
  SmallString<64> LogFile;
};

TEST_F(ProtocolTest, InAHurryTheFirstThatMayBeKeptIsTimed) {
  for (const char *Name : {"2", "1.0", "1.00"})
    add(Name);
  Bench->Times = true;
  Plan.Samples = 20;
  Plan.Seconds = 0;
  Plan.IsHurried = true;
  const std::vector<TrialEvent> Events = tryAll();
  using E = TrialEvent;
  EXPECT_EQ(kinds(Events), (std::vector<E::Kind>{E::Begin, E::End, E::Begin,
                                                 E::End, E::Untried, E::Timed}))
      << "2 is wrong, and for 1.0 there is time";
  EXPECT_EQ(Events[4].Tried.Remedy, "1.00");
  EXPECT_EQ(Events[5].Tried.Remedy, "1.0");
  EXPECT_EQ(Events[5].OriginalMs.size(), 3u) << "rounds, at least";
}

TEST_F(ProtocolTest, WithoutALimitAllAreTried) {
  add("1.0");
  add("1.00");
  Bench->Times = true;
  Plan.Seconds = 0;
  EXPECT_EQ(tryAll().size(), 6u);
}

TEST_F(ProtocolTest, AProofThatFailsRefusesWhatMoves) {
  addMover("1");
  addMover("2");
  addMover("3");
  addMover("4", ";unit=block"); // another proof
  add("1");
  Bench->Times = true;
  const auto Events = tryAll();
  ASSERT_EQ(kinds(Events),
            (Kinds{TrialEvent::Begin, TrialEvent::End, TrialEvent::Begin,
                   TrialEvent::End, TrialEvent::Refused, TrialEvent::Begin,
                   TrialEvent::End, TrialEvent::Begin, TrialEvent::End,
                   TrialEvent::Timed}));
  EXPECT_EQ(Events[4].Why, "in another order of its threads its result "
                           "differs, first at byte 0 of x");
  EXPECT_EQ(Events[9].Tried.Remedy, "1") << "proofs are not timed";
}

TEST_F(ProtocolTest, ARaceCheckSaysWhatMayMove) {
  Bench->Found.emplace();
  Bench->Found->Launches = 1;
  Bench->Found->InGlobal.Otherwise = true;
  addMover("1");
  addMover("1", ";unit=block");
  auto Events = tryAll();
  ASSERT_EQ(Events.size(), 3u);
  EXPECT_EQ(Events[0].What, TrialEvent::Refused);
  EXPECT_EQ(Events[0].Why, "its threads depend on one another through memory");
  EXPECT_EQ(Events[2].What, TrialEvent::End) << "blocks are independent";
  // What could not be followed may have been there.
  Bench->Found->InGlobal.Otherwise = false;
  Bench->Found->Incomplete = true;
  Bench->Own.clear();
  addMover("1");
  Events = tryAll();
  EXPECT_EQ(Events.back().What, TrialEvent::Refused);
  EXPECT_NE(Events.back().Why.find("not all accesses"), std::string::npos);
}

TEST_F(ProtocolTest, EveryRunIsFromTheSameState) {
  add("1");
  add("2");
  Bench->Rule.Runs = 2;
  const auto Events = tryAll();
  EXPECT_EQ(Bench->Done, "before natural after restore order1 restore order2 "
                         "restore run 1 restore run 2 done ");
  EXPECT_EQ(kinds(Events), (Kinds{TrialEvent::Begin, TrialEvent::End,
                                  TrialEvent::Begin, TrialEvent::End}));
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::Identical);
  EXPECT_EQ(slotsOf(Events[1].Original), 100);
  EXPECT_EQ(slotsOf(Events[1].Variant), 50);
  EXPECT_EQ(Events[3].Compared.Kind, VerdictKind::Differs);
}

TEST_F(ProtocolTest, WhatEndsBadlyIsStruckOff) {
  add("fault");
  add("hang");
  add("none yet");
  EXPECT_EQ(kinds(tryAll()),
            (Kinds{TrialEvent::Begin, TrialEvent::Fault, TrialEvent::Begin,
                   TrialEvent::Hang, TrialEvent::Refused}));
  EXPECT_NE(Bench->Done.find("run fault lost restore run hang lost "),
            std::string::npos)
      << Bench->Done;
  for (const TriedCandidate &C : Bench->Own)
    EXPECT_TRUE(C.StruckOff) << C.What.Remedy;
  Bench->Done.clear();
  EXPECT_EQ(tryAll().size(), 5u) << "none is tried again";
}

TEST_F(ProtocolTest, LaunchesThatCannotBeTriedAreMadeOnce) {
  add("1");
  Bench->NoRoom = true;
  auto Events = tryAll();
  EXPECT_EQ(Bench->Done, "before untried ");
  ASSERT_EQ(Events.size(), 1u);
  EXPECT_EQ(Events[0].What, TrialEvent::Untried);
  EXPECT_EQ(Events[0].Why, "no room");
  // The program's own failure is its own affair.
  Bench->NoRoom = false;
  Bench->Fails = true;
  Bench->Done.clear();
  EXPECT_EQ(tryAll().size(), 1u);
  EXPECT_EQ(Bench->Done, "before natural ");
}

TEST_F(ProtocolTest, ALaunchThatPrintsIsMadeOnce) {
  add("1");
  Bench->Prints = true;
  const auto Events = tryAll();
  EXPECT_EQ(kinds(Events), Kinds{TrialEvent::Untried});
  EXPECT_EQ(Events[0].Why, "the launch cannot be run again: it prints");
  EXPECT_EQ(Bench->Done, "before natural after ");
}

TEST_F(ProtocolTest, ACandidateThatPrintsIsStruckOff) {
  add("prints");
  add("1");
  const auto Events = tryAll();
  EXPECT_EQ(kinds(Events), (Kinds{TrialEvent::Begin, TrialEvent::Fault,
                                  TrialEvent::Begin, TrialEvent::End}));
  EXPECT_EQ(Bench->Done, "before natural after restore order1 restore run "
                         "prints restore run 1 done ");
  EXPECT_EQ(Bench->Own[0].StruckOff, true);
}

TEST_F(ProtocolTest, AnOrderThatFailsLeavesNothingToTell) {
  add("1");
  Bench->Rule.Runs = 3;
  Bench->Orders = {1, -1};
  const auto Events = tryAll();
  EXPECT_EQ(Bench->Done,
            "before natural after restore order1 restore run 1 done ");
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::Unknown);
  EXPECT_EQ(Events[1].Compared.Reason,
            "the original fails in another order of its threads: it fell over");
}

/// As on a GPU: more runs of the original until the candidate lies inside.
TEST_F(ProtocolTest, ACandidateBesideTheSpreadIsGivenAnotherGo) {
  add("1.75");
  Bench->Rule = {1, /*Seeded=*/false, /*More=*/2, /*Most=*/6};
  Bench->Orders = {1, 1.5f, 1.25f, 1.25f, 1.25f, 2};
  const auto Events = tryAll();
  EXPECT_EQ(Bench->Done, "before natural after restore order1 "
                         "restore run 1.75 restore order2 restore order3 "
                         "restore run 1.75 restore order4 restore order5 "
                         "restore run 1.75 done ");
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::UpToOrder);
}

/// A few orders of a sum by atomics may all round alike.
TEST_F(ProtocolTest, ASumOfWhichAllOrdersAgreeIsGivenAnotherGo) {
  add("1.25");
  add("1.75");
  Bench->F = function("sum");
  Bench->Rule = {2, /*Seeded=*/true, /*More=*/2, /*Most=*/6};
  Bench->Orders = {1, 1, 1, 1, 1.25f};
  const auto Events = tryAll();
  EXPECT_EQ(Bench->Done, "before natural after restore order1 restore order2 "
                         "restore run 1.25 restore order3 restore order4 "
                         "restore run 1.25 restore run 1.75 restore order5 "
                         "restore order6 restore run 1.75 done ");
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::UpToOrder);
  EXPECT_EQ(Events[3].Compared.Kind, VerdictKind::Differs);
}

TEST_F(ProtocolTest, NothingThatVariesIsRunOnce) {
  add("2");
  Bench->Rule = {4, /*Seeded=*/false, /*More=*/2, /*Most=*/6};
  tryAll();
  EXPECT_EQ(Bench->Done,
            "before natural after restore order1 restore run 2 done ");
}

TEST_F(ProtocolTest, ACandidateThatLosesEachRoundIsTimedNoMore) {
  timeShort("1.00", "1.0", /*Rounds=*/20, 9.9 * 0.125);
}

TEST_F(ProtocolTest, NothingIsTimedAfterAllButOneHaveLost) {
  timeShort("1", "1.0", /*Rounds=*/6, 0.625);
}

TEST_F(ProtocolTest, ALongLaunchIsNotWastedOnALoser) {
  add("1");   // 5 ms
  add("1.0"); // 12 ms
  Bench->Times = true;
  Plan.Samples = 20;
  Plan.Seconds = 0; // no more rounds than need be
  const auto Events = tryAll();
  ASSERT_EQ(Events.size(), 6u);
  EXPECT_EQ(Events[4].OriginalMs, std::vector<double>(3, 10));
  EXPECT_EQ(Events[4].VariantMs, std::vector<double>(3, 5));
  EXPECT_EQ(Events[5].VariantMs, std::vector<double>(1, 12));
}

TEST_F(ProtocolTest, ThreeLongLaunchesTellATenth) {
  add("1.00"); // 9.9 ms
  add("1.0");  // 12 ms
  Bench->Times = true;
  Plan.Samples = 20;
  const auto Events = tryAll();
  ASSERT_EQ(Events.size(), 6u);
  EXPECT_EQ(Events[4].VariantMs, std::vector<double>(20, 9.9));
  EXPECT_EQ(Events[5].VariantMs, std::vector<double>(3, 12));
}

TEST_F(ProtocolTest, OneVeryLongRunTellsAHalf) {
  add("1.00");  // 0.99 s
  add("1.000"); // 1.6 s
  Bench->Times = true;
  Bench->Slowness = 100;
  Plan.Samples = 20;
  const auto Events = tryAll();
  ASSERT_EQ(kinds(Events),
            (Kinds{TrialEvent::Begin, TrialEvent::End, TrialEvent::Begin,
                   TrialEvent::End, TrialEvent::Timed, TrialEvent::Timed}));
  EXPECT_EQ(Events[3].Compared.Kind, VerdictKind::Identical);
  EXPECT_EQ(Events[4].Tried.Remedy, "1.000");
  EXPECT_EQ(Events[4].OriginalMs, std::vector<double>{1000});
  EXPECT_EQ(Events[4].VariantMs, std::vector<double>{1600});
  // Very long launches have no more rounds than an interval takes.
  EXPECT_EQ(Events[5].VariantMs, std::vector<double>(6, 990));

  // A second launch of that shape is not wasted on it.
  Bench->Done.clear();
  EXPECT_EQ(tryAll().size(), Events.size() + 3);
  EXPECT_EQ(Bench->Done.find("1.000"), std::string::npos) << Bench->Done;
}

} // namespace
