//===- unittests/model/ModelTest.cpp - Costs derived by hand --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each expectation is worked out in the comment above it. Unless said otherwise
// an instruction takes one slot, so slots are warps x instructions.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"

#include "HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::model;
using reconverge::test::HandMadeKernel;

// warp instructions   2 + 3 + 5 + 1                      = 11
// thread instructions 2 32 + 3 16 + 5 16 + 1 32          = 224 = 32 x 7
// CFE                 7 / 11
// loss                3 (1 - 16/32) + 5 (1 - 16/32)      = 4 of 11
TEST(Model, IfElseWithAlternatingLanes) {
  KernelCost C = costOf(test::alternating().K);
  EXPECT_EQ(C.WarpInstructions, 11u);
  EXPECT_EQ(C.Instructions, 224u);
  EXPECT_DOUBLE_EQ(C.Slots, 11);
  EXPECT_DOUBLE_EQ(C.FullSlots, 7);
  EXPECT_DOUBLE_EQ(C.Cfe, 7.0 / 11);
  EXPECT_DOUBLE_EQ(C.Potential, 11.0 / 7);
  ASSERT_EQ(C.Branches.size(), 1u);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 4);
  EXPECT_DOUBLE_EQ(C.Branches[0].DivergeSlots, 4);
  EXPECT_DOUBLE_EQ(C.Branches[0].Cost, 4.0 / 11);
  EXPECT_EQ(C.Order, std::vector<uint32_t>({0}));
}

// The else side is a division that keeps the scheduler busy for 20 slots: CFE,
// which counts instructions, stays; the loss becomes 3/2 + 20/2 of 2+3+20+1.
TEST(Model, LossesCountIssueSlotsAndEfficiencyInstructions) {
  HandMadeKernel H = test::alternating();
  H.K.Info.Blocks[2].IssueSlots = 20;
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Cfe, 7.0 / 11);
  EXPECT_DOUBLE_EQ(C.Slots, 26);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 11.5);
}

TEST(Model, InstructionsStandInWhereTheMachineGivesNoCosts) {
  HandMadeKernel H = test::alternating();
  for (BlockInfo &B : H.K.Info.Blocks)
    B.IssueSlots = 0;
  EXPECT_DOUBLE_EQ(costOf(H.K).Branches[0].Cost, 4.0 / 11);
}

// 40 threads: a full warp and one of 8. Even lanes run the body:
// slots         2 1 + 2 4 + 2 1               = 12
// body, idle    2 32 - 20 = 44 lanes: 24 that the warp never had, 20 odd ones
// partial       4 24/32 = 3     diverge  4 20/32 = 2.5
TEST(Model, PartialWarp) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 2, 40, 24);
  uint32_t Body = H.block(4, 2, 20, 24);
  uint32_t Join = H.block(1, 2, 40, 24);
  H.branch(BranchKind::If, Entry, {Body, Join}, {Body}, 2, {20, 20});
  BranchCost B = costOf(H.K).Branches[0];
  EXPECT_DOUBLE_EQ(B.PartialSlots, 3);
  EXPECT_DOUBLE_EQ(B.DivergeSlots, 2.5);
  EXPECT_DOUBLE_EQ(B.ExitSlots, 0);
  EXPECT_DOUBLE_EQ(B.LossSlots, 5.5);
  EXPECT_DOUBLE_EQ(B.Cost, 5.5 / 12);
}

// if (i & 1) { leave(); return; }  work();
// leave (1): 16 lanes, the others wait   -> diverge 1 16/32 = 0.5
// work (6):  16 lanes, the others exited -> exit    6 16/32 = 3
TEST(Model, EarlyExit) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 1, 32);
  uint32_t Leave = H.block(1, 1, 16);
  uint32_t Work = H.block(6, 1, 16, 0, 16);
  H.branch(BranchKind::If, Entry, {Leave, Work}, {Leave, Work}, 1, {16, 16});
  BranchCost B = costOf(H.K).Branches[0];
  EXPECT_DOUBLE_EQ(B.DivergeSlots, 0.5);
  EXPECT_DOUBLE_EQ(B.ExitSlots, 3);
  EXPECT_DOUBLE_EQ(B.PartialSlots, 0);
  EXPECT_DOUBLE_EQ(B.Cost, 3.5 / 8);
  EXPECT_DOUBLE_EQ(B.SelfSlots, 3.5) << "returning parts lanes as well";
}

