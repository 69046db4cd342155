//===- plugin/Plugin.cpp - Our passes in clang and opt --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconverge.so for -fpass-plugin= and -load-pass-plugin=. Passes.def and
// the table of remedies are the whole list of passes. -mllvm
// -reconverge-<remedy>[=options] puts a remedy at the end of clang's pipeline,
// and so do requests in the source that Pragmas.cpp has left in the code; what
// makes __managed__ variables comes first in it, and -reconverge-remedied puts
// the choice between kernels first in that of host code. There is no logic
// here.
//
//===----------------------------------------------------------------------===//

#include "analysis/KernelInfoPrinter.h"
#include "analysis/Uniformity.h"
#include "core/Error.h"
#include "frontend/FormFma.h"
#include "frontend/LoadPairs.h"
#include "frontend/MachineCode.h"
#include "frontend/Managed.h"
#include "frontend/RemediedLaunches.h"
#include "frontend/SplitAtomics.h"
#include "instrument/Instrument.h"
#include "remedies/Table.h"
#include "remedies/common/RequestFormat.h"
#include "remedies/common/Requests.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"

using namespace llvm;
using namespace reconverge;

namespace {
/// A remedy, and the option that asks for it.
struct Choice {
  const remedies::Remedy &Which;
  const std::string Name, Text;
  cl::opt<std::string> Option;

  explicit Choice(const remedies::Remedy &Which)
      : Which(Which), Name(("reconverge-" + Which.Name).str()),
        Text((Which.Does + "; NVPTX code, last in the pipeline").str()),
        Option(StringRef(Name), cl::ValueOptional, cl::value_desc("options"),
               cl::desc(Text)) {}
};
} // namespace

/// One for each remedy; options have to be there before any is read.
static const std::vector<std::unique_ptr<Choice>> Choices = [] {
  std::vector<std::unique_ptr<Choice>> All;
  for (const remedies::Remedy *R : remedies::all())
    if (!R->ChangesLaunch) // clang's host code would not know of it
      All.push_back(std::make_unique<Choice>(*R));
  return All;
}();

static cl::opt<std::string>
    Remedied("reconverge-remedied", cl::value_desc("kernels"),
             cl::desc("In host code, have launches choose between kernels and "
                      "their remedied copies, first in the pipeline"));

static void warn(Module &M, const Twine &Text) {
  const DiagnosticInfoInlineAsm Warning(Text, DS_Warning); // as emitError does
  M.getContext().diagnose(Warning);
}

namespace {
/// Runs passes on device code alone: clang gives a plugin the host's as well.
/// Unless they are asked for, only where the source does so.
struct OnDevice : PassInfoMixin<OnDevice> {
  ModulePassManager Passes;
  bool IsAsked = false;
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    if (!Triple(M.getTargetTriple()).isNVPTX())
      return PreservedAnalyses::all();
    const std::set<std::string> Asked = remedies::settleRequestsHere(M);
    for (const std::string &Name : Asked)
      if (remedies::changesLaunch({Name, ""}))
        warn(M, "the source asks for " + Name +
                    ", which changes launches: "
                    "only `reconverge cc` can do that");
    return IsAsked || !Asked.empty() ? Passes.run(M, AM)
                                     : PreservedAnalyses::all();
  }
};
} // namespace

/// A remedy, with what has to come before it.
static void addRemedy(ModulePassManager &Modules, const remedies::Remedy &Which,
                      StringRef Parameters) {
  if (Error E = Which.Check(Parameters)) {
    reportError(std::move(E), errs());
    return;
  }
  if (Which.changesLaunch(Parameters)) {
    reportError(userError("'" + Parameters + "' changes launches",
                          "Only `reconverge cc` can do that."),
                errs());
    return;
  }
  FunctionPassManager Functions;
  Functions.addPass(InferAddressSpacesPass());
  Functions.addPass(frontend::FormFmaPass());
  Functions.addPass(remedies::RemedyPass(Which, Parameters.str()));
  Modules.addPass(createModuleToFunctionPassAdaptor(std::move(Functions)));
}

static void addRemedies(ModulePassManager &Modules, OptimizationLevel Level) {
  if (Level == OptimizationLevel::O0)
    return;
  OnDevice Device;
  for (const auto &C : Choices)
    if (C->Option.getNumOccurrences()) {
      Device.IsAsked = true;
      addRemedy(Device.Passes, C->Which, C->Option);
    } else if (remedies::requestWordsOf(C->Which.Name)) {
      addRemedy(Device.Passes, C->Which, remedies::OnlyWhereAsked);
    }
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

/// Adds \p PassT if \p Name asks for a remedy that does, or does not, change
/// launches.
template <class PassT, class ManagerT>
static bool addRemedyNamed(StringRef Name, bool ChangesLaunch,
                           ManagerT &Manager) {
  for (const remedies::Remedy *R : remedies::all()) {
    const std::string Own = ("reconverge-" + R->Name).str();
    auto Parameters = [R](StringRef Text) -> Expected<std::string> {
      if (Error E = R->Check(Text))
        return std::move(E);
      return Text.str();
    };
    StringRef Given = Name;
    if (!PassBuilder::checkParametrizedPassName(Name, Own) ||
        !Given.consume_front(Own))
      continue;
    Given.consume_front("<");
    Given.consume_back(">");
    if (R->changesLaunch(Given) != ChangesLaunch)
      continue;
    auto Text = PassBuilder::parsePassParameters(Parameters, Name, Own);
    if (!Text) {
      reportError(Text.takeError(), errs());
      return false;
    }
    Manager.addPass(PassT(*R, std::move(*Text)));
    return true;
  }
  return false;
}

static bool addFunctionPass(StringRef Name, FunctionPassManager &Manager,
                            ArrayRef<PassBuilder::PipelineElement>) {
  if (addRemedyNamed<remedies::RemedyPass>(Name, /*ChangesLaunch=*/false,
                                           Manager))
    return true;
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
  if (addRemedyNamed<remedies::RecipePass>(Name, /*ChangesLaunch=*/true,
                                           Manager))
    return true;
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
            Builder.registerOptimizerLastEPCallback(addRemedies);
          }};
}
