//===- unittests/remedies/MeldKernels.h - Random kernels, melded -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_MELDKERNELS_H
#define RECONVERGE_UNITTESTS_REMEDIES_MELDKERNELS_H

#include "remedies/meld/Meld.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"

namespace reconverge::remedies {

/// Low prices, so that much is melded that is not worth it.
inline MeldOptions meldOptionsFor(uint64_t Seed) {
  MeldOptions Options;
  Options.Threshold = Seed % 3 ? 0 : 0.1;
  Options.Guard = Seed % 2 ? 1 : 4;
  return Options;
}

/// How many branches of \p M were melded.
inline unsigned meldModule(llvm::Module &M, const MeldOptions &Options) {
  unsigned Melded = 0;
  for (llvm::Function &F : M)
    if (!F.isDeclaration()) {
      llvm::OptimizationRemarkEmitter Remarks(&F);
      Melded += meldFunction(F, Options, Remarks).Branches;
    }
  return Melded;
}

} // namespace reconverge::remedies

#endif
