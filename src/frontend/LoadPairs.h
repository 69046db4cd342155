//===- frontend/LoadPairs.h - Loads of neighbours together ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_LOADPAIRS_H
#define RECONVERGE_FRONTEND_LOADPAIRS_H

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class LPMUpdater;
class PassBuilder;
} // namespace llvm

namespace reconverge::frontend {

/// Brings loads of neighbours together again that an earlier run has seen in one
/// block, and takes note of those that are in one.
class LoadPairsPass : public llvm::PassInfoMixin<LoadPairsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &AM);
  llvm::PreservedAnalyses run(llvm::Loop &L, llvm::LoopAnalysisManager &AM,
                              llvm::LoopStandardAnalysisResults &Results,
                              llvm::LPMUpdater &);
};

/// Has \p PB run it wherever LLVM may have taken pairs apart.
void keepLoadPairs(llvm::PassBuilder &PB);

} // namespace reconverge::frontend

#endif
