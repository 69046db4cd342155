//===- unittests/remedies/HerdRandomTest.cpp - Herded and not -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after their branches are herded. With a
// threshold of 0 nobody is dropped, and they leave the same bytes: all votes are
// there, and a mask that is wrong ends in a hang, in a lane that is not counted,
// or in a vote that hangs on who is converged. With others they leave other
// bytes, but the same ones on the VM as lane by lane in scalar code of the host
// (LaneByLane.h), where lanes meet for votes alone. 200 of each here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, and RECONVERGE_REDUCE=1
// then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "LaneByLane.h"
#include "Seeds.h"

#include "analysis/Numbering.h"
#include "remedies/herd/Masks.h"
#include "remedies/herd/Rewrite.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// Kernels with loops and ifs, some with shared memory.
RandomKernelOptions herdShape(uint64_t Seed) {
  Random R(Seed ^ 0x4e4d);
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = R.chance(20);
  Options.Irreducible = R.chance(20);
  Options.Loops = 25;
  Options.Depth = 2 + R.below(2);
  Options.Statements = 2 + R.below(2);
  return Options;
}

HerdOptions herdOptionsFor(uint64_t Seed) {
  Random R(Seed ^ 0x4e4dd);
  HerdOptions Options;
  Options.Ids = true;
  Options.Least = 0;
  Options.Every = R.chance(40) ? 1 : 2 + R.below(6);
  const uint32_t Thresholds[] = {1, 8, 16, 24, 31};
  Options.Threshold = Thresholds[R.below(5)];
  Options.TwoWays = R.chance(15);
  return Options;
}

unsigned herdModule(Module &M, const HerdOptions &Options) {
  analysis::numberBlocks(M);
  Function &F = *M.getFunction("k");
  herd::canonicalize(F);
  const herd::HerdPlan Plan = herd::planHerd(F, Options);
  if (!Plan.Points.empty())
    herd::rewrite(Plan, F);
  return Plan.Points.size();
}

unsigned herdSeedNobody(Module &M, uint64_t Seed) {
  HerdOptions Options = herdOptionsFor(Seed);
  Options.Threshold = 0;
  Options.TwoWays = false;
  return herdModule(M, Options);
}

unsigned herdSeed(Module &M, uint64_t Seed) {
  return herdModule(M, herdOptionsFor(Seed));
}

class HerdedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(HerdedKernels, LeaveTheSameBytesIfNobodyIsDropped) {
  SeedsTried Tried =
      compareSeeds(80, GetParam(), Shares, herdShape, herdSeedNobody);
  if (HasFailure())
    return;
  RecordProperty("herded", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
      << "the kernels have too few branches that may be herded";
}

INSTANTIATE_TEST_SUITE_P(Seeds, HerdedKernels, testing::Range(0u, Shares));

/// The first of \p Count kernels from seed \p First on that differs fails.
SeedsTried compareVotes(uint64_t First, unsigned Count) {
  SeedsTried Tried;
  for (uint64_t Seed = First; Seed != First + Count; ++Seed) {
    LLVMContext C;
    const auto M = randomKernel(C, Seed, herdShape(Seed));
    const Trial T = compareChanged(
        *M, Seed, [&](Module &Of) { return herdSeed(Of, Seed); },
        [&](const Module &Of, unsigned Blocks, unsigned Threads,
            const std::vector<uint32_t> &In, std::vector<uint32_t> &Out,
            std::vector<uint32_t> &Sums, uint32_t N) {
          return runLaneByLane(Of, Seed, Blocks, Threads, In, Out, Sums, N);
        });
    ++Tried.Kernels;
    Tried.Changed += T.Changes > 0;
    if (!T.Difference.empty()) {
      ADD_FAILURE() << "seed " << Seed << ": " << T.Difference;
      break;
    }
  }
  return Tried;
}

TEST_P(HerdedKernels, VoteAlikeOnTheVmAndLaneByLane) {
  constexpr unsigned Count = 80 / Shares;
  uint64_t First = 1 + GetParam() * Count;
  unsigned Number = Count;
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    const auto [A, B] = StringRef(Text).split(',');
    ASSERT_FALSE(A.getAsInteger(10, First) || B.getAsInteger(10, Number));
    Number /= Shares;
    First += GetParam() * Number;
  }
  const SeedsTried Tried = compareVotes(First, Number);
  RecordProperty("herded", int(Tried.Changed));
  EXPECT_TRUE(HasFailure() || Tried.Changed * 3 >= Tried.Kernels)
      << "the kernels have too few branches that may be herded";
}

/// Of 5,000: a way out of two loops, a way out that is always taken, a mask that
/// is simplified while a loop is unrolled, and a way out that moves meanwhile.
TEST(HerdedKernels, SeedsThatHaveFailedVoteAlike) {
  for (uint64_t Seed : {13041, 10017, 10806, 14920})
    compareVotes(Seed, 1);
}

/// The comparison notices a lane that a vote does not count.
TEST(HerdedKernels, APlantedBugIsCaught) {
  expectCaught(herdShape, [](Module &M, uint64_t Seed) {
    HerdOptions Options = herdOptionsFor(Seed);
    Options.Threshold = 0;
    Options.TwoWays = false;
    Options.PlantedBug = true;
    return herdModule(M, Options);
  });
}

/// Same input, same bytes.
TEST(HerdedKernels, AreDeterministic) {
  expectDeterministic(herdShape, herdSeed);
}

} // namespace
} // namespace reconverge::remedies
