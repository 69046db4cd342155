//===- unittests/launch/ExecuteTest.cpp - Launching by a recipe -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a place that writes down what it is asked for.
//
//===----------------------------------------------------------------------===//

#include "launch/Execute.h"

#include <gtest/gtest.h>

#include <string>

using namespace reconverge;
using namespace reconverge::launch;

namespace {

class Notes : public Place {
public:
  void *allocate(uint64_t Bytes, bool Zeroed) override {
    Text += "+" + std::to_string(Bytes) + (Zeroed ? "z " : " ");
    if (Allocations == MostAllocations)
      return nullptr;
    return &Memory[Allocations++];
  }
  void release(void *Scratch) override {
    Text += "-" + std::to_string(static_cast<char *>(Scratch) - Memory) + " ";
  }
  uint64_t resident(const RecipeStep &, uint64_t BlockThreads,
                    uint64_t DynamicShared) override {
    return BlockThreads == 128 && DynamicShared == 16 ? 264 : 0;
  }
  std::optional<MemoryRange> rangeOf(uint64_t Address) override {
    for (const MemoryRange &R : Known)
      if (Address >= R.Begin && Address < R.End)
        return R;
    return std::nullopt;
  }
  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override {
    Text += Step.Kernel + "<" + sizes(Shape.Grid) + "," + sizes(Shape.Block) +
            "," + std::to_string(Shape.DynamicShared) + ">(";
    for (size_t I = 0; I != Step.Arguments.size(); ++I) {
      uint64_t Value = *static_cast<uint64_t *>(Args[I]);
      const uint64_t At = Value - reinterpret_cast<uint64_t>(&Memory[0]);
      Text += (I ? " " : "") +
              (At < 8 ? "m" + std::to_string(At) : std::to_string(Value));
    }
    Text += ") ";
    return Step.Kernel != Failing;
  }
  bool fork() override {
    Text += "fork ";
    return HasSide;
  }
  void beside() override { Text += "beside "; }
  void join() override { Text += "join "; }
  const char *address(unsigned Number) const { return &Memory[Number]; }
  std::string Text, Failing;
  bool HasSide = true;
  unsigned MostAllocations = 8, Allocations = 0;
  std::vector<MemoryRange> Known;

private:
  static std::string sizes(const std::array<uint32_t, 3> &S) {
    return std::to_string(S[0]) + "x" + std::to_string(S[1]) + "x" +
           std::to_string(S[2]);
  }
  char Memory[8];
};

LaunchShape shape(std::array<uint32_t, 3> Grid, std::array<uint32_t, 3> Block) {
  LaunchShape S;
  S.Grid = Grid;
  S.Block = Block;
  S.DynamicShared = 16;
  return S;
}

/// Fills an index, and runs the kernel by it.
Recipe permuted() {
  Recipe R;
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, false},
               {{LaunchAmount::Blocks, 0, 1}, true}};
  RecipeStep Fill;
  Fill.Kernel = "fill";
  Fill.Helper = true;
  Fill.Grid = {false, {LaunchAmount::Threads, 1, 256}};
  Fill.Block = {false, {LaunchAmount::One, 256, 1}};
  Fill.DynamicShared = false;
  Fill.Arguments = {{RecipeArgument::Scratch, 0},
                    {RecipeArgument::Amount, 0, {LaunchAmount::Threads}}};
  RecipeStep Main;
  Main.Kernel = "main";
  Main.Grid = {false, {LaunchAmount::Blocks, 1, 2}};
  Main.Arguments = {{RecipeArgument::Program, 1},
                    {RecipeArgument::Scratch, 1},
                    {RecipeArgument::Dimension, 4}};
  R.Steps = {Fill, Main};
  return R;
}

struct Execute : testing::Test {
  Ended run(const Recipe &R, const LaunchShape &Shape,
            const Steps &Which = {}) {
    uint64_t First = 111, Second = 222;
    void *Args[] = {&First, &Second};
    return execute(R, Shape, Args, On, Which);
  }
  Notes On;
};

