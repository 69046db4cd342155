//===- unittests/model/PlacesTest.cpp - Copies put together ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each expectation is worked out in the comment above it; an instruction takes
// one slot.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/Table.h"

#include "HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::model;
using reconverge::test::HandMadeKernel;
using Members = std::vector<PlaceCost::Member>;

namespace {

RunCost costOfAll(std::vector<KernelProfile> Kernels) {
  Profile P;
  P.Kernels = std::move(Kernels);
  return costOf(P, remedies::rules());
}

/// The model's NestedBranch: of 10 slots the branch around (number 1) wastes
/// 4.5, 3.5 of them itself, and the one inside (number 0) 1.
HandMadeKernel nested(std::string Name, unsigned InnerLine,
                      unsigned OuterLine) {
  HandMadeKernel H(std::move(Name));
  uint32_t Entry = H.block(2, 1, 32), Outer = H.block(2, 1, 16),
           Inner = H.block(4, 1, 8), Rest = H.block(1, 1, 16),
           Join = H.block(1, 1, 32);
  H.branch(BranchKind::If, Outer, {Inner, Rest}, {Inner}, 1, {8, 8});
  H.at("a.cu", InnerLine, "x < y");
  H.branch(BranchKind::If, Entry, {Outer, Join}, {Outer, Inner, Rest}, 1,
           {16, 16});
  H.at("a.cu", OuterLine, "x < y");
  return H;
}

const RemedyBound *find(const PlaceCost &Place, std::string What) {
  for (const RemedyBound &R : Place.Remedies)
    if (R.What.Name == What)
      return &R;
  return nullptr;
}

TEST(Places, OneForEachLineAndTheOneAround) {
  const RunCost Run = costOfAll({nested("k", 7, 5).K});
  ASSERT_EQ(Run.Places.size(), 2u);
  EXPECT_EQ(Run.Places[0].Branches, Members({{0, 1}}));
  EXPECT_DOUBLE_EQ(Run.Places[0].Self, 0.35);
  EXPECT_DOUBLE_EQ(Run.Places[0].Cost, 0.45);
  EXPECT_FALSE(Run.Places[0].Outer.has_value());
  EXPECT_DOUBLE_EQ(Run.Places[1].Self, 0.1);
  EXPECT_EQ(Run.Places[1].Outer, 0u);
}

// A copy inside another, as unrolling makes them: selves 3.5 + 1; the region of
// the outer one holds the other's, so the blocks come to its 4.5.
TEST(Places, NestedCopiesCountEachBlockOnce) {
  const RunCost Run = costOfAll({nested("k", 5, 5).K});
  ASSERT_EQ(Run.Places.size(), 1u);
  EXPECT_EQ(Run.Places[0].Branches, Members({{0, 1}, {0, 0}}))
      << "most self slots first";
  EXPECT_DOUBLE_EQ(Run.Places[0].SelfSlots, 4.5);
  EXPECT_DOUBLE_EQ(Run.Places[0].LossSlots, 4.5);
  EXPECT_EQ(Run.Places[0].Warps, 2u);
  EXPECT_EQ(Run.Places[0].Splits, 2u);
  EXPECT_FALSE(Run.Places[0].Outer.has_value());
}

// Instances of a template: the same line in two kernels of 10 slots each, and
// in a third kernel of 80 none. Shares are of all 100.
TEST(Places, ShareIsOfTheRun) {
  HandMadeKernel Quiet("quiet");
  Quiet.block(80, 1, 32);
  const RunCost Run = costOfAll(
      {nested("k<float>", 7, 5).K, Quiet.K, nested("k<double>", 7, 5).K});
  ASSERT_EQ(Run.Places.size(), 2u);
  EXPECT_EQ(Run.Places[0].Branches, Members({{0, 1}, {2, 1}}));
  EXPECT_DOUBLE_EQ(Run.Places[0].Self, 0.07);
  EXPECT_DOUBLE_EQ(Run.Places[0].Cost, 0.09);
  EXPECT_DOUBLE_EQ(Run.Kernels[0].Branches[1].Self, 0.35) << "of its kernel";
}

TEST(Places, ConditionsOfOneLineStayApart) {
  HandMadeKernel H = nested("k", 5, 5);
  H.K.Info.Branches[0].Condition = "x < z";
  EXPECT_EQ(costOfAll({H.K}).Places.size(), 2u);
}

TEST(Places, WithoutALineEachBranchIsAPlace) {
  HandMadeKernel H = nested("k", 5, 5);
  for (BranchInfo &B : H.K.Info.Branches)
    B.Where.clear();
  EXPECT_EQ(costOfAll({H.K}).Places.size(), 2u);
}

/// Ten warps, half of whose lanes run each side of 300 instructions; sorted
/// within a block, five warps run each: 3,000 of 20 + 3,000 + 3,000 + 10 slots
/// are lost, and all of them come back.
HandMadeKernel longSides() {
  HandMadeKernel H("k");
  uint32_t Entry = H.block(2, 10, 320), Then = H.block(300, 10, 160),
           Else = H.block(300, 10, 160);
  H.block(1, 10, 320);
  H.branch(BranchKind::IfElse, Entry, {Then, Else}, {Then, Else}, 10,
           {160, 160});
  H.at("a.cu", 3, "a[i] > 0");
  H.K.Info.Branches[0].Reason = "load";
  H.K.Regrouped = {1,
                   320,
                   {320, 160, 160, 320},
                   {10, 10, 10, 10},
                   {10, 10, 10, 10},
                   {10, 5, 5, 10},
                   {10, 5, 5, 10}};
  return H;
}

// A round of two paths is 86 instructions in each of 10 warps; the kernel's
// instructions take a slot each.
TEST(Places, RemappingIsNetOfItsRounds) {
  const PlaceCost Place = costOfAll({longSides().K}).Places.at(0);
  const RemedyBound *Remap = find(Place, "remap");
  ASSERT_TRUE(Remap);
  EXPECT_DOUBLE_EQ(Remap->Gain, 3000.0 / 6030);
  EXPECT_DOUBLE_EQ(Remap->Price, 860.0 / 6030);
  const RemedyBound *Meld = find(Place, "meld");
  ASSERT_TRUE(Meld) << "it has two sides";
  EXPECT_DOUBLE_EQ(Meld->Gain, 3000.0 / 6030);
  EXPECT_EQ(Meld->Price, 0);
  EXPECT_FALSE(find(Place, "sort")) << "a block is enough";
  EXPECT_FALSE(find(Place, "refill")) << "nothing in a warp";
}

TEST(Places, RemappingIsNamedWhereThePassWouldDoIt) {
  auto CanRemap = [](const HandMadeKernel &H) {
    for (const PlaceCost &Place : costOfAll({H.K}).Places)
      if (find(Place, "remap"))
        return true;
    return false;
  };
  HandMadeKernel H = longSides();
  ASSERT_TRUE(CanRemap(H));
  H.K.Info.Branches[0].Reason = "thread id";
  EXPECT_FALSE(CanRemap(H));
  H = longSides();
  H.K.Info.Blocks[1].Instructions = H.K.Info.Blocks[2].Instructions = 6;
  EXPECT_FALSE(CanRemap(H)) << "2 x 6, eight times in a loop, is under 100";
  H = longSides();
  H.K.Info.Branches[0].Kind = BranchKind::LoopExit;
  EXPECT_FALSE(CanRemap(H));
  // Inside the region of another branch that can diverge, unless lanes return
  // there.
  H = longSides();
  H.branch(BranchKind::If, 3, {0, 3}, {0, 1, 2}, 0, {320, 0});
  EXPECT_FALSE(CanRemap(H));
  H.K.Info.Branches[1].LeavesKernel = true;
  EXPECT_TRUE(CanRemap(H));
  H.K.Info.Branches[1].Region = {0, 1, 2, 3};
  EXPECT_FALSE(CanRemap(H)) << "a loop";
}

// Nothing comes back within a warp or block, all over the grid.
TEST(Places, OverTheGridSort) {
  HandMadeKernel H = longSides();
  H.K.Regrouped.InBlock = H.K.Regrouped.Warps;
  PlaceCost Place = costOfAll({H.K}).Places.at(0);
  ASSERT_TRUE(find(Place, "sort"));
  EXPECT_DOUBLE_EQ(find(Place, "sort")->Gain, 3000.0 / 6030);
  EXPECT_FALSE(find(Place, "remap")) << "it gives nothing back";
  EXPECT_FALSE(find(Place, "collect")) << "nor does that";
  // A block would be enough, but nothing remaps or collects it.
  H = longSides();
  H.K.Info.Branches[0].Reason = "thread id";
  H.K.Info.StaticShared = 64;
  Place = costOfAll({H.K}).Places.at(0);
  EXPECT_TRUE(find(Place, "sort"));
}

// Sorted, the region of the branch around would run once less: 4.5 slots come
// back, of which it has parted 3.5 itself.
TEST(Places, NothingGivesBackMoreThanSelf) {
  HandMadeKernel H = nested("k", 7, 5);
  H.K.Regrouped = {1,
                   32,
                   {32, 16, 8, 16, 32},
                   {10, 10, 10, 10, 10},
                   {10, 10, 10, 10, 10},
                   {10, 10, 10, 10, 10},
                   {10, 2, 2, 2, 10}};
  const PlaceCost Place = costOfAll({H.K}).Places.at(0);
  EXPECT_DOUBLE_EQ(Place.Recover.InGrid, 0.45);
  ASSERT_TRUE(find(Place, "sort"));
  EXPECT_DOUBLE_EQ(find(Place, "sort")->Gain, 0.35);
}

TEST(Places, NothingRanNothingCosts) {
  EXPECT_TRUE(costOfAll({}).Places.empty());
  HandMadeKernel H = nested("k", 7, 5);
  H.K.Blocks.assign(5, {});
  for (BranchCounts &B : H.K.Branches)
    B = {0, 0, {0, 0}};
  EXPECT_TRUE(costOfAll({H.K}).Places.empty());
}

} // namespace
