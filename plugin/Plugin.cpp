//===- plugin/Plugin.cpp - Our passes in clang and opt --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconverge.so for -fpass-plugin= and -load-pass-plugin=. Passes.def is the
// whole list of passes; -mllvm -reconverge-meld[=options] puts melding at the
// end of clang's pipeline. There is no logic here.
//
//===----------------------------------------------------------------------===//

#include "analysis/KernelInfoPrinter.h"
#include "analysis/Uniformity.h"
#include "core/Error.h"
#include "frontend/FormFma.h"
#include "transform/instrument/Instrument.h"
#include "transform/meld/Meld.h"
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

namespace {
/// Runs passes on device code alone: clang gives a plugin the host's as well.
struct OnDevice : PassInfoMixin<OnDevice> {
  ModulePassManager Passes;
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    return Triple(M.getTargetTriple()).isNVPTX() ? Passes.run(M, AM)
                                                 : PreservedAnalyses::all();
  }
};
} // namespace

/// What has to come before melding, and melding.
static void addMelding(ModulePassManager &Modules, OptimizationLevel Level) {
  if (!Meld.getNumOccurrences() || Level == OptimizationLevel::O0)
    return;
  auto Options = transform::parseMeldOptions(Meld);
  if (!Options) {
    reportError(Options.takeError(), errs());
    return;
  }
  FunctionPassManager Functions;
  Functions.addPass(InferAddressSpacesPass());
  Functions.addPass(frontend::FormFmaPass());
  Functions.addPass(transform::MeldPass(std::move(*Options)));
  OnDevice Device;
  Device.Passes.addPass(
      createModuleToFunctionPassAdaptor(std::move(Functions)));
  Modules.addPass(std::move(Device));
}

static bool addFunctionPass(StringRef Name, FunctionPassManager &Manager,
                            ArrayRef<PassBuilder::PipelineElement>) {
#define FUNCTION_PASS(NAME, CREATE)                                            \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
    return true;                                                               \
  }
#define FUNCTION_PASS_WITH_OPTIONS(NAME, TYPE, PARSE)                          \
  if (PassBuilder::checkParametrizedPassName(Name, NAME)) {                    \
    auto Options = PassBuilder::parsePassParameters(PARSE, Name, NAME);        \
    if (!Options) {                                                            \
      reportError(Options.takeError(), errs());                                \
      return false;                                                            \
    }                                                                          \
    Manager.addPass(TYPE(std::move(*Options)));                                \
    return true;                                                               \
  }
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
#include "Passes.def"
  return false;
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Reconverge", RECONVERGE_VERSION,
          [](PassBuilder &Builder) {
            Builder.registerPipelineParsingCallback(addFunctionPass);
            Builder.registerPipelineParsingCallback(addModulePass);
            Builder.registerOptimizerLastEPCallback(addMelding);
          }};
}