TEST_F(Execute, TakesScratchLaunchesAndGivesBack) {
  EXPECT_EQ(run(permuted(), shape({3, 5, 1}, {7, 11, 1})), Ended::Done);
  // 15 blocks of 77 threads are 1155.
  EXPECT_EQ(On.Text, "+4620 +4z "
                     "fill<5x1x1,256x1x1,0>(m0 1155) "
                     "main<8x1x1,7x11x1,16>(222 m1 11) "
                     "-1 -0 ");
}

TEST_F(Execute, ReusesWhatAnEarlierLaunchMade) {
  Recipe R = permuted();
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, false, /*Kept=*/true},
               {{LaunchAmount::One, 8, 1}},
               {{LaunchAmount::One, 4, 1}, false, /*Kept=*/true}};
  R.Reuse = {2, {}};
  R.Steps[0].When = RecipeStep::Making;
  RecipeStep Probe = R.Steps[0];
  Probe.Kernel = "probe";
  Probe.When = RecipeStep::Probing;
  Probe.Arguments = {{RecipeArgument::Scratch, 2}};
  R.Steps.insert(R.Steps.begin() + 1, Probe);
  const LaunchShape Shape = shape({2, 1, 1}, {32, 1, 1});
  std::vector<void *> Kept(3);
  // What nobody uses is not taken, and what is kept is not given back.
  EXPECT_EQ(run(R, Shape, {.Kept = &Kept}), Ended::Done);
  EXPECT_EQ(On.Text, "+256 +8 fill<1x1x1,256x1x1,0>(m0 64) "
                     "main<1x1x1,32x1x1,16>(222 m1 1) -1 ");
  On.Text.clear();
  EXPECT_EQ(run(R, Shape, {.Making = false, .Kept = &Kept}), Ended::Done);
  EXPECT_EQ(On.Text, "+8 main<1x1x1,32x1x1,16>(222 m2 1) -2 ");
  On.Text.clear();
  EXPECT_EQ(run(R, Shape, {.Making = false, .Probing = true, .Kept = &Kept}),
            Ended::Done);
  EXPECT_EQ(On.Text, "+8 +4 probe<1x1x1,256x1x1,0>(m4) "
                     "main<1x1x1,32x1x1,16>(222 m3 1) -3 ");
  EXPECT_DOUBLE_EQ(R.shareOf(R.Steps[0]), 0.1);
  EXPECT_DOUBLE_EQ(R.shareOf(R.Steps[2]), 1);
  // Nowhere to keep it: it is made and given back.
  On.Text.clear();
  EXPECT_EQ(run(R, Shape), Ended::Done);
  EXPECT_EQ(On.Text, "+256 +8 fill<1x1x1,256x1x1,0>(m5 64) "
                     "main<1x1x1,32x1x1,16>(222 m6 1) -6 -5 ");
}

/// Its order is of what its first argument leads to.
Recipe followed() {
  Recipe R = permuted();
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, false, /*Kept=*/true},
               {{LaunchAmount::One, 8, 1}}};
  R.Ahead.emplace().Sizes = {8, 8};
  R.Ahead->Parts = {{{0, 0}, 8, true}};
  R.Ahead->Loaded = {{{0, 0}, 16}};
  R.Steps[0].When = RecipeStep::Making;
  R.Steps[0].Arguments = {{RecipeArgument::Program, 0},
                          {RecipeArgument::Scratch, 0},
                          {RecipeArgument::OfRange, 0},
                          {RecipeArgument::OfRange, 1}};
  return R;
}

struct ExecuteAhead : Execute {
  Ended run(uint64_t Next, bool Making = true) {
    uint64_t Second = 333;
    void *Args[] = {&Next, &Second};
    Ahead.Args = Args;
    Ahead.Kept = &KeptOfNext;
    Ahead.Done = false;
    return Execute::run(followed(), shape({2, 1, 1}, {32, 1, 1}),
                        {.Making = Making, .Next = &Ahead, .Kept = &Kept});
  }
  std::vector<void *> Kept = std::vector<void *>(2), KeptOfNext = Kept;
  Foretelling Ahead;
};

