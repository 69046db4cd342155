//===- remedies/meld/Polish.cpp - Melded code in its surroundings --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Melding comes last, so nothing else would see that a select of two addresses
// is the same in every iteration, or that the one access which is left of two
// reads what the last iteration wrote. These are LLVM's own passes. SimplifyCFG
// and jump threading, which would undo melding, are not among them.
//
//===----------------------------------------------------------------------===//

#include "analysis/AnalysisManagers.h"
#include "remedies/meld/Simplify.h"

#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;

namespace reconverge::remedies::meld {

void polish(Function &F) {
  analysis::AnalysisManagers Analyses;
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
  Passes.run(F, Analyses.Functions);
  cleanUp(F);
}

} // namespace reconverge::remedies::meld
