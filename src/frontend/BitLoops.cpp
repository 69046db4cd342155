//===- frontend/BitLoops.cpp - Loops that count bits ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (N = 0; X; ++N)        N = popc(X)
//     X &= X - 1;
//
// Lanes of a warp leave such a loop at different times, one round a bit; the
// machine counts all bits by one instruction. LLVM's loop idioms know the loop
// (Warren, Hacker's Delight, 5-1), but ask the target first, and that for
// NVPTX has never been told. It is told here, for these loops alone.
//
//===----------------------------------------------------------------------===//

#include "frontend/BitLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

namespace {

class CountsBits : public TargetTransformInfoImplCRTPBase<CountsBits> {
public:
  explicit CountsBits(const DataLayout &DL)
      : TargetTransformInfoImplCRTPBase<CountsBits>(DL) {}
  static TargetTransformInfo::PopcntSupportKind getPopcntSupport(unsigned) {
    return TargetTransformInfo::PSK_FastHardware;
  }
};

class BitLoops : public PassInfoMixin<BitLoops> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &Known) {
    return any_of(Known.getResult<LoopAnalysis>(F).getLoopsInPreorder(),
                  takesBitsAway)
               ? replaceLoops(F)
               : PreservedAnalyses::all();
  }

private:
  static bool takesBitsAway(const Loop *L) {
    const Value *X;
    return L->getNumBlocks() == 1 &&
           any_of(*L->getHeader(), [&](const Instruction &I) {
             return match(
                 &I, m_c_And(m_Value(X), m_Add(m_Deferred(X), m_AllOnes())));
           });
  }

  static PreservedAnalyses replaceLoops(Function &F) {
    PassBuilder Builder;
    LoopAnalysisManager Loops;
    FunctionAnalysisManager Functions;
    CGSCCAnalysisManager Components;
    ModuleAnalysisManager Modules;
    Functions.registerPass([] { // the first to be registered stays
      return TargetIRAnalysis([](const Function &Of) {
        return TargetTransformInfo(CountsBits(Of.getDataLayout()));
      });
    });
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
    FunctionPassManager Passes;
    Passes.addPass(createFunctionToLoopPassAdaptor(LoopIdiomRecognizePass()));
    Passes.run(F, Functions);
    return PreservedAnalyses::none();
  }
};

} // namespace

void countBitsAtOnce(PassBuilder &Builder) {
  Builder.registerScalarOptimizerLateEPCallback(
      [](FunctionPassManager &Passes, OptimizationLevel) {
        Passes.addPass(BitLoops());
      });
}

} // namespace reconverge::frontend
