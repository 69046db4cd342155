//===- unittests/remedies/ReorderForecastTest.cpp - Which blocks first ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Costs.h"
#include "remedies/reorder_blocks/Forecast.h"

#include <gtest/gtest.h>

namespace reconverge::remedies::reorder_blocks {
namespace {

/// Two multiprocessors with a thread block each at a time.
analysis::MachineLimits limits() {
  analysis::MachineLimits L;
  L.Multiprocessors = 2;
  L.Schedulers = 4;
  L.Threads = 32;
  L.Blocks = 1;
  L.Registers = 65536;
  L.SharedBytes = 65536;
  return L;
}

/// Thread blocks of one warp that run a loop of one cycle so often.
KernelProfile kernelOf(const std::vector<uint32_t> &Rounds) {
  KernelProfile K;
  K.Launches = 1;
  K.Info.Blocks.resize(1);
  K.Info.Blocks[0].Instructions = 1;
  K.Info.Blocks[0].IssueSlots = K.Info.Blocks[0].Latency = 1;
  K.Info.Registers = 16;
  K.Vectors.Launch = 1;
  K.Vectors.Shape.Grid = {uint32_t(Rounds.size()), 1, 1};
  K.Vectors.Shape.Block = {32, 1, 1};
  for (uint32_t I = 0; I != Rounds.size(); ++I) {
    K.Vectors.Classes.push_back({Rounds[I]});
    K.Vectors.Blocks.push_back({I, std::vector<uint32_t>(32, I)});
  }
  return K;
}

using Orders = std::vector<std::string>;

TEST(ReorderForecast, StartsTheLastBlocksFirstWhereTheyAreLong) {
  // 1 2 3 4 5 by two: 1+3+5 = 9 and 2+4; 5 4 3 2 1: 5+2+1 = 8.
  EXPECT_EQ(guess(kernelOf({1, 2, 3, 4, 5}), limits()),
            Orders{"order=reversed"});
}

TEST(ReorderForecast, LeavesBlocksAloneThatAreAlike) {
  EXPECT_EQ(guess(kernelOf({4, 4, 4, 4, 4}), limits()), Orders());
}

TEST(ReorderForecast, LeavesBlocksAloneThatRunAllAtOnce) {
  EXPECT_EQ(guess(kernelOf({1, 9}), limits()), Orders());
}

TEST(ReorderForecast, LeavesBlocksAloneThatAreLongestFirst) {
  EXPECT_EQ(guess(kernelOf({5, 4, 3, 2, 1}), limits()), Orders());
}

TEST(ReorderForecast, TimesBlocksWhoseOrderIsOfNoRule) {
  // 1 1 9 1 1: 10; reversed the same; longest first: 9.
  KernelProfile K = kernelOf({1, 1, 9, 1, 1});
  EXPECT_EQ(guess(K, limits()), Orders{"order=slice"})
      << "one launch has none after it";
  K.Launches = 8;
  EXPECT_EQ(guess(K, limits()), (Orders{"order=last", "order=slice"}));
}

TEST(ReorderForecast, SaysNothingWithoutVectors) {
  EXPECT_EQ(guess(KernelProfile(), limits()), Orders());
}

} // namespace
} // namespace reconverge::remedies::reorder_blocks
