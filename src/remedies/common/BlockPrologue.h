//===- remedies/common/BlockPrologue.h - What every block does ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In many kernels the threads of a block fill a table in shared memory, wait for
// one another, and from then on go their own ways and only read it. What comes
// before the last barrier, the prologue, is then no tie of the threads behind it
// if every block makes the same table: a block that runs it once may run items of
// any other. It has to be launched with blocks of the program's shape, in whole
// warps or not, and with as much dynamic shared memory.
//
//   planBehindPrologue()  a plan of the items, and what stands before them
//   takePrologue()        leaves the kernel without it, as one that starts behind
//   putPrologue()         puts it in front of all that the kernel has become
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_BLOCKPROLOGUE_H
#define RECONVERGE_REMEDIES_COMMON_BLOCKPROLOGUE_H

#include "remedies/common/Items.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
} // namespace llvm

namespace reconverge::remedies {

struct BlockPrologue {
  llvm::CallBase *Last =
      nullptr; ///< the barrier that ends it; null: there is none
  /// Blocks all of whose instructions are before Last; not its own.
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> Blocks;
  /// What is computed in it and used behind it, in program order, with all that
  /// it is computed from. An item makes it again, from its own numbers.
  llvm::SmallVector<llvm::Instruction *> Again;

  explicit operator bool() const { return Last; }
  bool contains(const llvm::Instruction &I) const;
};

/// The items of a kernel, and what each block does before the first of them.
struct ItemsBehind {
  ItemsPlan Items; ///< of what is behind the prologue, and of Again
  BlockPrologue Prologue;
};

/// As planItems(), where shared memory and barriers may stand in a prologue. It
/// is none where nothing needs one.
PlanOr<ItemsBehind> planBehindPrologue(llvm::Function &Kernel);

/// Takes \p P out of \p Kernel, which goes on without it: the plan's reads, and
/// all blocks behind the barrier's, stay. Returns a function with the kernel's
/// parameters that nobody calls, only to be put back.
llvm::Function *takePrologue(const BlockPrologue &P, llvm::Function &Kernel);

/// Puts \p Taken at the end of the entry's allocas in \p Kernel, which has the
/// old parameters before all others. Reads of gridDim become those of \p Of.
void putPrologue(llvm::Function *Taken, llvm::Function &Kernel,
                 const LaunchValues &Of);

} // namespace reconverge::remedies

#endif
