//===- unittests/remedies/RefillRandomTest.cpp - Refilled and not ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after one of their loops is refilled: the one
// that is chosen, or one that a branch names. 200 of them here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, and RECONVERGE_REDUCE=1
// then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "RefillKernels.h"
#include "Seeds.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// One kernel in two has an inner loop refilled if it has one: the last branch
/// that leaves a loop is tried first.
unsigned refillSeed(Module &M, uint64_t Seed) {
  RefillOptions Options = refillOptionsFor(Seed);
  if (Seed % 2)
    return refillModule(M, Options);
  return changeByBranch(M, [&](uint32_t Branch) {
    Options.Branch = Branch;
    return refillModule(M, Options);
  });
}

class RefilledKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(RefilledKernels, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(80, GetParam(), Shares, refillShape, refillSeed);
  if (HasFailure())
    return;
  RecordProperty("refilled", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 2, Tried.Kernels)
      << "the kernels have too few loops";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RefilledKernels, testing::Range(0u, Shares));

/// The comparison notices a value that was not kept.
TEST(RefilledKernels, APlantedBugIsCaught) {
  expectCaught(refillShape, [](Module &M, uint64_t Seed) {
    RefillOptions Options = refillOptionsFor(Seed);
    Options.PlantedBug = true;
    return refillModule(M, Options);
  });
}

/// Kernels whose blocks first fill shared memory.
TEST_P(RefilledKernels, BehindAPrologueLeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(40, GetParam(), Shares, tableShape, refillSeed);
  if (HasFailure())
    return;
  RecordProperty("refilled", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 4, Tried.Kernels)
      << "too few launches are of whole warps";
}

/// The comparison notices a prologue whose threads do not wait for each other.
TEST(RefilledKernels, ALostBarrierIsCaught) {
  expectCaught(tableShape, [](Module &M, uint64_t Seed) {
    const unsigned Changes = refillSeed(M, Seed);
    Function *Barrier = M.getFunction("llvm.nvvm.barrier0");
    for (User *Call : make_early_inc_range(Barrier->users()))
      cast<Instruction>(Call)->eraseFromParent();
    return Changes;
  });
}

/// Same input, same bytes.
TEST(RefilledKernels, AreDeterministic) {
  expectDeterministic(refillShape, refillSeed);
}

} // namespace
} // namespace reconverge::remedies
