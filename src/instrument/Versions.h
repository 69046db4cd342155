//===- instrument/Versions.h - With and without probes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_VERSIONS_H
#define RECONVERGE_INSTRUMENT_VERSIONS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"

namespace reconverge::instrument {

/// Gives \p F a second body and an entry that chooses between the two: those
/// who count run the blocks that \p F has had so far, which are the ones to
/// insert probes into. Returns the blocks of the other body.
llvm::SmallPtrSet<llvm::BasicBlock *, 32>
splitVersions(llvm::Function &F, bool IsKernel, llvm::GlobalVariable &Config);

} // namespace reconverge::instrument

#endif
