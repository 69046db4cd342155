//===- unittests/model/SlotShareTest.cpp - Shares of time, by hand --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/SlotShare.h"
#include "model/Demand.h"
#include "model/Model.h"
#include "model/Time.h"

#include "HandMade.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::model;

namespace {

/// test::alternating(), whose accesses were counted (there were none).
KernelProfile counted(std::string Name) {
  auto H = test::issuing(test::alternating(std::move(Name)));
  H.K.Info.Accesses = {AccessInfo{}};
  H.K.Accesses = {AccessCounts{}};
  return std::move(H.K);
}

/// One that takes 11 cycles to start a thread block and 8 to launch a kernel.
analysis::MachineLimits slowStarts() {
  analysis::MachineLimits L = test::oneScheduler();
  L.BlockStarts = 1.0 / 11;
  L.LaunchCycles = 8;
  return L;
}

/// 11 slots of which the branch wastes 4. The kernel takes 11 + 11 cycles, and
/// 7 + 11 without these: 4 of 22. Of all slots 11 of 22 would come back, and 11
/// slots more take 11 of 22 longer. Launched, it takes 8 more with them and
/// without.
TEST(SlotShare, IsWhatTheModelSavesWithoutTheSlots) {
  const KernelProfile K = counted("k");
  const analysis::MachineLimits L = slowStarts();
  const SlotShare OfTime(K, 11, &L);
  EXPECT_NEAR(OfTime.of(4), 4.0 / 22, 1e-9);
  EXPECT_NEAR(OfTime.of(11), 0.5, 1e-5);
  EXPECT_NEAR(OfTime.of(-11), -0.5, 1e-9);
  EXPECT_NEAR(OfTime.gain(4), 30.0 / 26, 1e-9);
  EXPECT_NEAR(OfTime.all(), 22, 1e-9);
  const SlotShare OfSlots(K, 11);
  EXPECT_DOUBLE_EQ(OfSlots.of(4), 4.0 / 11);
  EXPECT_DOUBLE_EQ(OfSlots.gain(4), 11.0 / 7);
  EXPECT_DOUBLE_EQ(OfSlots.all(), 11);
}

/// The same kernel three times in one launch and once in another: 66 and 22 of
/// 88 cycles of the run. All kernels' branches are one place.
TEST(SlotShare, CostsOfARunAreOfItsTime) {
  Profile P;
  P.Kernels = {counted("often"), counted("once")};
  for (BlockCounts &C : P.Kernels[0].Blocks) {
    C.Warps *= 3;
    C.Lanes *= 3;
  }
  P.Kernels[0].Launches = 3;
  const analysis::MachineLimits L = slowStarts();
  const RunCost Run = costOf(P, {}, &L);
  EXPECT_TRUE(Run.OfTime);
  EXPECT_NEAR(Run.Kernels[0].OfRun, 0.75, 1e-9);
  EXPECT_NEAR(Run.Kernels[1].OfRun, 0.25, 1e-9);
  EXPECT_NEAR(Run.Kernels[1].Branches[0].Cost, 4.0 / 22, 1e-9);
  EXPECT_NEAR(Run.Kernels[1].Branches[0].Self, 4.0 / 22, 1e-9);
  EXPECT_DOUBLE_EQ(Run.Kernels[1].Branches[0].SelfSlots, 4);
  ASSERT_EQ(Run.Places.size(), 1u);
  EXPECT_NEAR(Run.Places[0].Self, 4.0 / 22, 1e-9);
  EXPECT_NEAR(Run.Places[0].Cost, 4.0 / 22, 1e-9);
}

/// What a kernel waits for is not known without its accesses, nor without a
/// GPU: shares are of slots.
TEST(SlotShare, WithoutTimesSlotsStand) {
  Profile P;
  P.Kernels = {counted("k")};
  EXPECT_FALSE(costOf(P).OfTime);
  P.Kernels[0].Accesses.clear();
  const analysis::MachineLimits L = slowStarts();
  const RunCost Run = costOf(P, {}, &L);
  EXPECT_FALSE(Run.OfTime);
  EXPECT_DOUBLE_EQ(Run.Places[0].Self, 4.0 / 11);
}

/// Chains that stay are those of 11 slots. Shared memory that is asked for more
/// takes as many cycles more.
TEST(SlotShare, AddedWorkIsPaidFor) {
  const KernelProfile K = counted("k");
  const analysis::MachineLimits L = slowStarts();
  const SlotShare OfTime(K, 11, &L);
  EXPECT_NEAR(OfTime.gain(4, {}), OfTime.gain(4), 1e-9);
  AddedWork Slots;
  Slots.Slots = 3;
  EXPECT_NEAR(OfTime.gain(4, Slots), OfTime.gain(1), 1e-9);
  AddedWork Waits;
  Waits.Wavefronts = 1000;
  EXPECT_LT(OfTime.gain(4, Waits), 0.1);
  AddedWork Chains;
  Chains.PathCycles = 1e4;
  EXPECT_LT(OfTime.gain(4, Chains), 0.1);
  // As long again, before each launch.
  AddedWork Before;
  const double Cycles = model::timeOf(model::demandOf(K), L).Cycles;
  Before.Seconds = double(K.Launches) * Cycles / (L.ClockMHz * 1e6);
  EXPECT_NEAR(OfTime.gain(0, Before), 0.5, 1e-9);
}

/// It goes before what comes back, but is not compared with prices of the IR.
TEST(SlotShare, MachineCodeOfTheCandidateIsItsTime) {
  KernelProfile K = counted("k");
  const analysis::MachineLimits L = slowStarts();
  const double Launches = double(K.Launches);
  const Demand Now = model::demandOf(K);
  AddedWork Own, Longer;
  Own.Machine = {{}, Now.PathCycles * Launches, Now.PathLoads * Launches};
  for (auto [Busy, All] : llvm::zip_equal(Own.Machine->Busy, Now.Busy))
    Busy = All * Launches;
  Longer = Own;
  Longer.Machine->PathCycles += 1e5;
  EXPECT_GT(SlotShare(K, 11, &L).gain(4, Longer), 1);
  K.Info.HasMachineCode = true;
  EXPECT_NEAR(SlotShare(K, 11, &L).gain(4, Own), 1, 1e-9);
  EXPECT_LT(SlotShare(K, 11, &L).gain(4, Longer), 0.1);
}

} // namespace
