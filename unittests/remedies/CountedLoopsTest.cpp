//===- unittests/remedies/CountedLoopsTest.cpp - Loops of a profile -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/CountedLoops.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

using Blocks = std::vector<uint32_t>;

namespace {

/// 0 -> 1 <-> 2, 2 -> 2, 2 -> 3 -> 1, 3 -> 4 -> 4, 4 -> 5: a loop in a loop, and
/// one behind them.
HandMadeKernel loops() {
  HandMadeKernel H;
  const Blocks Next[] = {{1}, {2}, {1, 2, 3}, {1, 4}, {4, 5}, {}};
  for (const Blocks &To : Next) {
    const uint32_t B = H.block(1, 10, 320 - 10 * H.K.Info.Blocks.size());
    H.K.Info.Blocks[B].Successors = To;
  }
  return H;
}

TEST(CountedLoops, TheSmallestAround) {
  const KernelInfo Info = loops().K.Info;
  EXPECT_EQ(loopAround(Info, {2}), (Blocks{1, 2, 3}));
  EXPECT_EQ(loopAround(Info, {3}), (Blocks{1, 2, 3}));
  EXPECT_EQ(loopAround(Info, {1, 3}), (Blocks{1, 2, 3}));
  EXPECT_EQ(loopAround(Info, {1, 2, 3}), Blocks()) << "it is the whole of one";
  EXPECT_EQ(loopAround(Info, {4}), Blocks());
  EXPECT_EQ(loopAround(Info, {0}), Blocks());
}

/// Blocks 2 and 3 are a loop, in that of 1 to 4.
TEST(CountedLoops, LoopsOfSeveralBlocksInEachOther) {
  HandMadeKernel H;
  const Blocks Next[] = {{1}, {2}, {3, 4}, {2}, {1, 5}, {}};
  for (const Blocks &To : Next)
    H.K.Info.Blocks[H.block(1, 1, 32)].Successors = To;
  EXPECT_EQ(loopAround(H.K.Info, {3}), (Blocks{2, 3}));
  EXPECT_EQ(loopAround(H.K.Info, {2, 3}), (Blocks{1, 2, 3, 4}));
  EXPECT_EQ(loopAround(H.K.Info, {4}), (Blocks{1, 2, 3, 4}));
}

TEST(CountedLoops, OfAnEarlierVersionByBranches) {
  HandMadeKernel H = loops();
  for (BlockInfo &B : H.K.Info.Blocks)
    B.Successors.clear();
  EXPECT_EQ(loopAround(H.K.Info, {2}), Blocks());
  for (uint32_t B : {1, 2, 3})
    H.K.Info.Blocks[B].Entries = {0};
  EXPECT_EQ(loopAround(H.K.Info, {2}), (Blocks{1, 2, 3}));
  H.branch(BranchKind::LoopExit, 1, {2, 3}, {1, 2}, 1, {16, 16});
  EXPECT_EQ(loopAround(H.K.Info, {2}), (Blocks{1, 2}));
}

TEST(CountedLoops, LanesThatEnter) {
  HandMadeKernel H = loops();
  EXPECT_EQ(entering(H.K, {1, 2, 3}), 320) << "all of block 0";
  EXPECT_EQ(entering(H.K, {4}), 290) << "all of block 3, at most";
  H.branch(BranchKind::If, 3, {1, 4}, {}, 1, {270, 20});
  EXPECT_EQ(entering(H.K, {4}), 20);
}

} // namespace
