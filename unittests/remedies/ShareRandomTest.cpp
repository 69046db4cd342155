//===- unittests/remedies/ShareRandomTest.cpp - Shared and not ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after one of their loops is shared: the one
// that is chosen, or one that a branch names. 100 of them here, half of which
// have such a loop; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Seeds.h"

#include "analysis/AnalysisManagers.h"
#include "remedies/share/Rewrite.h"

#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// Short kernels with loops, of which iterations do little that ties them.
RandomKernelOptions shareShape(uint64_t Seed) {
  Random R(Seed ^ 0x5a7e);
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = false;
  Options.Local = false;
  Options.Shared = R.chance(30);
  Options.Records = R.chance(80);
  Options.Irreducible = R.chance(10);
  Options.Loops = 60;
  Options.Depth = 1 + R.below(3);
  Options.Statements = 1 + R.below(2);
  return Options;
}

ShareOptions shareOptionsFor(uint64_t Seed) {
  Random R(Seed ^ 0x5a7ed);
  ShareOptions Options;
  Options.Threshold = R.chance(80) ? 0 : 50 + R.below(100);
  return Options;
}

/// Loops are left at their ends, as the device pipeline has them.
void rotate(Module &M) {
  analysis::AnalysisManagers Analyses;
  FunctionPassManager FPM;
  LoopPassManager LPM;
  LPM.addPass(LoopRotatePass());
  LPM.addPass(LICMPass(LICMOptions()));
  FPM.addPass(createFunctionToLoopPassAdaptor(std::move(LPM),
                                              /*UseMemorySSA=*/true));
  FPM.addPass(InstCombinePass());
  FPM.run(*M.getFunction("k"), Analyses.Functions);
}

unsigned shareModule(Module &M, const ShareOptions &Options) {
  Function &F = *M.getFunction("k");
  const auto Plan = share::planShare(F, Options);
  const auto *Made = std::get_if<share::SharePlan>(&Plan);
  if (Made)
    share::rewrite(*Made, F);
  return Made ? 1 : 0;
}

/// One kernel in two has the last loop shared that may be.
unsigned shareSeed(Module &M, uint64_t Seed) {
  rotate(M);
  ShareOptions Options = shareOptionsFor(Seed);
  if (Seed % 2)
    return shareModule(M, Options);
  return changeByBranch(M, [&](uint32_t Branch) {
    Options.Branch = Branch;
    return shareModule(M, Options);
  });
}

class SharedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(SharedKernels, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(60, GetParam(), Shares, shareShape, shareSeed);
  if (HasFailure())
    return;
  RecordProperty("shared", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
      << "the kernels have too few loops to share";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedKernels, testing::Range(0u, Shares));

/// The comparison notices an iteration that runs as another thread's.
TEST(SharedKernels, APlantedBugIsCaught) {
  expectCaught(shareShape, [](Module &M, uint64_t Seed) {
    rotate(M);
    ShareOptions Options = shareOptionsFor(Seed);
    Options.PlantedBug = true;
    return shareModule(M, Options);
  });
}

/// Same input, same bytes.
TEST(SharedKernels, AreDeterministic) {
  expectDeterministic(shareShape, shareSeed);
}

} // namespace
} // namespace reconverge::remedies
