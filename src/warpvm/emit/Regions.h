//===- warpvm/emit/Regions.h - Block order and fused regions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_REGIONS_H
#define RECONVERGE_WARPVM_EMIT_REGIONS_H

#include "analysis/Uniformity.h"
#include "warpvm/Layout.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

#include <vector>

namespace reconverge::warpvm {

/// Where an edge between two blocks leads in terms of regions.
struct RegionTarget {
  llvm::BasicBlock *Block; ///< entry block of the region reached
  EdgeKind Kind;
};

/// Blocks [First, Last] of the order, entered only at First.
struct Region {
  unsigned First = 0, Last = 0;
  std::vector<RegionTarget> Targets; ///< in order of discovery
};

/// How a kernel is cut for execution.
///
/// Order is topological (back edges aside) and keeps each loop's blocks
/// together, blocks that only return last. Running the lowest position first
/// and merging lanes that meet at a position is then the same as running the
/// linearised code of a fused region: that is what makes the two tiers count
/// alike.
struct RegionPlanner {
  std::vector<llvm::BasicBlock *> Order;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> Position;
  std::vector<Region> Regions;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> RegionOf;
  /// Position behind the last block of the loop that a header opens.
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> LoopEnd;
  /// Blocks that run with every lane that has not left the kernel; none are
  /// known if lanes run apart at the scheduler's will.
  llvm::DenseSet<const llvm::BasicBlock *> Converged;

  /// Regions grow to \p Limit instructions of \p F. \p CallsMayWait: called
  /// functions may depend on what other threads do.
  RegionPlanner(llvm::Function &F, llvm::LoopInfo &LI,
                const analysis::UniformityResult &Uniform, Tier Code,
                unsigned Limit, bool LanesRunApart = false,
                bool CallsMayWait = false);

  EdgeKind edgeKind(const llvm::BasicBlock &From,
                    const llvm::BasicBlock &To) const;
  /// The edge stays inside From's region (a loop's back edge included).
  bool isInternal(const llvm::BasicBlock &From,
                  const llvm::BasicBlock &To) const;
  bool onlyReturns(const llvm::BasicBlock &BB) const;
  /// Lanes may wait at a collective in a loop while others go round it.
  bool mixesRounds() const;
  /// \p BB opens a loop in which lanes may wait for others.
  bool opensWait(const llvm::BasicBlock &BB) const;
  const llvm::Loop *loopOf(const llvm::BasicBlock *BB) const {
    return LI.getLoopFor(BB);
  }

private:
  void orderBlocks(llvm::Function &F);
  void findConverged(llvm::Function &F,
                     const analysis::UniformityResult &Uniform);
  bool findsWait(const llvm::Loop &L) const;
  bool mayWait(const llvm::Loop &L) const { return Waiting.contains(&L); }
  unsigned grow(unsigned First) const;
  void cut(llvm::Function &F);

  llvm::LoopInfo &LI;
  llvm::DominatorTree DT;
  Tier Code;
  unsigned Limit;
  bool CallsMayWait;
  llvm::DenseSet<const llvm::Loop *> Waiting; ///< lanes may wait for others
};

/// \p I reads what another thread may change while the kernel runs.
bool dependsOnOthers(const llvm::Instruction &I);

/// \p I is what a loop that waits does between its looks: a fence, a pause.
bool pauses(const llvm::Instruction &I);

} // namespace reconverge::warpvm

#endif
