//===- unittests/core/ProfileJsonTest.cpp - divergence.json ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/ProfileJson.h"

#include "../model/HandMade.h"
#include "core/Error.h"
#include "core/File.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace llvm;
using namespace reconverge;

static constexpr uint64_t Huge = std::numeric_limits<uint64_t>::max();

/// Every field differs from its default.
static Profile fullProfile() {
  Profile P;
  P.Program = "./alt";
  P.Arguments = {"-n", "42", "a \"quoted\" \\ one", "\u4f60\u597d"};
  P.ExitStatus = -3;
  P.Backend = "vm";
  P.Device = "test machine";
  P.Policy = "frontier";
  P.Machine = "h200";
  P.Notes = {"first", "second"};
  P.Refused = {"app.cu:3: a texture"};
  KernelProfile K = test::alternating().K;
  K.Info.Where = {{"src/alt.cu", 9, 1, "kernel(int*)"}};
  K.Info.Blocks[0].Where = {{"rng.cuh", 3, 5, "next()"},
                            {"src/alt.cu", 11, 2, "kernel(int*)"}};
  K.Info.Blocks[1].IssueSlots = 3.1;
  K.Info.Branches[0].LeavesKernel = true;
  K.Regrouped = {2,
                 64,
                 {64, 32, 32, 64},
                 {2, 2, 2, 2},
                 {2, 2, 2, 2},
                 {2, 1, 1, 2},
                 {2, 1, 1, 2}};
  K.Blocks[3] = {Huge, Huge - 7, 3, 4};
  K.Launches = Huge;
  K.Orders.Orders = 8;
  K.Orders.Launches = 3;
  K.Orders.Untried = 1;
  K.Orders.Differing = 2;
  K.Orders.Bytes = 100;
  K.Orders.FaultyRuns = 24;
  K.Orders.First = {2, 1, "an allocation of 400 bytes", 64, "int", "17", "-5"};
  K.Orders.Faults = {{3, 8, "a \"trap\""}};
  K.Races.Launches = 2;
  K.Races.OfThreads.Otherwise = true;
  K.Races.Races.push_back(
      {{RaceAccess::Write, false, {{"a.cu", 3, 5, "f"}}, {1, 0, 0}, {2, 0, 0}},
       {RaceAccess::Read, true, {{"b.cu", 4, 1, "g"}}, {0, 1, 0}, {0, 3, 0}},
       RaceSpace::Shared,
       true,
       "the shared variable 's'",
       128,
       2,
       31});
  K.Vectors.Launch = 2;
  K.Vectors.Shape = {{5, 1, 1}, {4, 2, 1}, 16};
  K.Vectors.Classes = {{1, 1, 0, 1}, {1, 0, 1, 1}};
  K.Vectors.Blocks = {{0, {0, 0, 0, 1, 0, 0, 0, 0}},
                      {3, {1, 1, 1, 1, 1, 1, 1, 1}}};
  P.Kernels.push_back(K);
  P.Kernels.push_back(test::alternating("other").K);
  P.Trace.Kernels = {{"alternating", "00ff"}, {"other", "00ff"}};
  P.Trace.Shapes = {{{5, 1, 1}, {4, 2, 1}, 16}};
  P.Trace.Launches = {{0, 0, 0}, {1, 0, 2}, {0, 0, 1}};
  P.Trace.More = 7;
  return P;
}

static std::string textOf(const Profile &P, const RunCost *Cost = nullptr) {
  std::string Text;
  raw_string_ostream OS(Text);
  printProfileJson(P, Cost, OS);
  return Text;
}

