//===- analysis/Regions.h - The code that a branch controls -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_REGIONS_H
#define RECONVERGE_ANALYSIS_REGIONS_H

#include "core/Profile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CycleAnalysis.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace reconverge::analysis {

/// Post-dominance over the paths that return: an edge into a block that can
/// only end in `unreachable`, or never ends, does not count. (If no path
/// returns, those that end in `unreachable` take their place.)
class PostDominance {
public:
  explicit PostDominance(const llvm::Function &F);

  /// Null for a block that returns, for one whose paths meet nowhere, and for
  /// one that no counted path leaves.
  const llvm::BasicBlock *immediate(const llvm::BasicBlock &BB) const;
  /// Some counted path leads on from \p BB.
  bool returns(const llvm::BasicBlock &BB) const { return Index.contains(&BB); }

private:
  void number(llvm::ArrayRef<const llvm::BasicBlock *> Ends);
  void solve();

  /// Post-order from the ends, backwards; the virtual exit comes last.
  llvm::SmallVector<const llvm::BasicBlock *, 32> Order;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> Index;
  llvm::SmallVector<unsigned, 32> Immediate; ///< as an index into Order
  llvm::SmallVector<bool, 32> IsEnd;
};

/// What lies between a branch and its post-dominator.
struct BranchRegion {
  BranchKind Kind = BranchKind::If;
  const llvm::BasicBlock *PostDominator = nullptr;
  bool LeavesFunction = false; ///< one side goes straight to a return
  /// In program order. The branch's own block is among them if control can
  /// come back to it before the post-dominator.
  llvm::SmallVector<const llvm::BasicBlock *, 8> Blocks;
};

/// Of the conditional branch or switch that ends \p Branch.
BranchRegion regionOf(const llvm::BasicBlock &Branch,
                      const PostDominance &Dominance,
                      const llvm::CycleInfo &Cycles);

} // namespace reconverge::analysis

#endif
