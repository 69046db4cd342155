//===- unittests/transform/DifferentialTest.cpp - Melded and not ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels with much to meld, run on the warp VM before and after. 500 of
// them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"

#include "transform/meld/Meld.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::transform {
namespace {

unsigned meldModule(Module &M, const MeldOptions &Options) {
  unsigned Melded = 0;
  for (Function &F : M)
    if (!F.isDeclaration()) {
      OptimizationRemarkEmitter Remarks(&F);
      Melded += meldFunction(F, Options, Remarks).Branches;
    }
  return Melded;
}

/// Low prices, so that much is melded that is not worth it.
MeldOptions optionsFor(uint64_t Seed) {
  MeldOptions Options;
  Options.Threshold = Seed % 3 ? 0 : 0.1;
  Options.Guard = Seed % 2 ? 1 : 4;
  return Options;
}

/// The code as text, without the comments that tell the order of use lists.
std::string textOf(const Module &M) {
  std::string Text, Code;
  raw_string_ostream(Text) << M;
  SmallVector<StringRef> Lines;
  StringRef(Text).split(Lines, '\n');
  for (StringRef Line : Lines)
    Code += Line.split(';').first.rtrim().str() + '\n';
  return Code;
}

/// Every test takes a share of the seeds.
class MeldedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 5;

TEST_P(MeldedKernels, LeaveTheSameBytes) {
  unsigned First = 1, Count = 500, Kernels = 0, WithMelds = 0;
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    auto [A, B] = StringRef(Text).split(',');
    ASSERT_FALSE(A.getAsInteger(10, First) || B.getAsInteger(10, Count))
        << "RECONVERGE_RANDOM_SEEDS is not \"first,count\"";
  }
  for (unsigned I = GetParam(); I < Count; I += Shares) {
    const uint64_t Seed = First + I;
    LLVMContext C;
    auto M = randomKernel(C, Seed, twinOptions(Seed));
    auto Apply = [&](Module &Of) { return meldModule(Of, optionsFor(Seed)); };
    Trial T = compare(*M, Seed, Apply);
    ++Kernels;
    WithMelds += T.Changes > 0;
    if (T.Difference.empty())
      continue;
    ADD_FAILURE() << "seed " << Seed << ": " << T.Difference;
    if (std::getenv("RECONVERGE_REDUCE")) {
      auto Small = reduce(std::move(M), [&](const Module &Of) {
        return !compare(Of, Seed, Apply).Difference.empty();
      });
      errs() << "; seed " << Seed << ", reduced\n" << *Small;
    }
    return;
  }
  EXPECT_GE(WithMelds * 2, Kernels) << "the kernels have too little to meld";
}

INSTANTIATE_TEST_SUITE_P(Seeds, MeldedKernels, testing::Range(0u, Shares));

/// The comparison notices a select that takes the wrong side, and the reducer
/// finds a kernel that is small enough to look at.
TEST(MeldedKernels, APlantedBugIsCaughtAndReduced) {
  MeldOptions Options;
  Options.PlantedBug = true;
  auto Apply = [&](Module &M) { return meldModule(M, Options); };
  unsigned Caught = 0, Changed = 0;
  bool Reduced = false;
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, twinOptions(Seed));
    Trial T = compare(*M, Seed, Apply);
    Changed += T.Changes > 0;
    if (T.Difference.empty())
      continue;
    ++Caught;
    if (Reduced)
      continue;
    Reduced = true;
    const unsigned Before = M->getInstructionCount();
    auto Small = reduce(
        std::move(M),
        [&](const Module &Of) {
          return !compare(Of, Seed, Apply).Difference.empty();
        },
        /*Budget=*/150);
    EXPECT_LT(Small->getInstructionCount(), Before);
    EXPECT_FALSE(compare(*Small, Seed, Apply).Difference.empty());
  }
  EXPECT_GE(Caught, 3u) << "of " << Changed << " that were melded";
}

/// Same input, same bytes; and what is melded once is left alone.
TEST(MeldedKernels, AreDeterministic) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, twinOptions(Seed));
    auto N = randomKernel(C, Seed, twinOptions(Seed));
    meldModule(*M, optionsFor(Seed));
    meldModule(*N, optionsFor(Seed));
    const std::string Once = textOf(*M);
    EXPECT_TRUE(Once == textOf(*N)) << "seed " << Seed;
    EXPECT_EQ(meldModule(*M, optionsFor(Seed)), 0u) << "seed " << Seed;
    EXPECT_TRUE(Once == textOf(*M)) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::transform
