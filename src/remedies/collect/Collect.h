//===- remedies/collect/Collect.h - Items by path ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_COLLECT_H
#define RECONVERGE_REMEDIES_COLLECT_COLLECT_H

#include "core/Recipe.h"
#include "remedies/collect/Options.h"
#include "remedies/common/Refusal.h"

namespace reconverge::remedies {

struct Collected {
  Recipe Launch;
  unsigned Paths = 0, Threads = 0; ///< Threads: of the largest block that sorts
  uint64_t SharedBytes = 0;
  llvm::DebugLoc Where;        ///< the first branch that makes a path
  CollectOptions Options;      ///< with what the source says
  std::vector<Refusal> Others; ///< why not other branches that pragmas name
  std::string Warps;           ///< WarpCost::note()
};

/// Has blocks of \p Kernel do the work of several, sorted by the way that it
/// takes: returns what is launched for that. A kernel of the same name and more
/// parameters takes its place.
PlanOr<Collected> collectKernel(llvm::Function &Kernel,
                                const CollectOptions &Options);

} // namespace reconverge::remedies

#endif
