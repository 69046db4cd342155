//===- unittests/remedies/RemapRandomTest.cpp - Remapped and not ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after every branch that can has got a round.
// 100 of them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "RemapKernels.h"
#include "Seeds.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

class RemappedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(RemappedKernels, LeaveTheSameBytes) {
  unsigned Rounds = 0;
  Served All;
  SeedsTried Tried = compareSeeds(
      60, GetParam(), Shares, remapShape, [&](Module &M, uint64_t Seed) {
        const unsigned Here = remapSeed(M, Seed);
        const Served Of = servedIn(M);
        Rounds += Here;
        All.Switches += Of.Switches;
        All.Branches += Of.Branches;
        All.HeadOrTail += Of.HeadOrTail;
        All.DataGroupIndexing += Of.DataGroupIndexing;
        return Here;
      });
  if (HasFailure())
    return;
  EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
      << "the kernels have too few rounds";
  EXPECT_GE(All.Switches * 10, Tried.Kernels) << "and too few switches";
  EXPECT_GE((All.Switches + All.Branches) * 10, Rounds * 11)
      << "and too few rounds serve several branches";
  EXPECT_GE(All.HeadOrTail * 10, Rounds) << "and too few are of head_or_tail";
  EXPECT_GE(All.DataGroupIndexing * 10, Rounds) << "or data_group_indexing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RemappedKernels, testing::Range(0u, Shares));

/// The comparison notices a value that did not move.
TEST(RemappedKernels, APlantedBugIsCaught) {
  expectCaught(remapShape, [](Module &M, uint64_t Seed) {
    RemapOptions Options = eagerRemap(Seed);
    Options.PlantedBug = true;
    return remapModule(M, Options);
  });
}

/// Same input, same bytes; and what is remapped once is left alone.
TEST(RemappedKernels, AreDeterministic) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    LLVMContext C;
    const auto Original = randomKernel(C, Seed, remapShape(Seed));
    auto Text = [](const Module &M) {
      std::string S;
      raw_string_ostream(S) << M;
      return S;
    };
    auto A = CloneModule(*Original), B = CloneModule(*Original);
    const unsigned Rounds = remapSeed(*A, Seed);
    remapSeed(*B, Seed);
    const std::string Once = Text(*A);
    EXPECT_TRUE(Once == Text(*B)) << "seed " << Seed;
    EXPECT_EQ(remapModule(*A, eagerRemap(Seed)), 0u) << "seed " << Seed;
    EXPECT_TRUE(!Rounds || Once == Text(*A)) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::remedies
