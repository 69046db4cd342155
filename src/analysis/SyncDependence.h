//===- analysis/SyncDependence.h - What a branch's split reaches *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where lanes that left a branch on different sides meet again, and which loops
// they leave in different iterations. SyncDependence.cpp has the algorithm.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ANALYSIS_SYNCDEPENDENCE_H
#define RECONVERGE_ANALYSIS_SYNCDEPENDENCE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CycleAnalysis.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace reconverge::analysis {

/// What follows if the branch that ends a block sends lanes to different sides.
/// All lists are in program order.
struct SyncEffect {
  /// Blocks that lanes of different sides enter through different edges.
  llvm::SmallVector<const llvm::BasicBlock *, 4> Joins;
  /// Reducible cycles around the branch that some lanes leave while others
  /// go on.
  llvm::SmallVector<const llvm::Cycle *, 2> DivergentExits;
  /// Irreducible cycles in which lanes lose count of each other altogether.
  llvm::SmallVector<const llvm::Cycle *, 1> Wild;
};

class SyncDependence {
public:
  SyncDependence(const llvm::Function &F, const llvm::CycleInfo &Cycles);

  /// The effect of a split at the end of \p Branch, which is reachable.
  SyncEffect effectOf(const llvm::BasicBlock &Branch) const;

private:
  friend class Propagation;
  const llvm::CycleInfo &Cycles;
  llvm::SmallVector<const llvm::BasicBlock *, 32> Order; ///< reverse post-order
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> Index; ///< in Order
};

} // namespace reconverge::analysis

#endif