TEST_F(ExecuteAhead, MakesWhatTheNextWillUse) {
  // This launch's may read anywhere, the next one's where this one's leads to.
  On.Known = {{100, 200}};
  EXPECT_EQ(run(150), Ended::Done);
  EXPECT_TRUE(Ahead.Done);
  EXPECT_EQ(On.Text, "fork +256 +8 "
                     "fill<1x1x1,256x1x1,0>(111 m0 0 18446744073709551615) "
                     "main<1x1x1,32x1x1,16>(222 m1 1) -1 "
                     "beside +256 "
                     "fill<1x1x1,256x1x1,0>(150 m2 100 200) join ");
  std::swap(Kept, KeptOfNext);
  On.Text.clear();
  EXPECT_EQ(run(190, /*Making=*/false), Ended::Done);
  EXPECT_TRUE(Ahead.Done);
  EXPECT_EQ(On.Text, "fork +8 main<1x1x1,32x1x1,16>(222 m3 1) -3 "
                     "beside fill<1x1x1,256x1x1,0>(190 m0 100 200) join ");
}

TEST_F(ExecuteAhead, MakesNothingOfWhatMayNotBeRead) {
  const auto isMade = [&](uint64_t Next, MemoryRange In) {
    On.Allocations = 0;
    On.Known = {In};
    EXPECT_EQ(run(Next), Ended::Done);
    EXPECT_NE(On.Text.find("main<"), std::string::npos);
    return Ahead.Done;
  };
  EXPECT_TRUE(isMade(150, {100, 200}));
  EXPECT_FALSE(isMade(200, {100, 200}));
  EXPECT_FALSE(isMade(99, {100, 200}));
  EXPECT_FALSE(isMade(150, {500, 600})); // nobody knows where 111 leads to
  EXPECT_FALSE(isMade(112, {110, 120})); // its loads are 16 bytes apart
}

TEST_F(ExecuteAhead, MakesNothingWhereNothingRunsBeside) {
  On.Known = {{100, 200}};
  On.HasSide = false;
  EXPECT_EQ(run(150), Ended::Done);
  EXPECT_FALSE(Ahead.Done);
  EXPECT_EQ(On.Text.find("beside"), std::string::npos);
}

TEST_F(ExecuteAhead, JoinsAfterAFailure) {
  On.Known = {{100, 200}};
  On.Failing = "fill";
  EXPECT_EQ(run(150), Ended::Original);
  EXPECT_FALSE(Ahead.Done);
  EXPECT_EQ(On.Text.substr(On.Text.size() - 12), "beside join ");
  On.Failing = "main"; // of a launch that is ready
  EXPECT_EQ(run(150, /*Making=*/false), Ended::Original);
  EXPECT_EQ(On.Text.substr(On.Text.size() - 12), "beside join ");
}

TEST_F(Execute, LaunchesOtherwiseByWhatAnEarlierOneMade) {
  Recipe R = permuted();
  R.Scratch = {{{LaunchAmount::Threads, 4, 1}, false, /*Kept=*/true},
               {{LaunchAmount::One, 8, 1}}};
  R.Reuse.emplace().Renewed = true;
  R.Steps[0].When = RecipeStep::Making;
  R.Steps[1].When = RecipeStep::Reusing;
  ASSERT_TRUE(R.servesLater());
  const LaunchShape Shape = shape({2, 1, 1}, {32, 1, 1});
  // Nowhere to keep it: it would be made for nothing.
  EXPECT_EQ(run(R, Shape), Ended::Original);
  EXPECT_EQ(On.Text, "");
  std::vector<void *> Kept(2);
  EXPECT_EQ(run(R, Shape, {.Kept = &Kept}), Ended::Done);
  EXPECT_EQ(On.Text, "+256 fill<1x1x1,256x1x1,0>(m0 64) ");
  On.Text.clear();
  EXPECT_EQ(run(R, Shape, {.Making = false, .Kept = &Kept}), Ended::Done);
  EXPECT_EQ(On.Text, "+8 main<1x1x1,32x1x1,16>(222 m1 1) -1 ");
}

