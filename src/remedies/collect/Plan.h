//===- remedies/collect/Plan.h - What is known before collecting -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Legality.cpp hands to Rewrite.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COLLECT_PLAN_H
#define RECONVERGE_REMEDIES_COLLECT_PLAN_H

#include "remedies/collect/Options.h"
#include "remedies/common/Items.h"
#include "remedies/common/Refusal.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::remedies::collect {

/// An item that goes there has nothing to do.
inline constexpr int NoWork = -1;

/// The part of a kernel that decides an item's path: blocks from the entry on,
/// without loops, that do nothing but read.
struct Slice {
  /// The entry first, each behind those that lead to it.
  llvm::SmallSetVector<llvm::BasicBlock *, 16> Blocks;
  /// Of these, what their branches and the short paths follow from; the
  /// branches and what short paths do, too.
  llvm::SmallPtrSet<const llvm::Instruction *, 32> Needed;
  /// Where control leaves the blocks: the path of who goes there, or NoWork.
  /// Paths with more code have lower numbers.
  llvm::MapVector<llvm::BasicBlock *, int> Ends;
  /// Short paths, to where they return, each block behind those that lead to
  /// it. An item that comes to one of them is done where its path is found.
  llvm::SmallSetVector<llvm::BasicBlock *, 8> Short;
  unsigned Paths = 0;
};

struct CollectPlan {
  ItemsPlan Items;
  /// Launches of more take the kernel as it was, which asks for no more.
  bool OneDimension = false;
  Slice Deciding;
  llvm::Instruction *Branch = nullptr; ///< the first that makes a path
  /// Blocks of the slice that end in one.
  std::vector<llvm::BasicBlock *> Parting;
  bool IsAsked = false;        ///< a pragma names them
  unsigned Threads = 0;        ///< of the largest block that sorts
  CollectOptions Options;      ///< with what the source says
  std::vector<Refusal> Others; ///< why not other branches that pragmas name
};

/// Of kernel \p F.
PlanOr<CollectPlan> planCollect(llvm::Function &F,
                                const CollectOptions &Options);

} // namespace reconverge::remedies::collect

#endif
