//===- GpuTrialsTest.cpp - Parts of trials on a GPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole of it, over the warp VM or on a GPU, is check_trials.py's.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Allocations.h"
#include "runtime/gpu/Trials.h"
#include "runtime/gpu/Watch.h"

#include <gtest/gtest.h>

#include <future>

using namespace reconverge::gpu;

static void *at(uint64_t Address) { return reinterpret_cast<void *>(Address); }

TEST(GpuAllocations, AreNamedByTheirCall) {
  Allocations A;
  A.add(Allocations::Device, "cudaMalloc", at(0x3000), 100, 0);
  A.add(Allocations::Device, "cudaMalloc", at(0x1000), 200, 0);
  A.add(Allocations::Host, "cudaHostAlloc", at(0x5000), 8, 0);
  A.add(Allocations::Registered, "cudaHostRegister", at(0x7000), 16, 0);
  A.add(Allocations::Device, "cudaMalloc", nullptr, 0, 0);
  A.remove(at(0x3000));
  A.add(Allocations::Device, "cudaMalloc", at(0x3000), 300, 0);
  auto All = A.areas();
  ASSERT_EQ(All.size(), 4u);
  EXPECT_EQ(All[0].Name, "an allocation of 200 bytes by call 2 of cudaMalloc");
  EXPECT_EQ(All[1].Name, "an allocation of 300 bytes by call 3 of cudaMalloc");
  EXPECT_EQ(All[1].Bytes, 300u);
  EXPECT_EQ(All[2].Name,
            "a pinned host allocation of 8 bytes by call 1 of cudaHostAlloc");
  EXPECT_EQ(All[3].Name, "registered host memory of 16 bytes");

  A.clear();
  ASSERT_EQ(A.areas().size(), 1u) << "registered memory is the program's own";
}

TEST(GpuTrials, HaveHalfOfTheTimeHoweverLongBuildingTakes) {
  EXPECT_EQ(secondsAfter(/*Building=*/2, /*Seconds=*/10), 8);
  EXPECT_EQ(secondsAfter(/*Building=*/54, /*Seconds=*/10), 5);
}

TEST(GpuTrials, SayWhatTookTheTime) {
  EXPECT_EQ(outOfTime(/*IsHurried=*/false, 0, 60.4),
            "trials have taken 60 s in this run, as long as they may; "
            "--time-limit sets another limit");
  EXPECT_EQ(outOfTime(/*IsHurried=*/true, 9.26, 0.04),
            "--time-limit leaves no more time in this run: building the "
            "candidates took 9.3 s, trials took 0.0 s");
}

TEST(GpuAllocations, KnowTheirDevices) {
  Allocations A;
  A.add(Allocations::Device, "cudaMalloc", at(0x1000), 8, 0);
  A.add(Allocations::Host, "cudaMallocHost", at(0x2000), 8, 1);
  EXPECT_TRUE(A.isOnOneDevice());
  EXPECT_EQ(A.deviceBytes(), 2u << 20) << "CUDA gives out pieces of 2 MiB";
  A.add(Allocations::Device, "cudaMalloc", at(0x3000), 8, 1);
  EXPECT_FALSE(A.isOnOneDevice());
}

TEST(GpuAllocations, WhatTheBooksDoNotExplainIsSeen) {
  constexpr uint64_t MiB = 1 << 20, First = 500 * MiB, Books = 1600 * MiB;
  EXPECT_EQ(unexplainedBytes(First + Books, First, Books, 0), 0u);
  EXPECT_EQ(unexplainedBytes(First + Books + 300 * MiB, First, Books, 0), 0u);
  EXPECT_EQ(unexplainedBytes(First + Books + 400 * MiB, First, Books, 0),
            400 * MiB);
  // Local memory of kernels is taken when they are first launched.
  EXPECT_EQ(
      unexplainedBytes(First + Books + 400 * MiB, First, Books, 200 * MiB), 0u);
  EXPECT_EQ(unexplainedBytes(0, First, Books, 0), 0u);
}

TEST(GpuWatch, SpeaksUpWhenItIsLate) {
  std::promise<void> Late;
  Watch W(0.001, [&] { Late.set_value(); });
  Late.get_future().get();
}

TEST(GpuWatch, IsSilentWhenItEndsInTime) {
  bool Late = false;
  {
    Watch W(3600, [&] { Late = true; });
  }
  EXPECT_FALSE(Late);
}
