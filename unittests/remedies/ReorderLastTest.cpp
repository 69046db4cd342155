//===- unittests/remedies/ReorderLastTest.cpp - Longest blocks first ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sort of a recipe's, with costs that are given in place of measured ones.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "RecipeRuns.h"

#include "remedies/reorder_blocks/Reorder.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr const char *Text = R"(
  target triple = "nvptx64-nvidia-cuda"
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  define ptx_kernel void @k(ptr %out) {
    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
    %p = getelementptr i32, ptr %out, i32 %b
    store i32 %b, ptr %p
    ret void
  })";

/// The order that costs make of so many blocks.
std::vector<uint32_t> orderBy(std::vector<uint32_t> Costs) {
  LLVMContext C;
  auto M = parseKernel(C, Text);
  ReorderOptions Options;
  Options.Order = BlockOrder::Last;
  Options.Least = 1;
  Recipe R = std::get<Recipe>(reorderBlocks(*M->getFunction("k"), Options));
  // Nothing is timed, and nothing launched by the order.
  R.Steps.erase(R.Steps.begin());
  R.Steps.pop_back();
  R.Scratch[0].Zeroed = false;
  R.Scratch[0].Kept = true;
  TestProgram P(*M, machineFor(setups(32)[0]));
  TestPlace Place(P);
  std::vector<void *> Kept(R.Scratch.size());
  Kept[0] = Costs.data();
  void *Args[] = {nullptr};
  EXPECT_EQ(launch::execute(R, shape(unsigned(Costs.size()), 32), Args, Place,
                            {.Kept = &Kept}),
            launch::Ended::Done);
  EXPECT_EQ(Place.Problem, "");
  const auto *Ids = static_cast<const uint32_t *>(Kept[2]);
  return {Ids, Ids + Costs.size()};
}

TEST(ReorderLast, StartsWhatTookLongestFirst) {
  EXPECT_EQ(orderBy({5, 100, 0, 4000000000, 100, 70}),
            (std::vector<uint32_t>{3, 1, 4, 5, 0, 2}));
  Random R(7);
  for (unsigned Blocks : {1u, 16u, 4096u, 5000u}) {
    std::vector<uint32_t> Costs(Blocks);
    for (uint32_t &Cost : Costs)
      Cost = uint32_t(R.next()) >> R.below(32);
    const std::vector<uint32_t> Order = orderBy(Costs);
    std::vector<uint32_t> Sorted = Order, All(Blocks);
    llvm::sort(Sorted);
    std::iota(All.begin(), All.end(), 0);
    EXPECT_EQ(Sorted, All) << "a permutation";
    for (unsigned I = 1; I < Blocks; ++I)
      EXPECT_LE(Costs[Order[I]], Costs[Order[I - 1]] / 8. * 9 + 8)
          << I << " of " << Blocks;
  }
}

} // namespace
} // namespace reconverge::remedies
