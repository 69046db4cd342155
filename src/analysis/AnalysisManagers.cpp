//===- analysis/AnalysisManagers.cpp - What LLVM's passes need ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/AnalysisManagers.h"

#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace reconverge::analysis {

AnalysisManagers::AnalysisManagers(PassBuilder &Builder) {
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Components);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
}

static PassBuilder &withoutTarget(PassBuilder &&Builder) { return Builder; }

AnalysisManagers::AnalysisManagers()
    : AnalysisManagers(withoutTarget(PassBuilder())) {}

} // namespace reconverge::analysis
