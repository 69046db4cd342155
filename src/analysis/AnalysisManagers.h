//===- analysis/AnalysisManagers.h - What LLVM's passes need ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_ANALYSISMANAGERS_H
#define RECONVERGE_ANALYSIS_ANALYSISMANAGERS_H

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace reconverge::analysis {

/// Analysis managers of all levels that know LLVM's analyses of IR and one
/// another, for passes to run with. \p Target may be null.
struct AnalysisManagers {
  explicit AnalysisManagers(llvm::TargetMachine *Target = nullptr);

  llvm::LoopAnalysisManager Loops;
  llvm::FunctionAnalysisManager Functions;
  llvm::CGSCCAnalysisManager Components;
  llvm::ModuleAnalysisManager Modules;
};

} // namespace reconverge::analysis

#endif