TEST_F(Execute, RunsByAnOrderOnlyIfOneIsGiven) {
  Recipe R = permuted();
  R.Steps.erase(R.Steps.begin()); // what would make it
  R.Scratch[1] = {.Bytes = {LaunchAmount::Threads, 4, 1}, .Given = true};
  const LaunchShape Shape = shape({2, 1, 1}, {32, 1, 1});
  EXPECT_EQ(run(R, Shape), Ended::Original);
  std::vector<void *> Given(R.Scratch.size());
  EXPECT_EQ(run(R, Shape, {.Kept = &Given}), Ended::Original);
  EXPECT_EQ(On.Text, "");
  int Order = 0;
  Given[1] = &Order;
  EXPECT_EQ(run(R, Shape, {.Kept = &Given}), Ended::Done);
  EXPECT_EQ(Given[1], &Order); // it stays
  EXPECT_EQ(On.Text.find_first_of("+-"), std::string::npos) << On.Text;
  EXPECT_EQ(On.Text.find("main<"), 0u) << On.Text;
}

TEST_F(Execute, TakesScratchInWholeWords) {
  // Of 200 threads every 32nd: 7, and 4 bytes for each; 4 * 200 / 32 are 25.
  Recipe R = permuted();
  R.Scratch[0].Bytes = {LaunchAmount::Threads, 4, 32};
  EXPECT_EQ(run(R, shape({2, 1, 1}, {100, 1, 1})), Ended::Done);
  EXPECT_EQ(On.Text.substr(0, 4), "+28 ");
}

TEST_F(Execute, LeavesAnEmptyLaunchToTheOriginal) {
  EXPECT_EQ(run(permuted(), shape({0, 1, 1}, {32, 1, 1})), Ended::Original);
  EXPECT_EQ(On.Text, "");
}

TEST_F(Execute, LeavesWhatItIsNotForToTheOriginal) {
  Recipe R = permuted();
  R.LeastThreads = 100;
  R.MostThreads = 200;
  R.MostBlockThreads = 64;
  EXPECT_EQ(run(R, shape({1, 1, 1}, {99, 1, 1})), Ended::Original);
  EXPECT_EQ(run(R, shape({201, 1, 1}, {1, 1, 1})), Ended::Original);
  EXPECT_EQ(run(R, shape({1, 1, 1}, {128, 1, 1})), Ended::Original);
  LaunchShape Together = shape({4, 1, 1}, {32, 1, 1});
  Together.Cooperative = true;
  EXPECT_EQ(run(R, Together), Ended::Original);
  EXPECT_EQ(On.Text, "");
  EXPECT_EQ(run(R, shape({4, 1, 1}, {32, 1, 1})), Ended::Done);
}

TEST_F(Execute, LeavesOtherDimensionsToTheOriginal) {
  Recipe R = permuted();
  R.OneDimension = true;
  EXPECT_EQ(run(R, shape({4, 2, 1}, {32, 1, 1})), Ended::Original);
  EXPECT_EQ(run(R, shape({4, 1, 2}, {32, 1, 1})), Ended::Original);
  EXPECT_EQ(run(R, shape({4, 1, 1}, {16, 2, 1})), Ended::Original);
  EXPECT_EQ(run(R, shape({4, 1, 1}, {16, 1, 2})), Ended::Original);
  EXPECT_EQ(On.Text, "");
  EXPECT_EQ(run(R, shape({4, 1, 1}, {32, 1, 1})), Ended::Done);
}

TEST_F(Execute, LeavesAPlainRecipeToTheOriginal) {
  EXPECT_EQ(run(Recipe(), shape({1, 1, 1}, {32, 1, 1})), Ended::Original);
}

TEST_F(Execute, TakesTheOriginalWhereThereIsNoMemory) {
  On.MostAllocations = 1;
  EXPECT_EQ(run(permuted(), shape({1, 1, 1}, {32, 1, 1})), Ended::Original);
  EXPECT_EQ(On.Text, "+128 +4z -0 ");
}

TEST_F(Execute, TakesTheOriginalAfterHelpersAlone) {
  On.Failing = "main";
  EXPECT_EQ(run(permuted(), shape({1, 1, 1}, {32, 1, 1})), Ended::Original);
  On.Failing = "fill";
  EXPECT_EQ(run(permuted(), shape({1, 1, 1}, {32, 1, 1})), Ended::Original);
  Recipe R = permuted();
  R.Steps.push_back(R.Steps.back());
  R.Steps.back().Kernel = "again";
  On.Failing = "again";
  EXPECT_EQ(run(R, shape({1, 1, 1}, {32, 1, 1})), Ended::Failed);
}

