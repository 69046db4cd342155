//===- unittests/remedies/RegroupForecastTest.cpp - What is worth a trial -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half of the lanes of each warp take one side of a branch on data, half the
// other.
//
//===----------------------------------------------------------------------===//

#include "model/Model.h"
#include "remedies/regroup/Forecast.h"

#include "../model/HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::remedies;
using reconverge::test::HandMadeKernel;

namespace {

constexpr uint64_t Warps = 31250; // a million threads
using Texts = std::vector<std::string>;

/// What is guessed if a launch of the kernel took \p Seconds on a GPU, or on a
/// CPU, and putting its threads in order gives back a tenth.
Texts guessed(double Seconds, bool OnGpu, uint64_t Launches = 1,
              size_t Shapes = 1) {
  HandMadeKernel H;
  H.K.Threads = 32 * Warps * Launches;
  H.K.Launches = Launches;
  H.K.Shapes.resize(Shapes);
  H.K.Seconds = Seconds * double(Launches);
  H.K.OnGpu = OnGpu;
  const uint32_t First = H.block(10, Warps, 32 * Warps),
                 Then = H.block(500, Warps, 16 * Warps),
                 Else = H.block(500, Warps, 16 * Warps);
  H.block(1, Warps, 32 * Warps);
  H.branch(BranchKind::IfElse, First, {Then, Else}, {Then, Else}, Warps,
           {16 * Warps, 16 * Warps});
  H.K.Info.Branches[0].Reason = "load";
  AccessInfo Gather;
  Gather.Id = 7;
  Gather.Use = MemoryUse::Load;
  H.K.Info.Accesses = {Gather};
  AccessCounts Counts;
  Counts.Sectors = 32 * Warps;
  Counts.LeastSectors = 4 * Warps;
  H.K.Accesses = {Counts};
  KernelCost Cost = model::costOf(H.K);
  Cost.Branches[0].RecoverSlots.InGrid = Cost.Slots / 10;
  return regroup::guess(H.K, Cost);
}

TEST(RegroupForecast, WithAndWithoutThePlace) {
  const Texts Both = {"branch=0", "branch=0;locality=12;gather=7"};
  EXPECT_EQ(guessed(1e-3, true), Both);
  EXPECT_EQ(guessed(1e-6, false), Both) << "a CPU runs small examples";
}

TEST(RegroupForecast, AKernelThatIsOverBeforeTheSortIsLeftAlone) {
  EXPECT_EQ(guessed(60e-6, true), Texts{"branch=0"}) << "a place takes 65 us";
  EXPECT_EQ(guessed(30e-6, true), Texts{}) << "an order takes 35 us";
}

TEST(RegroupForecast, AnOrderServesLaunchesThatRepeat) {
  const Texts All = {"branch=0", "branch=0;reuse=on",
                     "branch=0;locality=12;gather=7",
                     "branch=0;locality=12;gather=7;reuse=on"};
  EXPECT_EQ(guessed(1e-3, true, 10), All);
  EXPECT_EQ(guessed(1e-3, true, 9).size(), 2u) << "too few";
  EXPECT_EQ(guessed(1e-3, true, 19, 2).size(), 2u) << "too few of each shape";
  EXPECT_EQ(guessed(1e-3, true, 800, 8).size(), 2u) << "more shapes than known";
  const Texts Reused = {"branch=0;reuse=on",
                        "branch=0;locality=12;gather=7;reuse=on"};
  EXPECT_EQ(guessed(30e-6, true, 10), Reused)
      << "a tenth of an order is shorter";
}

} // namespace