static std::string replaced(std::string Text, StringRef From, StringRef To) {
  size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

/// The message that reading \p Text gives; it is a user's error, and only one.
static std::string faultIn(StringRef Text) {
  Expected<Profile> P = parseProfile(Text, "run.json");
  if (P)
    return "";
  std::string Message;
  unsigned Count = 0;
  handleAllErrors(P.takeError(), [&](const UserError &E) {
    raw_string_ostream OS(Message);
    E.log(OS);
    EXPECT_EQ(E.exitCode(), ExitCode::UserError);
    ++Count;
  });
  EXPECT_EQ(Count, 1u);
  return Message;
}

TEST(ProfileJson, RoundTripKeepsEveryField) {
  Profile P = fullProfile();
  std::string Text = textOf(P);
  Expected<Profile> Q = parseProfile(Text, "run.json");
  ASSERT_TRUE(bool(Q)) << toString(Q.takeError());
  EXPECT_EQ(textOf(*Q), Text);
  EXPECT_EQ(Q->Arguments, P.Arguments);
  EXPECT_EQ(Q->ExitStatus, -3);
  EXPECT_EQ(Q->Notes, P.Notes);
  EXPECT_EQ(Q->Refused, P.Refused);
  ASSERT_EQ(Q->Kernels.size(), 2u);
  const KernelProfile &K = Q->Kernels[0];
  EXPECT_EQ(K.Launches, Huge) << "64-bit counts survive";
  EXPECT_EQ(K.Blocks[3].Warps, Huge);
  EXPECT_EQ(K.Blocks[3].Lanes, Huge - 7);
  EXPECT_EQ(K.Blocks[3].PartialIdle, 3u);
  EXPECT_EQ(K.Blocks[3].ExitedIdle, 4u);
  EXPECT_EQ(K.Seconds, 0.00125);
  EXPECT_EQ(K.Info.Blocks[1].IssueSlots, 3.1) << "to the last bit";
  EXPECT_EQ(K.Info.Blocks[0].Where.size(), 2u);
  EXPECT_EQ(K.Info.Blocks[0].Where[0].Function, "next()");
  EXPECT_EQ(K.Shapes, P.Kernels[0].Shapes);
  EXPECT_EQ(K.Info.Branches[0].Kind, BranchKind::IfElse);
  EXPECT_TRUE(K.Info.Branches[0].LeavesKernel);
  EXPECT_EQ(K.Info.Branches[0].Region, std::vector<uint32_t>({1, 2}));
  EXPECT_EQ(K.Branches[0].LanesTo, std::vector<uint64_t>({16, 16}));
  EXPECT_EQ(K.Regrouped.InBlock, P.Kernels[0].Regrouped.InBlock);
  ASSERT_TRUE(K.Orders.First.has_value());
  EXPECT_EQ(K.Orders.First->Offset, 64u);
  EXPECT_EQ(K.Orders.First->Other, "-5");
  ASSERT_EQ(K.Orders.Faults.size(), 1u);
  EXPECT_EQ(K.Orders.Faults[0].Message, "a \"trap\"");
  ASSERT_EQ(K.Races.Races.size(), 1u);
  const Race &R = K.Races.Races.front();
  EXPECT_EQ(textOf(R, [](const std::string &Path) { return Path; }),
            "write at a.cu:3 by thread (2,0,0) of block (1,0,0), and volatile "
            "read at b.cu:4 by thread (0,3,0) of block (0,1,0): shared memory, "
            "byte 128 of the shared variable 's', the same value");
  EXPECT_EQ(R.Launch, 2u);
  EXPECT_TRUE(K.Races.OfThreads.Otherwise && !K.Races.OfThreads.ByAtomics);
  EXPECT_EQ(Q->Kernels[1].Races.Launches, 0u) << "nor looks for races";
  EXPECT_EQ(Q->Kernels[1].Orders.Orders, 0u) << "not every run tries orders";
  const ThreadVectors &V = K.Vectors, &Had = P.Kernels[0].Vectors;
  EXPECT_EQ(V.Launch, 2u);
  EXPECT_EQ(V.Shape, Had.Shape);
  EXPECT_EQ(V.Classes, Had.Classes);
  ASSERT_EQ(V.Blocks.size(), 2u);
  EXPECT_EQ(V.Blocks[1].Number, 3u);
  EXPECT_EQ(V.Blocks[0].ClassOf, Had.Blocks[0].ClassOf);
  EXPECT_EQ(Q->Kernels[1].Vectors.Launch, 0u) << "nor samples vectors";
  EXPECT_EQ(Q->Trace.Kernels, P.Trace.Kernels);
  EXPECT_EQ(Q->Trace.Shapes, P.Trace.Shapes);
  EXPECT_EQ(Q->Trace.Launches, P.Trace.Launches);
  EXPECT_EQ(Q->Trace.More, 7u);
}

TEST(ProfileJson, CostsAreWrittenAndIgnoredOnReading) {
  Profile P = fullProfile();
  RunCost Cost;
  Cost.Kernels.resize(2);
  Cost.Kernels[0].Branches.resize(1);
  Cost.Kernels[0].Branches[0].Cost = 0.25;
  Cost.Kernels[0].Branches[0].Self = 0.125;
  Cost.Places.resize(1);
  Cost.Places[0].Branches = {{0, 1}};
  Cost.Places[0].Outer = 7;
  Cost.Places[0].Remedies = {{{"sort", "sort"}, 0.5, 0.25}};
  std::string Text = textOf(P, &Cost);
  for (const char *Written :
       {R"("cost":0.25,)", R"("self":0.125,)", R"("outer":7,)",
        R"("branches":[{"kernel":0,"branch":1}])",
        R"("remedies":[{"remedy":"sort","gain":0.5,"price":0.25}])"})
    EXPECT_NE(Text.find(Written), std::string::npos) << Written;
  Expected<Profile> Q = parseProfile(Text, "run.json");
  ASSERT_TRUE(bool(Q)) << toString(Q.takeError());
  // A report is for people: no block vectors, no trace.
  P.Kernels[0].Vectors = {};
  P.Trace = {};
  EXPECT_EQ(textOf(*Q), textOf(P));
}

TEST(ProfileJson, BytesThatAreNoUtf8AreReplaced) {
  Profile P;
  P.Program = "a\xff"
              "b";
  Expected<Profile> Q = parseProfile(textOf(P), "run.json");
  ASSERT_TRUE(bool(Q)) << toString(Q.takeError());
  EXPECT_EQ(Q->Program, "a\xef\xbf\xbd"
                        "b");
}

TEST(ProfileJson, SyntaxErrorGivesLineAndColumn) {
  std::string Fault = faultIn("{\n \"schema\": ]\n}");
  EXPECT_EQ(StringRef(Fault).take_front(28).str(),
            "run.json:2:12: not valid JSO");
  EXPECT_NE(Fault.find("profile the program again"), std::string::npos);
}

TEST(ProfileJson, NamesThePlaceOfAWrongValue) {
  std::string Text = textOf(fullProfile());
  struct {
    StringRef From, To, Fault;
  } Cases[] = {
      {"\"id\":0", "\"id\":-1",
       "expected a whole number that is not negative at "
       "(root).kernels[0].blocks[0].id"},
      {"\"id\":0", "\"id\":4294967296",
       "number too large at (root).kernels[0].blocks[0].id"},
      {"\"id\":0", "\"id\":0.5",
       "expected a whole number that is not negative at "
       "(root).kernels[0].blocks[0].id"},
      {"\"latency\":8", "\"latency\":-8",
       "expected a number that is not negative at "
       "(root).kernels[0].blocks[0].latency"},
      {"\"latency\":8", "\"latency\":1e300",
       "number too large at (root).kernels[0].blocks[0].latency"},
      {"\"latency\":8", "\"latenzy\":8",
       "missing value at (root).kernels[0].blocks[0].latency"},
      {"\"lanes\":32", "\"lanes\":33",
       "block has more lanes than its warps at (root).kernels[0].blocks[0]"},
      {"\"partialIdle\":0", "\"partialIdle\":1",
       "block has more lanes and idle lanes than its warps at "
       "(root).kernels[0].blocks[0]"},
      {"\"kind\":\"if-else\"", "\"kind\":\"unless\"",
       "expected if, if-else, loop exit or switch at "
       "(root).kernels[0].branches[0].kind"},
      {"\"runs\":[1,8]", "\"runs\":[1,7]",
       "not as many threads as a thread block has at "
       "(root).kernels[0].vectors"},
      {"\"runs\":[1,8]", "\"runs\":[2,8]",
       "a thread is of a class that is not listed at "
       "(root).kernels[0].vectors"},
      {"\"runs\":[1,8]", "\"runs\":[1,8,1]",
       "expected pairs of a class and a number of threads at "
       "(root).kernels[0].vectors.blocks[1].runs"},
      {"\"number\":3", "\"number\":5",
       "thread blocks are not in ascending order within the grid at "
       "(root).kernels[0].vectors"},
      {"\"counts\":[1,0,1,1]", "\"counts\":[1,0,1]",
       "a class is not parallel to the blocks at (root).kernels[0].vectors"},
      {"[0,0,0,1,0,2,0,0,1]", "[0,0,0,1,0,2,2,0,1]",
       "expected a listed kernel, a listed shape and a stream for each launch "
       "at (root).trace.launches"},
      {"\"region\":[1,2]", "\"region\":[1,4]",
       "region has a block that is not listed at "
       "(root).kernels[0].branches[0]"},
      {"\"region\":[1,2]", "\"region\":[2,1]",
       "region is not in ascending order at (root).kernels[0].branches[0]"},
      {"\"successors\":[1,2]", "\"successors\":[1,9]",
       "branch leads to a block that is not listed at "
       "(root).kernels[0].branches[0]"},
      {"\"successors\":[1,2]", "\"successors\":[1]",
       "lanesTo and successors differ in length at "
       "(root).kernels[0].branches[0]"},
      {"\"lanesTo\":[16,16]", "\"lanesTo\":[16,17]",
       "branch has more lanes than its warps at "
       "(root).kernels[0].branches[0]"},
      {"\"splits\":1", "\"splits\":2",
       "branch split more warps than reached it at "
       "(root).kernels[0].branches[0]"},
      {"\"block\":0", "\"block\":4",
       "branch lies in a block that is not listed at "
       "(root).kernels[0].branches[0]"},
      {"\"warpSize\": 32", "\"warpSize\": 33",
       "expected 32 or 64 at (root).kernels[0].warpSize"},
      {"\"inBlock\": [2,1,1,2]", "\"inBlock\": [2,1,1]",
       "list is not parallel to the blocks at (root).kernels[0].regrouped"},
      {"\"inBlock\": [2,1,1,2]", "\"inBlock\": [2,0,1,2]",
       "block has more lanes than its warps at (root).kernels[0].regrouped"},
      {"\"grid\":[1,1,1]", "\"grid\":[1,0,1]",
       "expected three sizes of at least 1 at "
       "(root).kernels[0].shapes[0].grid"},
      {"\"divergentWarps\": 1", "\"divergentWarps\": 2",
       "more divergent warps than warps at (root).kernels[0].divergentWarps"},
      {"\"faultyRuns\": 24", "\"faultyRuns\": 25",
       "more findings than runs at (root).kernels[0].orders"},
      {"\"differing\": 2", "\"differing\": 4",
       "more findings than runs at (root).kernels[0].orders"},
      {"\"differing\": 2", "\"differing\": 0",
       "launches differ in no byte, or bytes in no launch at "
       "(root).kernels[0].orders"},
      {"\"faultyRuns\": 24", "\"faultyRuns\": 0",
       "not as many faults as runs that faulted at (root).kernels[0].orders"},
      {"\"launch\":3,\"order\":8", "\"launch\":3,\"order\":9",
       "a fault is in no run at (root).kernels[0].orders"},
      {"\"launch\":2,\"order\":1", "\"launch\":0,\"order\":1",
       "the first difference is in no run at (root).kernels[0].orders"},
      {"\"tried\": 8", "\"tried\": 0",
       "launches tried in no order at (root).kernels[0].orders"},
      {"\"program\"", "\"programme\"", "missing value at (root).program"},
  };
  for (const auto &C : Cases)
    EXPECT_EQ(StringRef(faultIn(replaced(Text, C.From, C.To)))
                  .split('\n')
                  .first.str(),
              ("run.json: " + C.Fault).str())
        << C.From.str() << " -> " << C.To.str();
}

TEST(ProfileJson, UnknownVersionSaysWhichIsKnown) {
  std::string Fault =
      faultIn(replaced(textOf(Profile()), "divergence/1", "divergence/2"));
  EXPECT_EQ(Fault,
            "run.json: schema \"reconverge-divergence/2\" is not known\n"
            "  This version reads \"reconverge-divergence/1\"; make the file "
            "again, or use the version that wrote it.");
}

TEST(ProfileJson, OtherFilesAreRefused) {
  EXPECT_NE(faultIn("").find("the file is empty"), std::string::npos);
  EXPECT_NE(faultIn("[]").find("it has no \"schema\""), std::string::npos);
  EXPECT_NE(faultIn("{\"schema\": 1}").find("it has no \"schema\""),
            std::string::npos);
  EXPECT_NE(faultIn(std::string(1 << 20, '[')).find("nested too deeply"),
            std::string::npos);
}

/// A change that a bad disk, an editor or a careless script might make.
static std::string mutated(std::string Text, std::mt19937_64 &Random) {
  auto Pick = [&](size_t Bound) { return size_t(Random() % Bound); };
  static constexpr StringLiteral Numbers[] = {"-1",
                                              "1e400",
                                              "18446744073709551616",
                                              "0.5",
                                              "4294967295",
                                              "null",
                                              "true",
                                              "-9223372036854775809",
                                              "[]",
                                              "\"1\"",
                                              "{}",
                                              "18446744073709551615",
                                              "1e15",
                                              "64"};
  size_t At = Pick(Text.size());
  switch (Pick(6)) {
  case 0: // a bit
    Text[At] = char(Text[At] ^ (1 << Pick(8)));
    break;
  case 1: // a piece is missing
    Text.erase(At, 1 + Pick(40));
    break;
  case 2: // the end is missing
    Text.resize(At);
    break;
  case 3: // a piece is there twice
    Text.insert(At, Text.substr(Pick(Text.size()), 1 + Pick(60)));
    break;
  default: { // another number
    At = Text.find_first_of("0123456789", At);
    if (At == std::string::npos)
      break;
    size_t End = Text.find_first_not_of("0123456789.", At);
    StringRef New = Numbers[Pick(std::size(Numbers))];
    Text.replace(At, End - At, New.str());
  }
  }
  return Text;
}

TEST(ProfileJson, MutationsGiveAProfileOrOneError) {
  std::string Text = textOf(fullProfile());
  std::mt19937_64 Random(20260729);
  unsigned Refused = 0;
  for (unsigned I = 0; I != 1000; ++I) {
    std::string Broken = mutated(Text, Random);
    std::string Fault = faultIn(Broken);
    if (!Fault.empty()) {
      ++Refused;
      EXPECT_TRUE(StringRef(Fault).starts_with("run.json")) << Fault;
      EXPECT_NE(Fault.find("\n  This "), std::string::npos)
          << "what to do is missing: " << Fault;
      continue;
    }
    Expected<Profile> P = parseProfile(Broken, "run.json");
    ASSERT_TRUE(bool(P)) << toString(P.takeError());
    Expected<Profile> Again = parseProfile(textOf(*P), "again.json");
    EXPECT_TRUE(bool(Again)) << toString(Again.takeError());
  }
  EXPECT_GT(Refused, 500u);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
class ProfileFile : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("reconverge-json", Folder));
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }
  std::string path(StringRef Name) const {
    SmallString<128> Path = Folder;
    sys::path::append(Path, Name);
    return Path.str().str();
  }
  unsigned files() const {
    std::error_code EC;
    unsigned Count = 0;
    for (sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC;
         I.increment(EC))
      ++Count;
    return Count;
  }
  static std::string message(Error E) { return toString(std::move(E)); }
  SmallString<128> Folder;
};
} // namespace

