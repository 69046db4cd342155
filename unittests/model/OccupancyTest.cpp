//===- unittests/model/OccupancyTest.cpp - Thread blocks that fit ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// unittests/remedies/OccupancyTest.cpp compares with NVIDIA's calculator.

#include "model/Occupancy.h"

#include "analysis/Costs.h"

#include <gtest/gtest.h>

#include <ostream>

using namespace reconverge;
using namespace reconverge::model;

static constexpr uint64_t KiB = 1024;

static analysis::MachineLimits h200() {
  analysis::MachineLimits L;
  L.Multiprocessors = 132;
  L.Schedulers = 4;
  L.Threads = 2048;
  L.Blocks = 32;
  L.Registers = 65536;
  L.SharedBytes = 228 * KiB;
  return L;
}

// Compute capability 2.0.
static analysis::MachineLimits gtx480() {
  analysis::MachineLimits L;
  L.Multiprocessors = 15;
  L.Schedulers = 2;
  L.Threads = 1536;
  L.Blocks = 8;
  L.Registers = 32768;
  L.SharedBytes = 48 * KiB;
  L.RegisterUnit = 64;
  L.SharedReserved = 0;
  return L;
}

namespace reconverge {
static void PrintTo(const Occupancy &O, std::ostream *OS) {
  *OS << O.Blocks << " by " << wordOf(O.By);
}
} // namespace reconverge

using By = OccupancyLimit;

namespace {
struct Case {
  BlockNeeds Needs; ///< threads, bytes of shared memory, registers
  Occupancy Expected;
};
} // namespace

static void check(const analysis::MachineLimits &L,
                  std::initializer_list<Case> Cases) {
  for (const Case &C : Cases)
    EXPECT_EQ(occupancyOf(multiprocessorOf(L), C.Needs), C.Expected)
        << C.Needs.Threads << " threads, " << C.Needs.Shared << " bytes, "
        << C.Needs.Registers << " registers";
}

TEST(Occupancy, H200) {
  check(h200(),
        {
            // Threads: 2048. A warp counts whole: 33 threads take 64.
            {{1024, 0}, {2, By::Threads}},
            {{256, 0}, {8, By::Threads}},
            {{768, 0}, {2, By::Threads}},
            {{96, 0}, {21, By::Threads}},
            {{65, 0}, {21, By::Threads}},
            // Thread blocks: 32, from 64 threads down.
            {{64, 0}, {32, By::Threads}},
            {{33, 0}, {32, By::Threads}},
            {{32, 0}, {32, By::Blocks}},
            {{1, 0}, {32, By::Blocks}},
            // Registers: 16384 for the warps of a quarter. 32 * 32 = 1024: 16
            // warps; 33 * 32 rounded up to 1280: 12; 40: 12; 41 * 32 to 1536:
            // 10; 255 * 32 to 8192: 2.
            {{256, 0, 32}, {8, By::Threads}},
            {{256, 0, 33}, {6, By::Registers}},
            {{256, 0, 40}, {6, By::Registers}},
            {{256, 0, 41}, {5, By::Registers}},
            {{256, 0, 255}, {1, By::Registers}},
            // 12 warps a quarter are 48, not the 51 that fit in all registers.
            {{96, 0, 33}, {16, By::Registers}},
            {{1024, 0, 64}, {1, By::Registers}},
            {{1024, 0, 65}, {0, By::Registers}},
            {{32, 0, 255}, {8, By::Registers}},
            // Shared memory: 228 KiB, 1 KiB beside each block's own.
            {{128, 100 * KiB}, {2, By::Shared}},
            {{128, 113 * KiB}, {2, By::Shared}},
            {{128, 113 * KiB + 1}, {1, By::Shared}},
            {{128, 227 * KiB}, {1, By::Shared}},
            {{128, 227 * KiB + 1}, {0, By::Shared}},
            // 233472 / 32 = 7296 is 57 units of 128, 6272 of them its own.
            {{32, 6272}, {32, By::Blocks}},
            {{32, 6273}, {31, By::Shared}},
            // Both: 6 by registers, 4 by 228 / 51.
            {{256, 50 * KiB, 40}, {4, By::Shared}},
        });
}

TEST(Occupancy, Gtx480) {
  check(gtx480(), {
                      {{256, 0}, {6, By::Threads}},
                      {{192, 0}, {8, By::Threads}},
                      {{128, 0}, {8, By::Blocks}},
                      // 21 * 32 = 672 rounded up to 704: 23 warps of a half.
                      {{256, 0, 21}, {5, By::Registers}},
                      {{256, 0, 20}, {6, By::Threads}},
                      // No kilobyte goes to the system.
                      {{64, 16 * KiB}, {3, By::Shared}},
                      {{64, 48 * KiB}, {1, By::Shared}},
                  });
}

TEST(Occupancy, LimitsHaveWords) {
  EXPECT_STREQ(wordOf(By::Threads), "threads");
  EXPECT_STREQ(wordOf(By::Blocks), "thread blocks");
  EXPECT_STREQ(wordOf(By::Registers), "registers");
  EXPECT_STREQ(wordOf(By::Shared), "shared memory");
}
