//===- unittests/warpvm/RandomKernelTest.cpp - Tiers against scalar code --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels run fused, and a function a block under the same policy or
// under the post-dominator stack, and must leave the bytes that scalar host
// code leaves. Both tiers must count alike to the last lane; the policies
// differ in warps only.
//
// RECONVERGE_RANDOM_SEEDS="first,count" runs other seeds than those below.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "Harness.h"
#include "SeedRange.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

void checkSeed(uint64_t Seed) {
  Random R(Seed ^ 0xabcdef);
  LLVMContext C;
  const RandomKernelOptions Options = randomOptions(Seed);
  auto M = randomKernel(C, Seed, Options);

  const unsigned Sizes[] = {1, 32, 33, 48, 64, 96, 128};
  const unsigned Threads = Sizes[R.below(7)], Blocks = 1 + R.below(2);
  const unsigned WarpSize = R.chance(25) ? 64 : 32;
  const uint32_t N = R.below(8);
  std::vector<uint32_t> In(RandomKernelInWords);
  for (uint32_t &X : In)
    X = R.chance(50) ? R.below(32) : uint32_t(R.next());
  const std::vector<uint32_t> Fresh(Blocks * Threads * RandomKernelOutBytes / 4,
                                    0xdeadbeef);
  std::vector<uint32_t> Want = Fresh, WantSums(RandomKernelSums);
  runScalar(*M, Blocks, Threads, In, Want, WantSums, N);

  // Fused, and one of the other two. Under the post-dominator stack, lanes on
  // their way out can be held up by others that wait for them at a barrier.
  auto All = setups(WarpSize);
  All[0].Compile = Seed % 8 ? Effort::Fast : Effort::Well;
  if (Seed % 5 == 0)
    All[0].Isa = "avx2"; // no masks of its own, nor scatters
  const bool Stack = Seed % 2 && !(Options.Barriers && Options.Returns);
  std::vector<LaunchCounts> Counts;
  for (const MachineOptions &O : {All[0], Stack ? All[2] : All[1]}) {
    SCOPED_TRACE("seed " + std::to_string(Seed) + ": " + describe(O) + ", " +
                 std::to_string(Threads) + " threads");
    TestProgram P(*M, machineFor(O));
    std::vector<uint32_t> Out = Fresh, Sums(RandomKernelSums);
    P.run(shape(Blocks, Threads), In.data(), Out.data(), Sums.data(), N);
    if (testing::Test::HasFailure())
      return;
    for (size_t I = 0; I < Out.size(); ++I)
      ASSERT_EQ(Out[I], Want[I])
          << "word " << I % 16 << " of thread " << I / 16 % Threads;
    ASSERT_EQ(Sums, WantSums);
    Counts.push_back(P.counts());
  }
  SCOPED_TRACE("seed " + std::to_string(Seed));
  if (!Stack) {
    ASSERT_EQ(differenceOf(Counts[0], Counts[1]), "");
    return;
  }
  for (size_t B = 0; B < Counts[0].Blocks.size(); ++B)
    ASSERT_EQ(Counts[0].Blocks[B].Lanes, Counts[1].Blocks[B].Lanes);
  for (size_t B = 0; B < Counts[0].Branches.size(); ++B)
    ASSERT_EQ(Counts[0].Branches[B].LanesTo, Counts[1].Branches[B].LanesTo);
}

/// Every test takes a share of the seeds.
class RandomKernels : public testing::TestWithParam<unsigned> {};

constexpr unsigned Shares = 6;

TEST_P(RandomKernels, AllTiersAgreeWithScalarCode) {
  const auto [First, Count] = seedRange(120);
  for (unsigned I = GetParam(); I < Count; I += Shares) {
    checkSeed(First + I);
    if (HasFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernels, testing::Range(0u, Shares));

/// The same seed gives the same kernel; another seed another.
TEST(RandomKernel, IsDeterministic) {
  LLVMContext C;
  auto Text = [&](uint64_t Seed) {
    std::string S;
    raw_string_ostream(S) << *randomKernel(C, Seed, {});
    return S;
  };
  EXPECT_EQ(Text(7), Text(7));
  EXPECT_NE(Text(7), Text(8));
}

} // namespace
} // namespace reconverge::warpvm
