//===- remedies/refill/Values.h - Values of waiting lanes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_VALUES_H
#define RECONVERGE_REMEDIES_REFILL_VALUES_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class AllocaInst;
class BasicBlock;
class Function;
class IRBuilderBase;
class Instruction;
class Loop;
class PHINode;
} // namespace llvm

namespace reconverge::remedies::refill {

/// The loop that is refilled, by its blocks: these stay when analyses do not.
struct LoopShape {
  explicit LoopShape(const llvm::Loop &L);
  llvm::BasicBlock *Header;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> Blocks;
  /// Where it leads, in program order. Nobody else comes there.
  llvm::SmallVector<llvm::BasicBlock *, 4> Exits;
  bool contains(const llvm::BasicBlock &BB) const {
    return Blocks.contains(&BB);
  }
};

/// Moves from the blocks outside the loop to the end of \p Entry what is the
/// same for all items, and needed in the loop or after it.
void hoistOutOfItems(llvm::BasicBlock &Entry, const LoopShape &L);

/// Stack slots in place of values, so that edges can be led elsewhere.
/// They become values again when that is done.
class Slots {
public:
  /// Takes the phis of the loop's header and exits, and all values that cross
  /// blocks outside of it.
  /// \p PlantedBug: RefillOptions.
  Slots(llvm::BasicBlock &Entry, const LoopShape &L, bool PlantedBug);

  /// A slot more, that no value had.
  llvm::AllocaInst *make(llvm::Type *T, const char *Name);
  /// One that is there already.
  void adopt(llvm::AllocaInst *Slot) { Own.push_back(Slot); }
  /// At the end of an edge that led from \p From to \p To, the header or an
  /// exit: what its phis get.
  void give(llvm::IRBuilderBase &B, llvm::BasicBlock *From,
            llvm::BasicBlock *To);
  /// In front of \p To: its phis become what was given. Then nothing is kept.
  void take(llvm::BasicBlock *To);
  /// An item has ended, or begins.
  void forget(llvm::IRBuilderBase &B);
  /// Back to values.
  void promote();

private:
  void place(llvm::ArrayRef<llvm::PHINode *> Phis, const LoopShape &L);
  void keepOthers(const LoopShape &L);
  void forget(llvm::IRBuilderBase &B, llvm::ArrayRef<llvm::AllocaInst *> All);

  llvm::BasicBlock &Entry;
  const bool PlantedBug;
  llvm::MapVector<llvm::PHINode *, llvm::AllocaInst *> Of;
  llvm::SmallVector<llvm::AllocaInst *> Carried; ///< into the loop, or out
  llvm::SmallVector<llvm::AllocaInst *> Kept;    ///< meanwhile
  llvm::SmallVector<llvm::AllocaInst *> Own;
};

} // namespace reconverge::remedies::refill

#endif
