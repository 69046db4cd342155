//===- unittests/remedies/CollectKernels.h - Kernels, collected -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_COLLECTKERNELS_H
#define RECONVERGE_UNITTESTS_REMEDIES_COLLECTKERNELS_H

#include "RandomKernel.h"
#include "RecipeRuns.h"

#include "core/Remedied.h"
#include "launch/RecipeText.h"
#include "remedies/collect/Collect.h"

namespace reconverge::remedies {

/// Collects kernel `k`, which then has its recipe as an attribute; how many
/// kernels were.
inline unsigned collectModule(llvm::Module &M, const CollectOptions &Options) {
  auto Made = collectKernel(*M.getFunction("k"), Options);
  auto *Now = std::get_if<Collected>(&Made);
  if (Now)
    M.getFunction("k")->addFnAttr(RecipeAttribute,
                                  launch::printRecipe(Now->Launch));
  return Now ? 1 : 0;
}

/// Kernels whose threads are items, mostly of branches.
inline warpvm::RandomKernelOptions collectShape(uint64_t Seed) {
  warpvm::RandomKernelOptions Options = warpvm::randomOptions(Seed);
  Options.Inline = true;
  Options.Barriers = Options.Shared = Options.Local = false;
  Options.Twins = 40;
  // Small ones, as compiling them takes the time.
  Options.Depth = Seed % 4 ? 2 : 3;
  Options.Statements = Seed % 4 ? 3 : 2;
  return Options;
}

/// Everything that is legal, however little is in it, by parameters of all
/// kinds.
inline CollectOptions collectOptionsFor(uint64_t Seed) {
  warpvm::Random R(Seed ^ 0xc011ec7);
  CollectOptions Options;
  Options.Items = 2u << R.below(3);
  const uint32_t Paths[] = {2, 3, 8, 31}, Threads[] = {0, 64, 96, 128, 1024},
                 Chunks[] = {0, 32, 64, 256}, Shorts[] = {0, 10, 24, 1000};
  Options.Paths = Paths[R.below(4)];
  Options.Threads = Threads[R.below(5)];
  Options.Chunk = Chunks[R.below(4)];
  Options.Short = Shorts[R.below(4)];
  Options.Threshold = 0;
  Options.Prologue = 1000;
  Options.Ids = true;
  return Options;
}

} // namespace reconverge::remedies

#endif
