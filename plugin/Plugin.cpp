//===- plugin/Plugin.cpp - Our passes in clang and opt --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconverge.so for -fpass-plugin= and -load-pass-plugin=. Passes.def is the
// whole list of passes; -mllvm -reconverge-meld[=options] and -reconverge-remap
// put transforms at the end of clang's pipeline, and pragmas that Pragmas.cpp
// has left in the code do so, too; what makes __managed__ variables comes first
// in it, and -reconverge-remedied puts the choice between kernels first in that
// of host code. There is no logic here.
//
//===----------------------------------------------------------------------===//

#include "analysis/KernelInfoPrinter.h"
#include "analysis/Uniformity.h"
#include "core/Error.h"
#include "frontend/FormFma.h"
#include "frontend/Managed.h"
#include "frontend/Remedied.h"
#include "frontend/SplitAtomics.h"
#include "transform/instrument/Instrument.h"
#include "transform/meld/Meld.h"
#include "transform/remap/Pragmas.h"
#include "transform/remap/Remap.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"

using namespace llvm;
using namespace reconverge;

static cl::opt<std::string>
    Meld("reconverge-meld", cl::ValueOptional, cl::value_desc("options"),
         cl::desc("Meld the sides of divergent branches of NVPTX code, last in "
                  "the optimisation pipeline"));
static cl::opt<std::string>
    Remap("reconverge-remap", cl::ValueOptional, cl::value_desc("options"),
          cl::init("marked=1"),
          cl::desc("Have threads exchange their work before divergent branches "
                   "of NVPTX code, last in the optimisation pipeline; without "
                   "it, before those that a pragma names"));

static cl::opt<std::string>
    Remedied("reconverge-remedied", cl::value_desc("kernels"),
             cl::desc("In host code, have launches choose between kernels and "
                      "their remedied copies, first in the pipeline"));

namespace {
/// Runs passes on device code alone: clang gives a plugin the host's as well.
/// Unless they are asked for, only where a pragma does so.
struct OnDevice : PassInfoMixin<OnDevice> {
  ModulePassManager Passes;
  bool IsAsked = false;
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    if (!Triple(M.getTargetTriple()).isNVPTX())
      return PreservedAnalyses::all();
    const bool ByPragma = transform::settlePragmasHere(M);
    return IsAsked || ByPragma ? Passes.run(M, AM) : PreservedAnalyses::all();
  }
};
} // namespace

/// A transform of functions, with what has to come before it.
template <class PassT, class OptionsT>
static void addTransform(ModulePassManager &Modules,
                         Expected<OptionsT> Options) {
  if (!Options) {
    reportError(Options.takeError(), errs());
    return;
  }
  FunctionPassManager Functions;
  Functions.addPass(InferAddressSpacesPass());
  Functions.addPass(frontend::FormFmaPass());
  Functions.addPass(PassT(std::move(*Options)));
  Modules.addPass(createModuleToFunctionPassAdaptor(std::move(Functions)));
}

static void addTransforms(ModulePassManager &Modules, OptimizationLevel Level) {
  if (Level == OptimizationLevel::O0)
    return;
  OnDevice Device;
  Device.IsAsked = Meld.getNumOccurrences() || Remap.getNumOccurrences();
  if (Meld.getNumOccurrences())
    addTransform<transform::MeldPass>(Device.Passes,
                                      transform::parseMeldOptions(Meld));
  addTransform<transform::RemapPass>(Device.Passes,
                                     transform::parseRemapOptions(Remap));
  Modules.addPass(std::move(Device));
}

static void addManagedVariables(ModulePassManager &Modules, OptimizationLevel) {
  Modules.addPass(frontend::ManagedVariablesPass());
}

static void addChoices(ModulePassManager &Modules, OptimizationLevel) {
  auto Kernels = frontend::parseRemedied(Remedied);
  if (Kernels)
    Modules.addPass(frontend::RemediedLaunchesPass(std::move(*Kernels)));
  else
    reportError(Kernels.takeError(), errs());
}

/// Adds \p PassT if \p Name is \p Own, with options behind it or without.
template <class PassT, class ManagerT, class ParseT>
static bool addIfNamed(StringRef Name, StringRef Own, ManagerT &Manager,
                       ParseT Parse) {
  if (!PassBuilder::checkParametrizedPassName(Name, Own))
    return false;
  auto Options = PassBuilder::parsePassParameters(Parse, Name, Own);
  if (!Options) {
    reportError(Options.takeError(), errs());
    return false;
  }
  Manager.addPass(PassT(std::move(*Options)));
  return true;
}

static bool addFunctionPass(StringRef Name, FunctionPassManager &Manager,
                            ArrayRef<PassBuilder::PipelineElement>) {
#define FUNCTION_PASS(NAME, CREATE)                                            \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
    return true;                                                               \
  }
#define FUNCTION_PASS_WITH_OPTIONS(NAME, TYPE, PARSE)                          \
  if (addIfNamed<TYPE>(Name, NAME, Manager, PARSE))                            \
    return true;
#include "Passes.def"
  return false;
}

static bool addModulePass(StringRef Name, ModulePassManager &Manager,
                          ArrayRef<PassBuilder::PipelineElement>) {
#define MODULE_PASS(NAME, CREATE)                                              \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
    return true;                                                               \
  }
#define MODULE_PASS_WITH_OPTIONS(NAME, TYPE, PARSE)                            \
  if (addIfNamed<TYPE>(Name, NAME, Manager, PARSE))                            \
    return true;
#include "Passes.def"
  return false;
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Reconverge", RECONVERGE_VERSION,
          [](PassBuilder &Builder) {
            Builder.registerPipelineParsingCallback(addFunctionPass);
            Builder.registerPipelineParsingCallback(addModulePass);
            Builder.registerPipelineStartEPCallback(addManagedVariables);
            Builder.registerPipelineStartEPCallback(addChoices);
            Builder.registerOptimizerLastEPCallback(addTransforms);
          }};
}
