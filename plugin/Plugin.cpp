//===- plugin/Plugin.cpp - Our passes in clang and opt --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconverge.so for -fpass-plugin= and -load-pass-plugin=. Passes.def is the
// whole list; there is no logic here.
//
//===----------------------------------------------------------------------===//

#include "analysis/KernelInfoPrinter.h"
#include "analysis/Uniformity.h"
#include "frontend/FormFma.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace reconverge;

static bool addFunctionPass(StringRef Name, FunctionPassManager &Manager,
                            ArrayRef<PassBuilder::PipelineElement>) {
#define FUNCTION_PASS(NAME, CREATE)                                            \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
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
          }};
}