TEST_F(ProfileFile, WrittenInOneStepAndReadBack) {
  Profile P = fullProfile();
  ASSERT_EQ(message(writeProfile(Profile(), path("a.json"))), "");
  ASSERT_EQ(message(writeProfile(P, path("a.json"))), "");
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
  Expected<Profile> Q = readProfile(path("a.json"));
  ASSERT_TRUE(bool(Q)) << toString(Q.takeError());
  EXPECT_EQ(textOf(*Q), textOf(P));
}

TEST_F(ProfileFile, ErrorsNameTheFile) {
  Error E = writeProfile(Profile(), path("no/such/folder.json"));
  EXPECT_NE(message(std::move(E)).find("folder.json': No such file"),
            std::string::npos);
  E = writeProfile(Profile(), Folder);
  EXPECT_NE(message(std::move(E)).find("Is a directory"), std::string::npos);
  Expected<Profile> Q = readProfile(path("missing.json"));
  ASSERT_FALSE(bool(Q));
  EXPECT_NE(toString(Q.takeError()).find("missing.json': No such file"),
            std::string::npos);
  Q = readProfile(Folder);
  ASSERT_FALSE(bool(Q));
  EXPECT_NE(toString(Q.takeError()).find("it is a directory"),
            std::string::npos);
}

TEST_F(ProfileFile, FullDiskIsAnErrorNotAnAbort) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full on this system";
  std::string Message = message(writeProfile(fullProfile(), "/dev/full"));
  EXPECT_NE(Message.find("No space left"), std::string::npos) << Message;
}
