//===- remedies/remap/Control.h - Who comes to a block together *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_CONTROL_H
#define RECONVERGE_REMEDIES_REMAP_CONTROL_H

#include "remedies/remap/Plan.h"

#include "analysis/Regions.h"
#include "analysis/Uniformity.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Dominators.h"

namespace reconverge::remedies::remap {

/// The analyses of a function.
struct Facts {
  explicit Facts(llvm::Function &F)
      : Uniformity(analysis::computeUniformity(F)), PostDominance(F),
        Dominance(F) {
    Cycles.compute(F);
  }
  analysis::UniformityResult Uniformity;
  analysis::PostDominance PostDominance;
  llvm::DominatorTree Dominance;
  llvm::CycleInfo Cycles;
};

/// \p V, which dominates the end of \p At, is the same there for all threads of
/// the block, if they come there together.
bool isBlockUniform(const llvm::Value &V, const llvm::BasicBlock &At,
                    const Facts &Now);

/// The edges on which threads, but perhaps not the whole block, leave the
/// kernel before they come to \p BB.
llvm::SmallVector<ExitEdge, 2> exitsBefore(llvm::BasicBlock &BB,
                                           const Facts &Now);

/// Adds to \p Exits those by which threads leave behind a few instructions, for
/// which they part from the others before \p BB.
void addWorkingExits(llvm::SmallVectorImpl<ExitEdge> &Exits,
                     llvm::BasicBlock &BB, const Facts &Now);

/// All threads of a block come to the end of \p BB together, if those that
/// leave by \p Exits go there instead.
bool comeTogether(const llvm::BasicBlock &BB, llvm::ArrayRef<ExitEdge> Exits,
                  const Facts &Now);

} // namespace reconverge::remedies::remap

#endif
