//===- unittests/remedies/HerdRandomTest.cpp - Herded and not -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after their branches are herded. With a
// threshold of 0 nobody is dropped, and they leave the same bytes: all votes are
// there, and a mask that is wrong ends in a hang, in a lane that is not counted,
// or in a vote that hangs on who is converged. With others they leave other
// bytes, but on the VM the same ones
//
//   lane by lane    as the herded kernel in scalar code of the host, where lanes
//                   meet for votes alone (LaneByLane.h)
//   by the rule     as the original kernel in such code, where the host drops
//                   lanes by what docs/herd.md says (HerdRule.h)
//
// and as many threads are counted as dropped. 80 of each here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, RECONVERGE_REDUCE=1 then
// prints a small kernel for the first that fails, and
// RECONVERGE_WRITE_KERNELS=<folder> writes them for a GPU instead (RunKernels.cu).
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "HerdRule.h"
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

/// \p Counts: where the kernel ends it adds to the first of `sums` how many
/// threads were dropped.
unsigned herdModule(Module &M, const HerdOptions &Options,
                    bool Counts = false) {
  analysis::numberBlocks(M);
  Function &F = *M.getFunction("k");
  herd::canonicalize(F);
  const herd::HerdPlan Plan = herd::planHerd(F, Options);
  if (!Plan.Points.empty())
    herd::rewrite(Plan, F, Counts ? F.getArg(2) : nullptr);
  return Plan.Points.size();
}

unsigned herdSeedNobody(Module &M, uint64_t Seed) {
  HerdOptions Options = herdOptionsFor(Seed);
  Options.Threshold = 0;
  Options.TwoWays = false;
  return herdModule(M, Options);
}

unsigned herdSeed(Module &M, uint64_t Seed) {
  return herdModule(M, herdOptionsFor(Seed), Seed % 2);
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

/// What a reference makes of what \p Herded is made of.
using ReferenceOf = llvm::function_ref<std::string(
    const Module &Original, const Module &Herded, uint64_t Seed,
    unsigned Blocks, unsigned Threads, const std::vector<uint32_t> &In,
    std::vector<uint32_t> &Out, std::vector<uint32_t> &Sums, uint32_t N)>;

std::string laneByLane(const Module &, const Module &Herded, uint64_t Seed,
                       unsigned Blocks, unsigned Threads,
                       const std::vector<uint32_t> &In,
                       std::vector<uint32_t> &Out, std::vector<uint32_t> &Sums,
                       uint32_t N) {
  return runLaneByLane(Herded, Seed, Blocks, Threads, In, Out, Sums, N);
}

std::string byRule(const Module &Original, const Module &, uint64_t Seed,
                   unsigned Blocks, unsigned Threads,
                   const std::vector<uint32_t> &In, std::vector<uint32_t> &Out,
                   std::vector<uint32_t> &Sums, uint32_t N) {
  unsigned Dropped = 0;
  std::string Problem = runByRule(Original, herdOptionsFor(Seed), Seed, Blocks,
                                  Threads, In, Out, Sums, N, Dropped);
  Sums[0] += Seed % 2 ? Dropped : 0;
  return Problem;
}

Trial compareVotes(uint64_t Seed, SeedChange Herd, ReferenceOf Reference) {
  LLVMContext C;
  const auto M = randomKernel(C, Seed, herdShape(Seed));
  const auto Apply = [&](Module &Of) { return Herd(Of, Seed); };
  const auto Run = [&](const Module &Of, unsigned Blocks, unsigned Threads,
                       const std::vector<uint32_t> &In,
                       std::vector<uint32_t> &Out, std::vector<uint32_t> &Sums,
                       uint32_t N) {
    return Reference(*M, Of, Seed, Blocks, Threads, In, Out, Sums, N);
  };
  if (const char *Folder = std::getenv("RECONVERGE_WRITE_KERNELS"))
    return writeForGpu(stemFor(Folder, Seed), *M, Seed, Apply, Run);
  return compareChanged(*M, Seed, Apply, Run);
}

/// The first of \p Count kernels from seed \p First on that differs fails.
SeedsTried compareVotes(uint64_t First, unsigned Count, ReferenceOf Reference) {
  SeedsTried Tried;
  for (uint64_t Seed = First; Seed != First + Count; ++Seed) {
    const Trial T = compareVotes(Seed, herdSeed, Reference);
    ++Tried.Kernels;
    Tried.Changed += T.Changes > 0;
    if (!T.Difference.empty()) {
      ADD_FAILURE() << "seed " << Seed << ": " << T.Difference;
      break;
    }
  }
  return Tried;
}

/// The same of a share of those that RECONVERGE_RANDOM_SEEDS names.
void compareShare(unsigned Share, ReferenceOf Reference) {
  constexpr unsigned Count = 80 / Shares;
  uint64_t First = 1 + Share * Count;
  unsigned Number = Count;
  if (const char *Text = std::getenv("RECONVERGE_RANDOM_SEEDS")) {
    const auto [A, B] = StringRef(Text).split(',');
    ASSERT_FALSE(A.getAsInteger(10, First) || B.getAsInteger(10, Number));
    Number /= Shares;
    First += Share * Number;
  }
  const SeedsTried Tried = compareVotes(First, Number, Reference);
  testing::Test::RecordProperty("herded", int(Tried.Changed));
  EXPECT_TRUE(testing::Test::HasFailure() || Tried.Changed * 3 >= Tried.Kernels)
      << "the kernels have too few branches that may be herded";
}

TEST_P(HerdedKernels, VoteAlikeOnTheVmAndLaneByLane) {
  compareShare(GetParam(), laneByLane);
}

TEST_P(HerdedKernels, VoteByTheRule) { compareShare(GetParam(), byRule); }

/// Of 5,000: a way out of two loops, a way out that is always taken, a mask that
/// is simplified while a loop is unrolled, and a way out that moves meanwhile.
TEST(HerdedKernels, SeedsThatHaveFailedVoteAlike) {
  for (uint64_t Seed : {13041, 10017, 10806, 14920})
    compareVotes(Seed, 1, laneByLane);
}

/// Of 11,867: a way out that unrolling joined with another.
TEST(HerdedKernels, SeedsThatHaveFailedVoteByTheRule) {
  compareVotes(11867, 1, byRule);
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

/// So does that by the rule, also where others are dropped than should be.
TEST(HerdedKernels, APlantedBugBreaksTheRule) {
  auto Wrong = [](Module &M, uint64_t Seed) {
    HerdOptions Options = herdOptionsFor(Seed);
    Options.PlantedBug = true;
    return herdModule(M, Options, Seed % 2);
  };
  unsigned Caught = 0;
  for (uint64_t Seed = 1; Seed <= 100 && !Caught; ++Seed)
    Caught += !compareVotes(Seed, Wrong, byRule).Difference.empty();
  EXPECT_TRUE(Caught);
}

/// Same input, same bytes.
TEST(HerdedKernels, AreDeterministic) {
  expectDeterministic(herdShape, herdSeed);
}

} // namespace
} // namespace reconverge::remedies
