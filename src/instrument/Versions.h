//===- instrument/Versions.h - With and without probes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_VERSIONS_H
#define RECONVERGE_INSTRUMENT_VERSIONS_H

#include "instrument/AccessProbes.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace reconverge::instrument {

/// The bodies of a function.
struct Versions {
  /// Of those who count: the blocks that the function had before.
  llvm::SmallVector<llvm::BasicBlock *> Body;
  llvm::SmallPtrSet<llvm::BasicBlock *, 32> Plain; ///< of the others
  /// By which all that count leave: no body has code of its own for that.
  llvm::SmallPtrSet<llvm::BasicBlock *, 32> Leaving;
  llvm::BranchInst *Choice = nullptr; ///< null: there is but one body
};

/// Gives \p F a second body and an entry that chooses between the two.
Versions splitVersions(llvm::Function &F, bool IsKernel,
                       llvm::GlobalVariable &Config);

/// Gives \p F one body more, \p Copy, for those whose accesses to memory are
/// counted: a copy of the one that counts, as it is by now, but for the code by
/// which that leaves. Returns what probes need, known there.
AccessProbes::Thread
addMemoryVersion(llvm::Function &F, const Versions &V,
                 llvm::GlobalVariable &Config,
                 llvm::SmallVectorImpl<llvm::BasicBlock *> &Copy);

} // namespace reconverge::instrument

#endif
