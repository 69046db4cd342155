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

#include "analysis/Numbering.h"

#include "llvm/Transforms/Utils/Cloning.h"

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
  analysis::numberBlocks(M);
  SmallVector<uint32_t> Branches;
  for (const BasicBlock &BB : *M.getFunction("k"))
    if (auto Number = analysis::branchNumber(BB))
      Branches.push_back(*Number);
  for (uint32_t Branch : reverse(Branches)) {
    Options.Branch = Branch;
    if (unsigned Kernels = refillModule(M, Options))
      return Kernels;
  }
  return 0;
}

class RefilledKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(RefilledKernels, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(200, GetParam(), Shares, refillShape, refillSeed);
  if (HasFailure())
    return;
  RecordProperty("refilled", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 2, Tried.Kernels)
      << "the kernels have too few loops";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RefilledKernels, testing::Range(0u, Shares));

/// The comparison notices a value that was not kept.
TEST(RefilledKernels, APlantedBugIsCaught) {
  unsigned Caught = 0, Changed = 0;
  for (uint64_t Seed = 1; Seed <= 100 && !Caught; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, refillShape(Seed));
    Trial T = compare(*M, Seed, [&](Module &Of) {
      RefillOptions Options = refillOptionsFor(Seed);
      Options.PlantedBug = true;
      return refillModule(Of, Options);
    });
    Changed += T.Changes > 0;
    Caught += !T.Difference.empty();
  }
  EXPECT_TRUE(Caught) << "of " << Changed << " that were refilled";
}

/// Same input, same bytes.
TEST(RefilledKernels, AreDeterministic) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    LLVMContext C;
    const auto Original = randomKernel(C, Seed, refillShape(Seed));
    auto Text = [](const Module &M) {
      std::string S;
      raw_string_ostream(S) << M;
      return S;
    };
    auto A = CloneModule(*Original), B = CloneModule(*Original);
    refillSeed(*A, Seed);
    refillSeed(*B, Seed);
    EXPECT_TRUE(Text(*A) == Text(*B)) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::remedies
