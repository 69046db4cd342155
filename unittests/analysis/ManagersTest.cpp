//===- unittests/analysis/ManagersTest.cpp - Passes find their analyses ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that asks for an analysis which nobody registered ends the process.
//
//===----------------------------------------------------------------------===//

#include "analysis/AnalysisManagers.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

#include <gtest/gtest.h>

using namespace llvm;

namespace reconverge::analysis {
namespace {

const char *const Loops = R"(
  define i32 @f(ptr %p, i32 %n) {
  entry:
    %slot = alloca i32
    store i32 0, ptr %slot
    br label %outer
  outer:
    %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
    br label %inner
  inner:
    %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
    %at = getelementptr i32, ptr %p, i32 %j
    %v = load i32, ptr %at
    %s = load i32, ptr %slot
    %t = add i32 %s, %v
    store i32 %t, ptr %slot
    %j.next = add i32 %j, 1
    %more = icmp slt i32 %j.next, %n
    br i1 %more, label %inner, label %latch
  latch:
    %i.next = add i32 %i, 1
    %again = icmp ult i32 %i.next, 4
    br i1 %again, label %outer, label %exit
  exit:
    %r = load i32, ptr %slot
    switch i32 %r, label %a [ i32 1, label %b
                              i32 5, label %b ]
  a:
    ret i32 %r
  b:
    ret i32 7
  }
)";

void run(FunctionPassManager Passes) {
  LLVMContext C;
  SMDiagnostic Diagnostic;
  auto M = parseAssemblyString(Loops, Diagnostic, C);
  ASSERT_TRUE(M) << Diagnostic.getMessage().str();
  AnalysisManagers Analyses;
  Passes.run(*M->getFunction("f"), Analyses.Functions);
  EXPECT_FALSE(verifyModule(*M, &errs()));
  GlobalDCEPass().run(*M, Analyses.Modules);
}

template <typename... Passes> void runEach(Passes... Each) {
  auto Alone = [](auto P) {
    FunctionPassManager All;
    All.addPass(std::move(P));
    run(std::move(All));
  };
  (Alone(std::move(Each)), ...);
}

TEST(AnalysisManagers, PassesThatWeRunFindAllThatTheyAskFor) {
  runEach(ADCEPass(), DSEPass(), EarlyCSEPass(/*UseMemorySSA=*/true),
          FixIrreduciblePass(), GVNPass(), InferAddressSpacesPass(0),
          InstCombinePass(), JumpThreadingPass(), LCSSAPass(),
          LoadStoreVectorizerPass(), LoopSimplifyPass(), LoopUnrollPass(),
          LowerSwitchPass(), SROAPass(SROAOptions::ModifyCFG), ScalarizerPass(),
          SimplifyCFGPass());
  runEach(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()),
          createFunctionToLoopPassAdaptor(LoopDeletionPass()),
          createFunctionToLoopPassAdaptor(LoopIdiomRecognizePass()),
          createFunctionToLoopPassAdaptor(
              LICMPass(100, 250, /*AllowSpeculation=*/true),
              /*UseMemorySSA=*/true));
}

} // namespace
} // namespace reconverge::analysis
