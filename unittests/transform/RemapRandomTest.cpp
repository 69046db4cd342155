//===- unittests/transform/RemapRandomTest.cpp - Remapped and not ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after every branch that can has got a round.
// 100 of them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "RemapKernels.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::transform {
namespace {

class RemappedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(RemappedKernels, LeaveTheSameBytes) {
  unsigned First = 1, Count = 100, Kernels = 0, WithRounds = 0;
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    auto [A, B] = StringRef(Text).split(',');
    ASSERT_FALSE(A.getAsInteger(10, First) || B.getAsInteger(10, Count))
        << "RECONVERGE_RANDOM_SEEDS is not \"first,count\"";
  }
  for (unsigned I = GetParam(); I < Count; I += Shares) {
    const uint64_t Seed = First + I;
    LLVMContext C;
    auto M = randomKernel(C, Seed, remapShape(Seed));
    auto Apply = [&](Module &Of) { return remapModule(Of, eagerRemap()); };
    Trial T = compare(*M, Seed, Apply);
    ++Kernels;
    WithRounds += T.Changes > 0;
    if (T.Difference.empty())
      continue;
    ADD_FAILURE() << "seed " << Seed << ": " << T.Difference;
    if (std::getenv("RECONVERGE_REDUCE")) {
      auto Small = reduce(std::move(M), [&](const Module &Of) {
        return !compare(Of, Seed, Apply, Reference::Vm).Difference.empty();
      });
      errs() << "; seed " << Seed << ", reduced\n" << *Small;
    }
    return;
  }
  EXPECT_GE(WithRounds * 3, Kernels) << "the kernels have too few rounds";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RemappedKernels, testing::Range(0u, Shares));

/// The comparison notices a value that did not move.
TEST(RemappedKernels, APlantedBugIsCaught) {
  RemapOptions Options = eagerRemap();
  Options.PlantedBug = true;
  auto Apply = [&](Module &M) { return remapModule(M, Options); };
  unsigned Caught = 0, Changed = 0;
  for (uint64_t Seed = 1; Seed <= 100 && !Caught; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, remapShape(Seed));
    Trial T = compare(*M, Seed, Apply);
    Changed += T.Changes > 0;
    Caught += !T.Difference.empty();
  }
  EXPECT_TRUE(Caught) << "of " << Changed << " that were remapped";
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
    const unsigned Rounds = remapModule(*A, eagerRemap());
    remapModule(*B, eagerRemap());
    const std::string Once = Text(*A);
    EXPECT_TRUE(Once == Text(*B)) << "seed " << Seed;
    EXPECT_EQ(remapModule(*A, eagerRemap()), 0u) << "seed " << Seed;
    EXPECT_TRUE(!Rounds || Once == Text(*A)) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::transform
