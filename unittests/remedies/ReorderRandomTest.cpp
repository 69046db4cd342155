//===- unittests/remedies/ReorderRandomTest.cpp - Reordered and not -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, with barriers and shared memory, run before and after the order
// of their blocks is changed. 200 of them here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, and RECONVERGE_REDUCE=1 then
// prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"
#include "Seeds.h"

#include "core/Remedied.h"
#include "launch/RecipeText.h"
#include "remedies/reorder_blocks/Reorder.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

RandomKernelOptions shapeFor(uint64_t Seed) {
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = true; // a callee may not ask for its block
  // Small ones, as compiling them takes the time.
  Options.Depth = 2;
  Options.Statements = Seed % 4 ? 3 : 2;
  return Options;
}

unsigned reorderSeed(Module &M, BlockOrder By, bool Bug = false) {
  ReorderOptions Options;
  Options.Order = By;
  Options.Least = 1;
  Options.PlantedBug = Bug;
  PlanOr<Recipe> Made = reorderBlocks(*M.getFunction("k"), Options);
  auto *Now = std::get_if<Recipe>(&Made);
  if (Now)
    M.getFunction("k")->addFnAttr(RecipeAttribute, launch::printRecipe(*Now));
  EXPECT_FALSE(verifyModule(M, &errs()));
  return Now ? 1 : 0;
}

/// By one order or the other.
unsigned reorderSeed(Module &M, uint64_t Seed, bool Bug = false) {
  return reorderSeed(M, Seed % 3 ? BlockOrder::Last : BlockOrder::Reversed,
                     Bug);
}

/// By what can be known of a kernel beforehand.
unsigned reorderBySlice(Module &M, uint64_t) {
  return reorderSeed(M, BlockOrder::Slice);
}

class ReorderedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(ReorderedKernels, LeaveTheSameBytes) {
  SeedsTried Tried = compareSeeds(
      20, GetParam(), Shares, shapeFor,
      [](Module &M, uint64_t Seed) { return reorderSeed(M, Seed); });
  if (HasFailure())
    return;
  EXPECT_GE(Tried.Changed * 50, Tried.Kernels * 49)
      << "but for some that never ask for their block, all may be reordered";
}

TEST_P(ReorderedKernels, LeaveTheSameBytesBySlice) {
  SeedsTried Tried =
      compareSeeds(10, GetParam(), Shares, shapeFor, reorderBySlice);
  if (HasFailure())
    return;
  EXPECT_GE(Tried.Changed * 5, Tried.Kernels)
      << "the rest decides by what it has written, or by all that it does";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReorderedKernels, testing::Range(0u, Shares));

/// The comparison notices blocks that run twice, or never.
TEST(ReorderedKernels, APlantedBugIsCaught) {
  expectCaught(shapeFor, [](Module &M, uint64_t Seed) {
    return reorderSeed(M, Seed, /*Bug=*/true);
  });
}

/// Same input, same bytes.
TEST(ReorderedKernels, AreDeterministic) {
  expectDeterministic(
      shapeFor, [](Module &M, uint64_t Seed) { return reorderSeed(M, Seed); });
}

} // namespace
} // namespace reconverge::remedies
