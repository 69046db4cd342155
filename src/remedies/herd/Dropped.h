//===- remedies/herd/Dropped.h - Who was dropped ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_DROPPED_H
#define RECONVERGE_REMEDIES_HERD_DROPPED_H

#include "llvm/IR/IRBuilder.h"

namespace reconverge::remedies::herd {

/// A bit of each thread of a kernel: whether it was dropped, anywhere.
class DroppedLanes {
public:
  explicit DroppedLanes(llvm::Function &F);
  /// It is dropped here if \p Now (i1).
  void note(llvm::IRBuilderBase &B, llvm::Value *Now);
  /// Adds the number of those that were to u32 \p Counter, where the kernel
  /// ends. \p Lanes: all of the warp, from the beginning on. Once, after all
  /// notes.
  void count(llvm::Value &Lanes, llvm::Value &Counter);

private:
  llvm::Function &F;
  llvm::AllocaInst *Slot;
};

} // namespace reconverge::remedies::herd

#endif
