//===- unittests/remedies/CollectRandomTest.cpp - Collected and not -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after their threads are collected by path. 200
// of them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "CollectKernels.h"
#include "Seeds.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

unsigned collectSeed(Module &M, uint64_t Seed) {
  return collectModule(M, collectOptionsFor(Seed));
}

class CollectedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(CollectedKernels, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(80, GetParam(), Shares, collectShape, collectSeed);
  if (HasFailure())
    return;
  RecordProperty("collected", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 6, Tried.Kernels)
      << "the kernels have too few branches";
}

INSTANTIATE_TEST_SUITE_P(Seeds, CollectedKernels, testing::Range(0u, Shares));

/// The comparison notices an item that was left out.
TEST(CollectedKernels, APlantedBugIsCaught) {
  expectCaught(collectShape, [](Module &M, uint64_t Seed) {
    CollectOptions Options = collectOptionsFor(Seed);
    Options.PlantedBug = true;
    return collectModule(M, Options);
  });
}

/// Same input, same bytes.
TEST(CollectedKernels, AreDeterministic) {
  expectDeterministic(collectShape, collectSeed);
}

} // namespace
} // namespace reconverge::remedies
