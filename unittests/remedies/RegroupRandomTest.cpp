//===- unittests/remedies/RegroupRandomTest.cpp - Regrouped and not -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after their threads are sorted, by branches and
// by a gather, an estimate, a tree or a net that are chosen, or by branches of which each is
// tried; others have what they access by their number moved into the order. Orders serve
// one launch, several, or are made beside the launch before.
// 200 of them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"
#include "Seeds.h"

#include "analysis/Numbering.h"
#include "core/Remedied.h"
#include "launch/RecipeText.h"
#include "remedies/common/Features.h"
#include "remedies/regroup/Regroup.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// Kernels whose threads are items, with loops.
RandomKernelOptions shapeFor(uint64_t Seed) {
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = Options.Shared = false;
  Options.Loops = 25;
  // Small ones, as compiling them takes the time.
  Options.Depth = Seed % 4 ? 2 : 3;
  Options.Statements = Seed % 4 ? 3 : 2;
  return Options;
}

unsigned regroupBy(Module &M, RegroupOptions Options) {
  PlanOr<Regrouped> Made = regroupKernel(*M.getFunction("k"), Options);
  auto *Now = std::get_if<Regrouped>(&Made);
  if (Now)
    M.getFunction("k")->addFnAttr(RecipeAttribute,
                                  launch::printRecipe(Now->Launch));
  EXPECT_FALSE(verifyModule(M, &errs()));
  return Now ? 1 : 0;
}

/// Weights of what there is, good for nothing.
SmallVector<EstimateTerm, 4> someEstimate(Function &Kernel, warpvm::Random &R) {
  SmallVector<EstimateTerm, 4> Terms;
  const auto weight = [&] { return float(R.below(2001)) - 1000; };
  for (uint32_t Load : featuresOf(Kernel))
    Terms.push_back({EstimateTerm::Load, Load, weight()});
  if (R.below(2))
    Terms.push_back({EstimateTerm::Thread, 0, weight()});
  Terms.push_back({EstimateTerm::Base, 0, weight()});
  return Terms;
}

/// Questions about what there is, good for nothing: four leaves, so that a branch
/// has room beside them.
PathTree someTree(Function &Kernel, warpvm::Random &R) {
  const auto Loads = featuresOf(Kernel);
  std::string Text;
  for (unsigned Node = 0; Node != 7; ++Node) {
    if (Node == 0 || Node == 1 || Node == 4) { // the others are leaves
      const uint64_t Of = R.below(Loads.size() + 1);
      Text += (Of == Loads.size() ? "thread" : std::to_string(Loads[Of])) + ":";
    }
    Text += std::to_string(R.below(1000)) + (Node == 6 ? "" : "/");
  }
  return *parsePathTree(Text);
}

/// A net of weights that are drawn, four classes; null where it has nothing to read.
std::shared_ptr<const PathNet> someNet(Function &Kernel, warpvm::Random &R) {
  PathNet N;
  N.Kernel = Kernel.getName().str();
  for (uint32_t Load : featuresOf(Kernel))
    N.Inputs.push_back({Load, "", 1e-3f, 0, 0, 0});
  if (N.Inputs.empty())
    return nullptr;
  N.Classes.resize(4);
  const auto fill = [&](PathNet::Layer &L, size_t From, size_t To) {
    for (size_t I = 0; I != From * To; ++I)
      L.Weights.push_back(float(R.below(2001)) / 1000 - 1);
    L.Biases.assign(To, 0.1f);
  };
  fill(N.Hidden, N.Inputs.size(), 8);
  fill(N.Output, 8, 4);
  return std::make_shared<PathNet>(std::move(N));
}

unsigned regroupSeed(Module &M, uint64_t Seed, bool Bug = false,
                     RecordLayout Layout = RecordLayout::Off) {
  analysis::numberBlocks(M);
  warpvm::Random R(Seed ^ 0x4e6e0);
  RegroupOptions Options;
  Options.Least = 1;
  Options.PlantedBug = Bug;
  Options.Layout = Layout;
  Options.Reuse = R.below(2);
  Options.Next = !Options.Reuse && R.below(2);
  Options.Window = Seed % 3 == 0;
  const uint32_t Bits[] = {0, 1, 4, 12, 16};
  Options.Locality = Bits[R.below(5)];
  if (Seed % 5 == 0)
    Options.Estimate = someEstimate(*M.getFunction("k"), R);
  if (Seed % 7 < 2)
    Options.Tree = someTree(*M.getFunction("k"), R);
  else if (Seed % 7 < 4)
    Options.Net = someNet(*M.getFunction("k"), R);
  Options.OnTensorCores = Options.Net && !Options.Reuse && Seed % 7 == 2;
  if (!Options.Estimate.empty())
    Options.Locality = std::max(Options.Locality, 1u);
  if (Seed % 2)
    return regroupBy(M, Options);
  return changeByBranch(M, [&](uint32_t Branch) {
    Options.Branches = {Branch};
    return regroupBy(M, Options);
  });
}

class RegroupedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(RegroupedKernels, LeaveTheSameBytes) {
  SeedsTried Tried = compareSeeds(
      28, GetParam(), Shares, shapeFor,
      [](Module &M, uint64_t Seed) { return regroupSeed(M, Seed); });
  if (HasFailure())
    return;
  RecordProperty("regrouped", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
      << "too few kernels have a branch that can be known beforehand";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RegroupedKernels, testing::Range(0u, Shares));

/// Whose threads read and write words of their own.
RandomKernelOptions recordsFor(uint64_t Seed) {
  RandomKernelOptions Options = shapeFor(Seed);
  Options.Records = true;
  return Options;
}

unsigned moveSeed(Module &M, uint64_t Seed, bool Bug = false) {
  return regroupSeed(M, Seed, Bug,
                     Seed % 3 ? RecordLayout::All : RecordLayout::Loads);
}

class MovedRecords : public RegroupedKernels {};

TEST_P(MovedRecords, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(16, GetParam(), Shares, recordsFor,
                   [](Module &M, uint64_t Seed) { return moveSeed(M, Seed); });
  if (HasFailure())
    return;
  RecordProperty("moved", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 4, Tried.Kernels)
      << "too few kernels have accesses that can be moved";
}

INSTANTIATE_TEST_SUITE_P(Seeds, MovedRecords, testing::Range(0u, Shares));

/// The comparison notices records that have not been gathered.
TEST(MovedRecords, APlantedBugIsCaught) {
  expectCaught(recordsFor, [](Module &M, uint64_t Seed) {
    return regroupSeed(M, Seed, /*Bug=*/true, RecordLayout::Loads);
  });
}

TEST(MovedRecords, AreDeterministic) {
  expectDeterministic(
      recordsFor, [](Module &M, uint64_t Seed) { return moveSeed(M, Seed); });
}

/// Whose words lie in rows beside those of other threads.
RandomKernelOptions rowsFor(uint64_t Seed) {
  RandomKernelOptions Options = shapeFor(Seed);
  Options.Rows = true;
  Options.RowsByInts = Seed / 2 % 2;
  Options.Optimise = Seed % 2;
  Options.Loops = 40;
  return Options;
}

unsigned moveRows(Module &M, uint64_t Seed, bool Bug = false) {
  return regroupSeed(M, Seed, Bug, RecordLayout::Rows);
}

class MovedRows : public RegroupedKernels {};

TEST_P(MovedRows, LeaveTheSameBytes) {
  SeedsTried Tried =
      compareSeeds(16, GetParam(), Shares, rowsFor,
                   [](Module &M, uint64_t Seed) { return moveRows(M, Seed); });
  if (HasFailure())
    return;
  RecordProperty("moved", int(Tried.Changed));
  EXPECT_GE(Tried.Changed * 4, Tried.Kernels)
      << "too few kernels come back to their rows";
}

INSTANTIATE_TEST_SUITE_P(Seeds, MovedRows, testing::Range(0u, Shares));

/// The comparison notices rows that have not been copied.
TEST(MovedRows, APlantedBugIsCaught) {
  expectCaught(rowsFor, [](Module &M, uint64_t Seed) {
    return moveRows(M, Seed, /*Bug=*/true);
  });
}

TEST(MovedRows, AreDeterministic) {
  expectDeterministic(
      rowsFor, [](Module &M, uint64_t Seed) { return moveRows(M, Seed); });
}

/// The comparison notices an order that is no permutation.
TEST(RegroupedKernels, APlantedBugIsCaught) {
  expectCaught(shapeFor, [](Module &M, uint64_t Seed) {
    return regroupSeed(M, Seed, /*Bug=*/true);
  });
}

/// Same input, same bytes.
TEST(RegroupedKernels, AreDeterministic) {
  expectDeterministic(
      shapeFor, [](Module &M, uint64_t Seed) { return regroupSeed(M, Seed); });
}

} // namespace
} // namespace reconverge::remedies
