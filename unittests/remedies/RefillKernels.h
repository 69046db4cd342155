//===- unittests/remedies/RefillKernels.h - Kernels, refilled ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_REFILLKERNELS_H
#define RECONVERGE_UNITTESTS_REMEDIES_REFILLKERNELS_H

#include "RandomKernel.h"
#include "RecipeRuns.h"

#include "core/Remedied.h"
#include "launch/RecipeText.h"
#include "remedies/refill/Refill.h"

namespace reconverge::remedies {

/// Refills kernel `k`, which then has its recipe as an attribute; how many
/// kernels were.
inline unsigned refillModule(llvm::Module &M, const RefillOptions &Options) {
  auto Made = refillKernel(*M.getFunction("k"), Options);
  auto *Now = std::get_if<Refilled>(&Made);
  if (Now)
    M.getFunction("k")->addFnAttr(RecipeAttribute,
                                  launch::printRecipe(Now->Launch));
  return Now ? 1 : 0;
}

/// Kernels whose threads are items, with loops.
inline warpvm::RandomKernelOptions refillShape(uint64_t Seed) {
  warpvm::RandomKernelOptions Options = warpvm::randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = Options.Shared = false;
  Options.Loops = 25;
  // Small ones, as compiling them takes the time.
  Options.Depth = Seed % 4 ? 2 : 3;
  Options.Statements = Seed % 4 ? 3 : 2;
  return Options;
}

/// The same behind a prologue that fills shared memory.
inline warpvm::RandomKernelOptions tableShape(uint64_t Seed) {
  warpvm::RandomKernelOptions Options = refillShape(Seed);
  Options.Table = true;
  return Options;
}

/// Of all kinds of parameters, and with \p Branch one that has been numbered.
inline RefillOptions refillOptionsFor(uint64_t Seed) {
  warpvm::Random R(Seed ^ 0x4ef111);
  RefillOptions Options;
  const uint32_t Thresholds[] = {1, 2, 4, 8, 16, 31, 32},
                 Slices[] = {1, 2, 3, 8};
  Options.Threshold = Thresholds[R.below(7)];
  Options.Slice = Slices[R.below(4)];
  Options.Source = R.chance(50) ? ItemSource::Counter : ItemSource::Slice;
  Options.Rounds = R.chance(50) ? 1 : 2 + R.below(6);
  Options.Block = 32 * (1 + R.below(4));
  Options.Items = R.chance(50) ? 1 : 1 + R.below(40);
  return Options;
}

} // namespace reconverge::remedies

#endif
