//===- BlockSampleTest.cpp - Which thread blocks count --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "instrument/BlockSample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace reconverge::instrument;

TEST(BlockSample, SmallGridsCountAsAWhole) {
  for (uint64_t Blocks : {uint64_t(0), uint64_t(1), uint64_t(1024),
                          uint64_t(2047), uint64_t(1) << 32}) {
    BlockSample S = BlockSample::of(Blocks, 1024);
    EXPECT_EQ(S.Bits, 0u) << Blocks;
    EXPECT_EQ(S.Tail, BlockSample::NoTail) << Blocks;
    EXPECT_TRUE(S.counts(0) && S.counts(2046)) << Blocks;
  }
  EXPECT_EQ(BlockSample::of(1 << 30, 0).Bits, 0u) << "0 is all";
}

TEST(BlockSample, KeepsSoManyAndNoMoreThanTwice) {
  EXPECT_EQ(BlockSample::of(2048, 1024).Bits, 1u);
  EXPECT_EQ(BlockSample::of(4095, 1024).Bits, 1u);
  EXPECT_EQ(BlockSample::of(4096, 1024).Bits, 2u);
  EXPECT_EQ(BlockSample::of(~0u, 1).Bits, BlockSample::MostBits);
}

TEST(BlockSample, WeightsSumUpToTheGrid) {
  for (uint32_t Blocks : {16u, 17u, 1001u, 65535u, 100003u}) {
    BlockSample S = BlockSample::of(Blocks, 8);
    ASSERT_GT(S.Bits, 0u);
    uint64_t Sum = 0;
    for (uint32_t Block = 0; Block != Blocks; ++Block)
      if (S.counts(Block))
        Sum += Block < S.Tail ? S.stride() : 1;
    EXPECT_EQ(Sum, Blocks);
    for (uint32_t First = 0; First != S.Tail; First += S.stride()) {
      unsigned Members = 0;
      for (uint32_t I = 0; I != S.stride(); ++I)
        Members += S.counts(First + I);
      ASSERT_EQ(Members, 1u) << "one of each row, row at " << First;
    }
  }
}

TEST(BlockSample, NoPlaceInTheRowIsPreferred) {
  BlockSample S = BlockSample::of(64 * 4096, 4096);
  ASSERT_EQ(S.Bits, 6u);
  std::vector<unsigned> Taken(64);
  for (uint32_t Block = 0; Block != 64 * 4096; ++Block)
    Taken[Block % 64] += S.counts(Block);
  for (unsigned N : Taken) { // 64 each if all were equal
    EXPECT_GT(N, 32u);
    EXPECT_LT(N, 96u);
  }
}

TEST(MemorySample, TakesAtMostSoManyOfThoseThatCount) {
  for (uint64_t Blocks : {5u, 100u, 132u, 1001u, 65535u, 100003u})
    for (uint64_t Most : {1u, 16u, 128u}) {
      BlockSample Who = BlockSample::of(Blocks, 64);
      MemorySample S = MemorySample::of(Blocks, Who, Most);
      EXPECT_LE(S.Blocks, Most);
      EXPECT_GE(S.Blocks, std::min(Blocks, Most) / 2) << Blocks << ' ' << Most;
      std::vector<unsigned> Chosen(S.Blocks);
      for (uint32_t Row = 0; Row << Who.Bits < Blocks; ++Row)
        if (S.counts(Row))
          ++Chosen.at(Row >> S.Bits);
      for (unsigned N : Chosen)
        EXPECT_EQ(N, 1u) << "each has an area of its own";
    }
}

TEST(MemorySample, TakesNoneWhereNoneIsWanted) {
  EXPECT_EQ(MemorySample::of(1000, {}, 0).Blocks, 0u);
  EXPECT_EQ(MemorySample::of(uint64_t(1) << 32, {}, 16).Blocks, 0u);
  EXPECT_EQ(MemorySample::of(1000, {}, UINT64_MAX).Blocks, 1000u);
}