TEST_F(Execute, FillsTheDevice) {
  Recipe R = permuted();
  RecipeStep &Main = R.Steps.back();
  Main.Grid = {false, {LaunchAmount::Resident, 1, 1}};
  Main.Block = {false, {LaunchAmount::One, 128, 1}};
  Main.Arguments = {{RecipeArgument::Amount, 0, {LaunchAmount::Resident}}};
  EXPECT_EQ(run(R, shape({9, 1, 1}, {32, 1, 1})), Ended::Done);
  EXPECT_NE(On.Text.find("main<264x1x1,128x1x1,16>(264)"), std::string::npos)
      << On.Text;
  // Nobody can say how many blocks that is.
  Main.Block = {false, {LaunchAmount::One, 64, 1}};
  EXPECT_EQ(run(R, shape({9, 1, 1}, {32, 1, 1})), Ended::Original);
}

TEST_F(Execute, FillsTheDeviceWithNoMoreThanThereIs) {
  Recipe R = permuted();
  RecipeStep &Main = R.Steps.back();
  Main.Block = {false, {LaunchAmount::One, 128, 1}};
  Main.Grid = {false,
               {LaunchAmount::Resident, 1, 1},
               LaunchAmount{LaunchAmount::Threads, 1, 256}};
  Main.Arguments = {{RecipeArgument::Amount, 0, {LaunchAmount::Resident}}};
  for (auto [Blocks, Launched] : {std::pair(9u, "2"),
                                  {263u * 8, "263"},
                                  {264u * 8, "264"},
                                  {265u * 8, "264"}}) {
    On.Text.clear();
    On.Allocations = 0;
    EXPECT_EQ(run(R, shape({Blocks, 1, 1}, {32, 1, 1})), Ended::Done);
    EXPECT_NE(On.Text.find(std::string("main<") + Launched +
                           "x1x1,128x1x1,16>(" + Launched + ")"),
              std::string::npos)
        << On.Text;
  }
  // Where nobody can say how many fit, that is not a number to take.
  Main.Block = {false, {LaunchAmount::One, 64, 1}};
  EXPECT_EQ(run(R, shape({9, 1, 1}, {32, 1, 1})), Ended::Original);
}

/// Of 100 bytes at 1000 the array begins at 1040: cells of 4 bytes, 6 to a row.
struct ExecuteRows : Execute {
  ExecuteRows() {
    On.Known = {{1000, 1100}, {5000, 5100}};
    RecipeRows A;
    A.Pointer = 0;
    A.Stride = {{{TripCount::Argument, 32, 1, 4}}};
    A.Stored = true;
    R.Rows = {A};
    R.Elsewhere = {{1, 8}};
    RecipeStep Main;
    Main.Kernel = "main";
    Main.Arguments = {{RecipeArgument::Program, 0}};
    for (uint32_t F = 0; F != RecipeRows::Fields; ++F)
      Main.Arguments.push_back({RecipeArgument::OfRows, F});
    R.Steps = {Main};
  }
  Ended runRows(const LaunchShape &Shape) {
    void *All[] = {&Array, &Arguments};
    On.Text.clear();
    On.Allocations = 0;
    return execute(R, Shape, All, On);
  }
  Recipe R;
  uint64_t Array = 1040;
  struct {
    int32_t Unused = -1, Stride = 6;
    uint64_t Pointer = 5000;
  } Arguments;
};