// entry(2, 32 lanes) -> outer(2, 16) -> inner(4, 8) -> rest(1, 16); join(1, 32)
// outer branch: 2 1/2 + 4 3/4 + 1 1/2 = 4.5 of 10 slots
// inner branch: 24 lanes idle in its body, 16 of them away when the warp came:
//               around 4 16/32 = 2, its own 4 8/32 = 1
TEST(Model, NestedBranchAnswersForItsOwnLanesOnly) {
  HandMadeKernel H;
  uint32_t Entry = H.block(2, 1, 32), Outer = H.block(2, 1, 16),
           Inner = H.block(4, 1, 8), Rest = H.block(1, 1, 16),
           Join = H.block(1, 1, 32);
  H.branch(BranchKind::If, Outer, {Inner, Rest}, {Inner}, 1, {8, 8});
  H.branch(BranchKind::If, Entry, {Outer, Join}, {Outer, Inner, Rest}, 1,
           {16, 16});
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Slots, 10);
  EXPECT_DOUBLE_EQ(C.Branches[1].LossSlots, 4.5);
  EXPECT_DOUBLE_EQ(C.Branches[1].AroundSlots, 0);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 1);
  EXPECT_DOUBLE_EQ(C.Branches[0].AroundSlots, 2);
  EXPECT_DOUBLE_EQ(C.Branches[0].Cost, 0.1);
  EXPECT_EQ(C.Order, std::vector<uint32_t>({1, 0})) << "dearest first";
  EXPECT_DOUBLE_EQ(C.Branches[1].SelfSlots, 3.5) << "without the inner one's";
  EXPECT_DOUBLE_EQ(C.Branches[0].SelfSlots, 1);
  EXPECT_DOUBLE_EQ(C.Branches[1].Self, 0.35);
}

// if (i & 1) { leave(1); return; }  work(6); if (i & 2) inner(2); rest(1)
// 16 lanes return at the first; of the other 16, 8 run `inner`:
// inner, idle   8 away, 16 returned: 24. Its branch met 16 that were gone
//               already, so 8 parted there: self 2 8/32 = 0.5, though its loss
//               has the returned ones in it: 2 24/32 = 1.5
// first branch  leave 1 16/32 + work 6 16/32 + inner 2 24/32 + rest 1 16/32
//               = 5.5; self 5.5 - 0.5 = 5
TEST(Model, LanesThatReturnedCountWhereTheyParted) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 1, 32), Leave = H.block(1, 1, 16),
           Work = H.block(6, 1, 16, 0, 16), Inner = H.block(2, 1, 8, 0, 16),
           Rest = H.block(1, 1, 16, 0, 16);
  H.branch(BranchKind::If, Entry, {Leave, Work}, {Leave, Work, Inner, Rest}, 1,
           {16, 16});
  H.branch(BranchKind::If, Work, {Inner, Rest}, {Inner}, 1, {8, 8});
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Branches[1].LossSlots, 1.5);
  EXPECT_DOUBLE_EQ(C.Branches[1].SelfSlots, 0.5);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 5.5);
  EXPECT_DOUBLE_EQ(C.Branches[0].SelfSlots, 5);
}

// while (a && b): head(1) leaves for the join or goes on to body(3), which
// leaves as well or goes back. 32 lanes enter; 8 leave at the head, 8 at the
// body, the other 16 go round again and leave at the body:
// idle          head 1 (64 - 48)/32 = 0.5, body 3 (64 - 40)/32 = 2.25
// lanes that can have parted: 8 at the head, 24 at the body
TEST(Model, ExitsOfOneLoopShareByLanesThatLeave) {
  HandMadeKernel H;
  uint32_t Head = H.block(1, 2, 48), Body = H.block(3, 2, 40),
           Join = H.block(1, 1, 32);
  H.branch(BranchKind::LoopExit, Head, {Body, Join}, {Head, Body}, 1, {40, 8});
  H.branch(BranchKind::LoopExit, Body, {Head, Join}, {Head, Body}, 1, {16, 24});
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 2.75);
  EXPECT_DOUBLE_EQ(C.Branches[1].LossSlots, 2.75);
  EXPECT_DOUBLE_EQ(C.Branches[0].SelfSlots, 2.75 / 4);
  EXPECT_DOUBLE_EQ(C.Branches[1].SelfSlots, 2.75 * 3 / 4);
}

// Half the lanes go round once, half three times: 32 + 16 + 16 lanes in three
// warp executions, 4 (3 - 64/32) = 4 slots lost of 1 + 12 + 1.
TEST(Model, LoopExit) {
  HandMadeKernel H;
  H.block(1, 1, 32);
  uint32_t Body = H.block(4, 3, 64);
  uint32_t Exit = H.block(1, 1, 32);
  H.branch(BranchKind::LoopExit, Body, {Body, Exit}, {Body}, 1, {32, 32});
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 4);
  EXPECT_DOUBLE_EQ(C.Branches[0].Cost, 4.0 / 14);
  EXPECT_DOUBLE_EQ(C.Branches[0].AroundSlots, 0);
}

