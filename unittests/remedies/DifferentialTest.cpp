//===- unittests/remedies/DifferentialTest.cpp - Melded and not ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels with much to meld, run before and after. 500 of them here;
// RECONVERGE_RANDOM_SEEDS="first,count" runs others, and RECONVERGE_REDUCE=1
// then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "MeldKernels.h"
#include "Seeds.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

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
  SeedsTried Tried = compareSeeds(150, GetParam(), Shares, twinOptions,
                                  [](Module &M, uint64_t Seed) {
                                    return meldModule(M, meldOptionsFor(Seed));
                                  });
  if (!HasFailure())
    EXPECT_GE(Tried.Changed * 2, Tried.Kernels)
        << "the kernels have too little to meld";
}

INSTANTIATE_TEST_SUITE_P(Seeds, MeldedKernels, testing::Range(0u, Shares));

/// The comparison notices a select that takes the wrong side, and the reducer
/// finds a kernel that is small enough to look at.
TEST(MeldedKernels, APlantedBugIsCaughtAndReduced) {
  MeldOptions Options;
  Options.PlantedBug = true;
  auto Apply = [&](Module &M) { return meldModule(M, Options); };
  unsigned Caught = 0, Changed = 0;
  LLVMContext C;
  std::unique_ptr<Module> Least; // of those that show the bug
  uint64_t LeastSeed = 0;
  for (uint64_t Seed = 1; Seed <= 100 && Caught < 3; ++Seed) {
    RandomKernelOptions Shape = twinOptions(Seed);
    Shape.Depth = 1; // small ones are enough
    auto M = randomKernel(C, Seed, Shape);
    Trial T = compare(*M, Seed, Apply);
    Changed += T.Changes > 0;
    if (T.Difference.empty())
      continue;
    ++Caught;
    if (Least && Least->getInstructionCount() <= M->getInstructionCount())
      continue;
    Least = std::move(M);
    LeastSeed = Seed;
  }
  ASSERT_TRUE(Least);
  const unsigned Before = Least->getInstructionCount();
  auto Fails = [&](const Module &Of) {
    return !compare(Of, LeastSeed, Apply, Reference::Vm).Difference.empty();
  };
  auto Small = reduce(std::move(Least), Fails, /*Budget=*/60);
  EXPECT_LT(Small->getInstructionCount(), Before);
  EXPECT_TRUE(Fails(*Small));
  EXPECT_GE(Caught, 3u) << "of " << Changed << " that were melded";
}

/// Takes plain if-elses apart: `if (c) A; if (!c) B;`.
void takeApart(Module &M) {
  for (Function &F : M)
    for (BasicBlock &BB : make_early_inc_range(F)) {
      auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
      if (!Br || !Br->isConditional())
        continue;
      BasicBlock *A = Br->getSuccessor(0), *B = Br->getSuccessor(1),
                 *Join = A->getSingleSuccessor();
      if (!A->getSinglePredecessor() || !B->getSinglePredecessor() || !Join ||
          B->getSingleSuccessor() != Join || A == B)
        continue;
      auto *Between = BasicBlock::Create(M.getContext(), "between", &F, B);
      for (PHINode &Phi : Join->phis()) {
        Value *V = Phi.removeIncomingValue(A, /*DeletePHIIfEmpty=*/false);
        auto *Kept = PHINode::Create(V->getType(), 2, "", Between);
        Kept->addIncoming(V, A);
        Kept->addIncoming(Constant::getNullValue(V->getType()), &BB);
        Phi.addIncoming(Kept, Between);
      }
      auto *Not = BinaryOperator::CreateNot(Br->getCondition(), "", Between);
      BranchInst::Create(B, Join, Not, Between);
      B->replacePhiUsesWith(&BB, Between);
      A->getTerminator()->setSuccessor(0, Between);
      Br->setSuccessor(1, Between);
    }
}

/// Two ifs of which no lane takes both become the arms of one.
TEST(MeldedKernels, ExclusiveIfsLeaveTheSameBytes) {
  unsigned Whole = 0, Apart = 0;
  for (uint64_t Seed = 1; Seed <= 12; ++Seed) {
    LLVMContext C;
    auto M = randomKernel(C, Seed, twinOptions(Seed));
    auto Apply = [&](Module &Of) {
      return meldModule(Of, meldOptionsFor(Seed));
    };
    Whole += Apply(*CloneModule(*M));
    takeApart(*M);
    Trial T = compare(*M, Seed, Apply);
    Apart += T.Changes;
    EXPECT_EQ(T.Difference, "") << "seed " << Seed;
  }
  EXPECT_GT(Whole, 12u);
  EXPECT_GE(Apart * 4, Whole * 3) << "some did not become arms again";
}

/// Same input, same bytes; and what is melded once is left alone.
TEST(MeldedKernels, AreDeterministic) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    LLVMContext C;
    const auto Original = randomKernel(C, Seed, twinOptions(Seed));
    auto Melded = [&](const Module &Of, const MeldOptions &Options) {
      auto M = CloneModule(Of);
      const unsigned Branches = meldModule(*M, Options);
      return std::make_pair(std::move(M), Branches);
    };
    MeldOptions Options = meldOptionsFor(Seed);
    EXPECT_TRUE(textOf(*Melded(*Original, Options).first) ==
                textOf(*Melded(*Original, Options).first))
        << "seed " << Seed;
    Options.Polish = false; // which may bring more to light
    const auto Once = Melded(*Original, Options);
    const auto Twice = Melded(*Once.first, Options);
    EXPECT_EQ(Twice.second, 0u) << "seed " << Seed;
    EXPECT_TRUE(textOf(*Once.first) == textOf(*Twice.first)) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::remedies
