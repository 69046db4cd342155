//===- transform/meld/Polish.cpp - Melded code in its surroundings --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Melding comes last, so nothing else would see that a select of two addresses
// is the same in every iteration, or that the one access which is left of two
// reads what the last iteration wrote. These are LLVM's own passes. SimplifyCFG
// and jump threading, which would undo melding, are not among them.
//
//===----------------------------------------------------------------------===//

#include "transform/meld/Simplify.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"

using namespace llvm;

namespace reconverge::transform::meld {

void polish(Function &F) {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);

  FunctionPassManager Passes;
  auto Hoist = [&] {
    Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                   /*UseMemorySSA=*/true));
  };
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Hoist();
  Passes.addPass(GVNPass());
  Hoist();
  Passes.addPass(ADCEPass());
  Passes.run(F, FAM);
  cleanUp(F);
}

} // namespace reconverge::transform::meld