// The same loop inside an if that 8 lanes skip; 12 lanes go round once and 12
// three times: 24 + 12 + 12 lanes in three executions, 48 of 96 idle. After the
// loop 24 lanes are together again, so 8 were away all along: 3 x 8 = 24 of the
// idle ones belong to the if, 24 to the loop, each 4 24/32 = 3 slots.
// The if: loop 4 48/32 = 6, block after it 1 8/32 = 0.25.
TEST(Model, LoopInsideAnIf) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 1, 32), Body = H.block(4, 3, 48),
           After = H.block(1, 1, 24), Join = H.block(1, 1, 32);
  H.branch(BranchKind::If, Entry, {Body, Join}, {Body, After}, 1, {24, 8});
  H.branch(BranchKind::LoopExit, Body, {After, Body}, {Body}, 1, {24, 24});
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Branches[1].LossSlots, 3);
  EXPECT_DOUBLE_EQ(C.Branches[1].AroundSlots, 3);
  EXPECT_DOUBLE_EQ(C.Branches[1].SelfSlots, 3);
  EXPECT_DOUBLE_EQ(C.Branches[0].LossSlots, 6.25);
  EXPECT_DOUBLE_EQ(C.Branches[0].SelfSlots, 3.25);
}

TEST(Model, BranchThatNeverSplitCostsNothing) {
  HandMadeKernel H = test::alternating();
  H.K.Branches[0].Splits = 0;
  KernelCost C = costOf(H.K);
  EXPECT_EQ(C.Branches[0].LossSlots, 0);
  EXPECT_EQ(C.Branches[0].Cost, 0);
  EXPECT_EQ(C.Branches[0].Self, 0);
  EXPECT_TRUE(C.Order.empty());
}

TEST(Model, KernelThatNeverRanWastesNothing) {
  HandMadeKernel H = test::alternating();
  H.K.Blocks.assign(4, {});
  H.K.Branches[0] = {0, 0, {0, 0}};
  KernelCost C = costOf(H.K);
  EXPECT_EQ(C.Cfe, 1);
  EXPECT_EQ(C.Potential, 1);
  EXPECT_EQ(C.Branches[0].Cost, 0);
}

// Warps of 64: entry and join full, each side half full.
TEST(Model, WarpsOf64) {
  HandMadeKernel H = test::alternating();
  H.K.WarpSize = 64;
  for (BlockCounts &B : H.K.Blocks)
    B.Lanes *= 2;
  EXPECT_DOUBLE_EQ(costOf(H.K).Cfe, 7.0 / 11);
  EXPECT_DOUBLE_EQ(costOf(H.K).Branches[0].Cost, 4.0 / 11);
}

// 10 executions of a body of 4 by 16 lanes each: 20 slots lost of
// 10 + 40 + 10 = 60. The sample saw 5 executions of the body; sorting within
// blocks would leave 4 of them (a fifth saved: 8 of 60), over the grid 2 (24,
// more than the branch lost, so all of its cost); the "regrouping" in the warp
// is worse than what ran and gives nothing back.
TEST(Model, RecoverableScalesTheSampleAndStaysWithinTheCost) {
  HandMadeKernel H;
  uint32_t Entry = H.block(1, 10, 320), Body = H.block(4, 10, 160),
           Join = H.block(1, 10, 320);
  H.branch(BranchKind::If, Entry, {Body, Join}, {Body}, 10, {160, 160});
  H.K.Regrouped = {1,         160,       {160, 80, 160}, {5, 5, 5},
                   {5, 6, 5}, {5, 4, 5}, {5, 2, 5}};
  KernelCost C = costOf(H.K);
  EXPECT_DOUBLE_EQ(C.Branches[0].Cost, 20.0 / 60);
  EXPECT_EQ(C.Branches[0].Recover.InWarp, 0);
  EXPECT_DOUBLE_EQ(C.Branches[0].Recover.InBlock, 8.0 / 60);
  EXPECT_DOUBLE_EQ(C.Branches[0].Recover.InGrid, 20.0 / 60);
  EXPECT_DOUBLE_EQ(C.Recover.InBlock, 8.0 / 60);
  EXPECT_DOUBLE_EQ(C.Recover.InGrid, 20.0 / 60);
}

TEST(Model, WithoutASampleNothingIsRecoverable) {
  EXPECT_EQ(costOf(test::alternating().K).Branches[0].Recover.InGrid, 0);
}

TEST(Model, CostOfARunKeepsTheOrderOfKernels) {
  Profile P;
  P.Kernels = {HandMadeKernel("idle").K, test::alternating().K};
  const RunCost Run = costOf(P);
  ASSERT_EQ(Run.Kernels.size(), 2u);
  EXPECT_EQ(Run.Kernels[0].Cfe, 1);
  EXPECT_DOUBLE_EQ(Run.Kernels[1].Cfe, 7.0 / 11);
  EXPECT_DOUBLE_EQ(Run.Slots, 11);
}
