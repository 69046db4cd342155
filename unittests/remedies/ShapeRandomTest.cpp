//===- unittests/remedies/ShapeRandomTest.cpp - Shaped for ptxas and not --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after what is done for ptxas alone. 200 of
// them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "frontend/PtxShape.h"

#include "Differential.h"
#include "Seeds.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {
namespace {

class ShapedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(ShapedKernels, LeaveTheSameBytes) {
  SeedsTried Tried = compareSeeds(
      200, GetParam(), Shares, twinOptions, [](Module &M, uint64_t) {
        const unsigned Before = M.getInstructionCount();
        frontend::shapeForPtxas(M);
        return Before == M.getInstructionCount() ? 0u : 1u;
      });
  if (!HasFailure())
    EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
        << "the kernels have too little to shape";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShapedKernels, testing::Range(0u, Shares));

} // namespace
} // namespace reconverge::remedies