TEST_F(ExecuteRows, CopiesAllThatMayBeRows) {
  // Two rows reach to 1040, from 992, and three go on to 1112. A row of 32
  // threads has 128 bytes in the copy.
  EXPECT_EQ(runRows(shape({3, 1, 1}, {2, 1, 1})), Ended::Done);
  const std::string Row0 =
      std::to_string(reinterpret_cast<uint64_t>(On.address(0)) + 2 * 128);
  EXPECT_EQ(On.Text, "+640 +640 main<3x1x1,2x1x1,16>(1040 m0 m1 " + Row0 +
                         " 640 992 1000 1100 5 24) -1 -0 ");
  R.Rows[0].Stored = false;
  EXPECT_EQ(runRows(shape({1, 1, 1}, {2, 1, 1})), Ended::Done);
  EXPECT_EQ(On.Text.find("+640 main"), 0u) << On.Text;
  // A row is whole lines of 128 bytes, whatever a cell has.
  for (auto [Cell, Tile] : {std::pair(1u, 128u),
                            {2u, 64u},
                            {3u, 128u},
                            {4u, 32u},
                            {6u, 64u},
                            {12u, 32u}}) {
    R.Rows[0].CellBytes = Cell;
    EXPECT_EQ(R.Rows[0].tile(), Tile);
    EXPECT_EQ(Tile * Cell % 128, 0u);
  }
}

TEST_F(ExecuteRows, TakesTheOriginalWhereAnotherPointerLeadsThere) {
  const LaunchShape Shape = shape({3, 1, 1}, {2, 1, 1});
  for (auto [To, End] : {std::pair(1000, Ended::Original),
                         {1099, Ended::Original},
                         {1100, Ended::Original}, // and goes backwards
                         {999, Ended::Done},
                         {1101, Ended::Done},
                         {0, Ended::Done}}) {
    Arguments.Pointer = uint64_t(To);
    EXPECT_EQ(runRows(Shape), End) << To;
  }
  Arguments.Pointer = 1100; // another begins there
  On.Known.push_back({1100, 1200});
  EXPECT_EQ(runRows(Shape), Ended::Done);
  R.Rows.push_back(R.Rows[0]); // twice the same
  EXPECT_EQ(runRows(Shape), Ended::Original);
  EXPECT_EQ(On.Text, "");
}

TEST_F(ExecuteRows, TakesTheOriginalWhereRowsAreNotKnown) {
  const LaunchShape Shape = shape({3, 1, 1}, {2, 1, 1});
  Array = 4000; // of nobody
  EXPECT_EQ(runRows(Shape), Ended::Original);
  Array = 1040;
  for (int Stride : {0, -1, 5}) { // the last is shorter than the launch
    Arguments.Stride = Stride;
    EXPECT_EQ(runRows(Shape), Ended::Original) << Stride;
  }
  EXPECT_EQ(On.Text, "");
  R.Rows[0].Guarded = true; // from threads that are beyond it
  EXPECT_EQ(runRows(Shape), Ended::Done);
  EXPECT_EQ(runRows(shape({1, 1, 1}, {1024, 1, 1})), Ended::Done);
  EXPECT_EQ(runRows(shape({2, 1, 1}, {1024, 1, 1})), Ended::Original);
  On.MostAllocations = 1;
  EXPECT_EQ(runRows(Shape), Ended::Original);
  EXPECT_EQ(On.Text, "+640 +640 -0 ");
}

TEST_F(Execute, KnowsLimits) {
  // 2^31 - 1 blocks of 1024 threads are no less than 2^33 blocks of 256.
  const LaunchShape Large = shape({INT32_MAX, 1, 1}, {1024, 1, 1});
  EXPECT_EQ(run(permuted(), Large), Ended::Original);
  EXPECT_EQ(On.Text, "");
  // Threads pass 2^64 where there are many of them in all three dimensions.
  const LaunchShape Most = shape({INT32_MAX, 65535, 65535}, {1024, 1, 1});
  EXPECT_EQ(run(permuted(), Most), Ended::Original);
  EXPECT_EQ(amountOf({LaunchAmount::Threads, 8, 1}, Large),
            uint64_t(INT32_MAX) * 1024 * 8);
  EXPECT_EQ(amountOf({LaunchAmount::Threads, uint64_t(1) << 40, 1}, Large),
            std::nullopt);
  EXPECT_EQ(
      amountOf({LaunchAmount::Threads, 1, 3}, shape({1, 1, 1}, {32, 1, 1})),
      11u);
  Recipe Wide = permuted();
  Wide.Steps.back().Block = {false, {LaunchAmount::BlockThreads, 2, 1}};
  EXPECT_EQ(run(Wide, shape({1, 1, 1}, {513, 1, 1})), Ended::Original);
}

} // namespace
