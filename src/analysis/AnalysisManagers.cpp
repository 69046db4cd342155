//===- analysis/AnalysisManagers.cpp - What LLVM's passes need ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's PassBuilder registers the same and knows every pass as well: what links
// it has all of LLVM's optimiser in it, and starts later for that. The warp VM
// starts in users' programs. So the analyses that passes over IR ask for are
// listed here, but for those of inlining, of stack safety and of code generation,
// which no pass of ours or that we run asks for.
//
//===----------------------------------------------------------------------===//

#include "analysis/AnalysisManagers.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/Analysis/DependenceAnalysis.h"
#include "llvm/Analysis/DominanceFrontier.h"
#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/Analysis/IVUsers.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryDependenceAnalysis.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PhiValues.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"

using namespace llvm;

namespace reconverge::analysis {

template <typename... Analyses, typename Manager>
static void registerIn(Manager &To) {
  (To.registerPass([] { return Analyses(); }), ...);
  To.registerPass([] { return PassInstrumentationAnalysis(nullptr); });
}

/// The same as PassBuilder's, in the same order.
static AAManager aliasAnalyses(TargetMachine *Target) {
  AAManager AA;
  AA.registerFunctionAnalysis<BasicAA>();
  AA.registerFunctionAnalysis<ScopedNoAliasAA>();
  AA.registerFunctionAnalysis<TypeBasedAA>();
  AA.registerModuleAnalysis<GlobalsAA>();
  if (Target)
    Target->registerDefaultAliasAnalyses(AA);
  return AA;
}

AnalysisManagers::AnalysisManagers(TargetMachine *Target) {
  registerIn<CallGraphAnalysis, GlobalsAA, LazyCallGraphAnalysis,
             ProfileSummaryAnalysis, VerifierAnalysis>(Modules);
  registerIn<>(Components);
  registerIn<AssumptionAnalysis, BasicAA, BlockFrequencyAnalysis,
             BranchProbabilityAnalysis, CycleAnalysis, DemandedBitsAnalysis,
             DependenceAnalysis, DominanceFrontierAnalysis,
             DominatorTreeAnalysis, LazyValueAnalysis, LoopAccessAnalysis,
             LoopAnalysis, MemoryDependenceAnalysis, MemorySSAAnalysis,
             OptimizationRemarkEmitterAnalysis, PhiValuesAnalysis,
             PostDominatorTreeAnalysis, RegionInfoAnalysis,
             ScalarEvolutionAnalysis, ScopedNoAliasAA,
             ShouldNotRunFunctionPassesAnalysis, TargetLibraryAnalysis,
             TypeBasedAA, UniformityInfoAnalysis, VerifierAnalysis>(Functions);
  Functions.registerPass([&] { return aliasAnalyses(Target); });
  Functions.registerPass([&] {
    return Target ? Target->getTargetIRAnalysis() : TargetIRAnalysis();
  });
  registerIn<IVUsersAnalysis, ShouldRunExtraSimpleLoopUnswitch>(Loops);

  Modules.registerPass(
      [&] { return FunctionAnalysisManagerModuleProxy(Functions); });
  Modules.registerPass(
      [&] { return CGSCCAnalysisManagerModuleProxy(Components); });
  Components.registerPass(
      [&] { return ModuleAnalysisManagerCGSCCProxy(Modules); });
  Components.registerPass([] { return FunctionAnalysisManagerCGSCCProxy(); });
  Functions.registerPass(
      [&] { return CGSCCAnalysisManagerFunctionProxy(Components); });
  Functions.registerPass(
      [&] { return ModuleAnalysisManagerFunctionProxy(Modules); });
  Functions.registerPass(
      [&] { return LoopAnalysisManagerFunctionProxy(Loops); });
  Loops.registerPass(
      [&] { return FunctionAnalysisManagerLoopProxy(Functions); });
}

} // namespace reconverge::analysis
