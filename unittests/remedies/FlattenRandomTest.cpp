//===- unittests/remedies/FlattenRandomTest.cpp - Flattened and not -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after one of their inner loops is flattened:
// the one that is chosen, or one that a branch names. 200 of them here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, and RECONVERGE_REDUCE=1
// then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Seeds.h"

#include "analysis/Numbering.h"
#include "remedies/flatten/Rewrite.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// Kernels with loops in loops, with shared memory outside of them.
RandomKernelOptions flattenShape(uint64_t Seed) {
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = false;
  Options.Loops = 45;
  Options.Depth = 3;
  Options.Statements = 2;
  return Options;
}

FlattenOptions flattenOptionsFor(uint64_t Seed) {
  Random R(Seed ^ 0xf1a77e);
  FlattenOptions Options;
  const uint32_t Thresholds[] = {0, 1, 2, 4, 8, 16, 31, 32};
  Options.Threshold = Thresholds[R.below(8)];
  Options.Rounds = R.chance(50) ? 1 : 2 + R.below(6);
  return Options;
}

unsigned flattenModule(Module &M, const FlattenOptions &Options) {
  Function &F = *M.getFunction("k");
  const auto Plan = flatten::planFlatten(F, Options);
  const auto *Made = std::get_if<flatten::FlattenPlan>(&Plan);
  if (Made)
    flatten::rewrite(*Made, F);
  return Made ? 1 : 0;
}

/// One kernel in two has the last inner loop flattened that may be.
unsigned flattenSeed(Module &M, uint64_t Seed) {
  FlattenOptions Options = flattenOptionsFor(Seed);
  if (Seed % 2)
    return flattenModule(M, Options);
  return changeByBranch(M, [&](uint32_t Branch) {
    Options.Branch = Branch;
    return flattenModule(M, Options);
  });
}

/// One branch of each kernel by which rounds skip some work, looked ahead.
unsigned lookAheadWith(Module &M, bool PlantedBug) {
  return changeByBranch(M, [&](uint32_t Branch) {
    FlattenOptions Options;
    Options.Branch = Branch;
    Options.Ahead = true;
    Options.PlantedBug = PlantedBug;
    Function &F = *M.getFunction("k");
    const auto Plan = flatten::planFlatten(F, Options);
    const auto *Made = std::get_if<flatten::FlattenPlan>(&Plan);
    if (!Made || !Made->Ahead)
      return 0u;
    flatten::rewrite(*Made, F);
    return 1u;
  });
}

unsigned lookAhead(Module &M, uint64_t) { return lookAheadWith(M, false); }

class FlattenedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(FlattenedKernels, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(80, GetParam(), Shares, flattenShape, flattenSeed);
  if (HasFailure())
    return;
  RecordProperty("flattened", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 4, Tried.Kernels)
      << "the kernels have too few loops in loops";
}

TEST_P(FlattenedKernels, LookedAheadLeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(400, GetParam(), Shares, flattenShape, lookAhead);
  if (HasFailure())
    return;
  RecordProperty("looked-ahead", int(Tried.Changed));
  EXPECT_GE(Tried.Changed, 4u) << "too few rounds skip work and do no other";
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlattenedKernels, testing::Range(0u, Shares));

/// The comparison notices a value that was not kept.
TEST(FlattenedKernels, APlantedBugIsCaught) {
  expectCaught(flattenShape, [](Module &M, uint64_t Seed) {
    FlattenOptions Options = flattenOptionsFor(Seed);
    Options.PlantedBug = true;
    return flattenModule(M, Options);
  });
}

/// Nor one that the work has changed.
TEST(FlattenedKernels, ABugPlantedInLookingAheadIsCaught) {
  expectCaught(flattenShape,
               [](Module &M, uint64_t) { return lookAheadWith(M, true); });
}

/// Same input, same bytes.
TEST(FlattenedKernels, AreDeterministic) {
  expectDeterministic(flattenShape, flattenSeed);
  expectDeterministic(flattenShape, lookAhead);
}

} // namespace
} // namespace reconverge::remedies
