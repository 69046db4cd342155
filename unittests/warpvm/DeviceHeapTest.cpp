//===- unittests/warpvm/DeviceHeapTest.cpp - malloc in kernels ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/DeviceHeap.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

namespace reconverge::warpvm {
namespace {

class Heap : public testing::Test {
protected:
  DeviceHeap H;
  void TearDown() override { H.reset(); }
};

TEST_F(Heap, GivesAlignedBlocksThatDoNotMeet) {
  std::mt19937 Random(1);
  std::map<char *, uint64_t> Blocks;
  for (int Step = 0; Step < 3000; ++Step) {
    if (Blocks.size() > 100 || (Step % 3 == 0 && !Blocks.empty())) {
      auto Victim = std::next(Blocks.begin(), Random() % Blocks.size());
      EXPECT_TRUE(H.release(Victim->first));
      Blocks.erase(Victim);
      continue;
    }
    const uint64_t Bytes = Random() % 5000;
    auto *P = static_cast<char *>(H.allocate(Bytes));
    ASSERT_TRUE(P);
    EXPECT_EQ(uint64_t(P) % DeviceHeap::Alignment, 0u);
    auto [At, New] = Blocks.emplace(P, std::max<uint64_t>(Bytes, 1));
    ASSERT_TRUE(New);
    if (At != Blocks.begin())
      EXPECT_LE(std::prev(At)->first + std::prev(At)->second, P);
    if (std::next(At) != Blocks.end())
      EXPECT_LE(P + At->second, std::next(At)->first);
  }
  for (auto [P, Bytes] : Blocks)
    EXPECT_TRUE(H.release(P));
  // What was freed has merged: all of it can be had at once.
  EXPECT_TRUE(H.allocate(DeviceHeap::DefaultBytes));
}

TEST_F(Heap, KeepsToItsLimit) {
  EXPECT_TRUE(H.setLimit(1 << 20));
  EXPECT_FALSE(H.allocate((1 << 20) + 1));
  EXPECT_FALSE(H.allocate(UINT64_MAX)); // nor does rounding up wrap
  void *Half = H.allocate(1 << 19);
  EXPECT_TRUE(Half);
  EXPECT_TRUE(H.allocate(1 << 19));
  EXPECT_FALSE(H.allocate(0));
  EXPECT_FALSE(H.setLimit(2 << 20)) << "the heap is in use";
  EXPECT_TRUE(H.release(Half));
  EXPECT_TRUE(H.allocate(0));
}

TEST_F(Heap, RefusesWhatItDidNotGive) {
  int Own;
  EXPECT_FALSE(H.release(&Own));
  auto *P = static_cast<char *>(H.allocate(64));
  EXPECT_FALSE(H.release(P + 16));
  EXPECT_TRUE(H.release(P));
  EXPECT_FALSE(H.release(P));
}

TEST_F(Heap, GoesBackToAnEarlierState) {
  void *Before = H.allocate(100);
  const DeviceHeap::State Then = H.state();
  EXPECT_TRUE(H.release(Before));
  void *After = H.allocate(1000);
  H.restore(Then);
  EXPECT_FALSE(After != Before && H.release(After));
  EXPECT_TRUE(H.release(Before));
  EXPECT_TRUE(H.allocate(DeviceHeap::DefaultBytes));
}

/// A state from before the heap had memory.
TEST_F(Heap, GoesBackToItsBeginning) {
  const DeviceHeap::State Then = H.state();
  EXPECT_TRUE(H.allocate(100));
  H.restore(Then);
  EXPECT_TRUE(H.allocate(DeviceHeap::DefaultBytes));
}

} // namespace
} // namespace reconverge::warpvm
