//===- frontend/DevicePipeline.cpp - Optimise device bitcode --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order matters, and each step says why it stands where it does. Of
// relocatable device code, those to 3 are the unit's, as they hang on its
// options; the others are the linked whole's (DeviceLink.cpp).
//
//   -  words of kernels      clang's annotations, before others read these
//                            (KernelWords.cpp)
//   -  marked features       what is for them alone is in a copy from here on
//                            (Features.cpp)
//   0. powers of constants   while there are calls of pow (ExactPowers.cpp)
//   1. contraction           nvcc fuses in libdevice's code too; clang marks
//                            only what it compiled itself. What comes from
//                            inline PTX afterwards says itself what may fuse
//   2. inline PTX to IR      before anything else looks at the code
//   3. __nvvm_reflect        before any pass: the first one would answer it;
//      conversions           and would fold these wrongly (Conversions.cpp)
//      managed variables,    are marked for those who come after (Managed.cpp,
//      grid constants        GridConstants.cpp)
//   4. internal linkage      lets the optimiser drop and specialise
//      idle calls            of functions that did nothing but mark: before they
//                            are inlined, and what they call is internal
//                            (Features.cpp)
//   5. callees of pointers   before they are marked for inlining
//                            (IndirectCalls.cpp)
//      inlining marks        blocks are numbered after inlining
//   6. default<On>           with a target machine: without one, LLVM's passes
//                            do not know that branches diverge. Address spaces
//                            are inferred in its midst, after inlining: the
//                            code generator would do it too late for us; and
//                            before instructions are combined, or a shared and
//                            a global load would become one generic load
//   7. shared sums by halves as the addresses of atomics are known by now
//                            (SplitAtomics.cpp)
//   8. FMAs, division        once, for all later stages (FormFma.cpp)
//   9. nothing missing       what another unit would have to bring is refused
//                            here, by name, and not when a program runs
//  10. numbers               block and branch identity for the executors
//  11. verifier              what leaves here is valid
//
// SLP vectorisation is off, as for NVPTX it only makes pairs of halves, which
// nvcc does not. Loops are not vectorised: LLVM takes a register for four chars
// and makes vectors of a loop over chars or shorts, which the machine has no
// instructions for, so that each is taken apart again, and most iterations of a
// short loop run in its remainder. They are unrolled as nvcc does it
// (Unrolling.cpp), and those that count bits are one instruction (BitLoops.cpp).
// SimplifyCFG does not sink what the ends of some arms
// have in common. On a CPU that saves code. Here the shared end is a block that
// is reached from several depths of nested branches, which cannot meet again in
// the order in which they parted: bitonic sort was half as slow again for its
// two stores. What both arms of one branch share is sunk later
// (SharedEnds.cpp). Loads of neighbours that InstCombine takes apart are brought
// together again (LoadPairs.cpp). The terms of an index are extended before its
// sum is reordered (IndexSums.cpp). GVN looks back 500 instructions for an earlier
// load of the same bytes, not 100: blocks are long where loops are unrolled and
// functions inlined, and a pixel's neighbours were read anew in each round of a
// loop. The other settings are those of clang at the same -O.
//
//===----------------------------------------------------------------------===//

#include "frontend/DevicePipeline.h"

#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "frontend/BitLoops.h"
#include "frontend/Conversions.h"
#include "frontend/ExactPowers.h"
#include "frontend/Features.h"
#include "frontend/FormFma.h"
#include "frontend/GridConstants.h"
#include "frontend/HostConstants.h"
#include "frontend/IndexSums.h"
#include "frontend/IndirectCalls.h"
#include "frontend/Inlining.h"
#include "frontend/KernelWords.h"
#include "frontend/LoadPairs.h"
#include "frontend/Managed.h"
#include "frontend/ParameterLoads.h"
#include "frontend/Reflect.h"
#include "frontend/SplitAtomics.h"
#include "frontend/Target.h"
#include "frontend/Unrolling.h"
#include "frontend/ptx/InlinePtx.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include <mutex>

using namespace llvm;

namespace reconverge::frontend {

/// Gives libdevice's arithmetic the permission that the rest of the module has.
/// What it must not fuse it says itself, with mul.rn and the like.
static void allowContractionInLibrary(Module &M) {
  for (Function &F : M) {
    if (F.getSubprogram()) // the user's: clang has marked it
      continue;
    for (Instruction &I : instructions(F))
      if (I.getOpcode() == Instruction::FMul ||
          I.getOpcode() == Instruction::FAdd ||
          I.getOpcode() == Instruction::FSub)
        I.setHasAllowContract(true);
  }
}

/// -fmad=false is also for what PTX in the source would let ptxas fuse.
static void forbidContraction(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isa<FPMathOperator>(I) && I.hasAllowContract())
        I.setHasAllowContract(false);
}

/// The host finds kernels by name, and variables by name too: clang marks the
/// latter as initialised from outside.
static bool isSeenByHost(const GlobalValue &V) {
  if (auto *F = dyn_cast<Function>(&V))
    return analysis::isKernel(*F);
  if (auto *G = dyn_cast<GlobalVariable>(&V))
    return G->isExternallyInitialized();
  return false;
}

/// Constants of host code are the device's where device code uses them, and
/// then are what they are in the source.
static void ownHostConstants(Module &M) {
  for (GlobalVariable &G : M.globals())
    if (G.getSection() == HostConstantSection) {
      G.setSection("");
      G.setExternallyInitialized(false);
    }
}

/// -use_fast_math: single-precision division by reciprocal, as nvcc's.
static void approximateDivision(Module &M, bool FlushDenormals) {
  Function *Divide = nullptr;
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      if (I.getOpcode() != Instruction::FDiv || !I.getType()->isFloatTy())
        continue;
      if (!Divide)
        Divide = Intrinsic::getDeclaration(
            &M, FlushDenormals ? Intrinsic::nvvm_div_approx_ftz_f
                               : Intrinsic::nvvm_div_approx_f);
      auto *Call = CallInst::Create(Divide, {I.getOperand(0), I.getOperand(1)},
                                    "", I.getIterator());
      Call->setDebugLoc(I.getDebugLoc());
      Call->takeName(&I);
      I.replaceAllUsesWith(Call);
      I.eraseFromParent();
    }
}

static OptimizationLevel levelOf(unsigned OptLevel) {
  switch (OptLevel) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

/// Settings of passes that LLVM's own pipelines give no other way to.
static Error setPasses() {
  static constexpr std::pair<StringLiteral, StringLiteral> Settings[] = {
      {"simplifycfg-sink-common", "false"}, {"memdep-block-scan-limit", "500"}};
  static std::once_flag Set;
  StringRef Missing;
  std::call_once(Set, [&] {
    for (const auto &[Name, Value] : Settings) {
      cl::Option *Setting = cl::getRegisteredOptions().lookup(Name);
      if (!Setting || Setting->addOccurrence(0, Name, Value))
        Missing = Name;
    }
  });
  return Missing.empty() ? Error::success()
                         : internalError("LLVM has no setting " + Missing);
}

static void optimise(Module &M, TargetMachine &TM, unsigned OptLevel) {
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = false;
  PassBuilder PB(&TM, Tuning);
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  PB.registerModuleAnalyses(Modules);
  PB.registerCGSCCAnalyses(Components);
  PB.registerFunctionAnalyses(Functions);
  PB.registerLoopAnalyses(Loops);
  PB.crossRegisterProxies(Loops, Functions, Components, Modules);
  const auto Infer = [](ModulePassManager &MPM, OptimizationLevel Level) {
    if (Level != OptimizationLevel::O0)
      MPM.addPass(createModuleToFunctionPassAdaptor(InferAddressSpacesPass()));
  };
  PB.registerPipelineEarlySimplificationEPCallback(Infer);
  PB.registerOptimizerEarlyEPCallback(Infer);

  settleParameterLoads(PB);
  keepLoadPairs(PB);
  countBitsAtOnce(PB);
  extendTermsOfIndices(PB);
  markForUnrolling(PB);

  OptimizationLevel Level = levelOf(OptLevel);
  ModulePassManager MPM = Level == OptimizationLevel::O0
                              ? PB.buildO0DefaultPipeline(Level)
                              : PB.buildPerModuleDefaultPipeline(Level);
  // Structures that functions return are loaded and stored whole until then,
  // which the warp VM does not do.
  if (Level == OptimizationLevel::O0)
    MPM.addPass(
        createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::ModifyCFG)));
  MPM.addPass(GlobalDCEPass());
  if (Level != OptimizationLevel::O0)
    MPM.addPass(SplitAtomicsPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(FormFmaPass()));
  MPM.run(M, Modules);
}

/// Where \p V is used: "app.cu:7: ", or nothing without debug locations.
static std::string placeOfUse(const GlobalValue &V) {
  for (const User *U : V.users())
    if (auto *I = dyn_cast<Instruction>(U))
      if (const DILocation *At = I->getDebugLoc().get())
        return (At->getFilename() + ":" + Twine(At->getLine()) + ": ").str();
  return "";
}

/// What the code uses and does not define: a function of the user's, which has
/// a mangled name (the device's own, vprintf and the like, are C's; operator
/// new and delete are left to whoever runs the code), or a variable that is
/// not dynamic shared memory.
static Error checkComplete(const Module &M, bool IsLinked) {
  auto Missing = [&](const GlobalValue &V, const char *What) {
    const std::string Subject =
        placeOfUse(V) + What + " '" + demangle(V.getName()) + "' is ";
    return IsLinked
               ? userError(Subject + "not defined by any file that is linked",
                           "Add the one that defines it, compiled with "
                           "-rdc=true as well.")
               : userError(Subject + "declared but not defined here",
                           "Define it in this file or in a header that it "
                           "includes, or compile all files with -rdc=true.");
  };
  for (const Function &F : M)
    if (F.isDeclaration() && !F.isIntrinsic() && !F.use_empty() &&
        F.getName().starts_with("_Z") && !F.getName().starts_with("_Zn") &&
        !F.getName().starts_with("_Zd"))
      return Missing(F, "device function");
  for (const GlobalVariable &G : M.globals())
    if (G.isDeclaration() && !G.use_empty() &&
        G.getAddressSpace() != analysis::SharedSpace)
      return Missing(G, "device variable");
  return Error::success();
}

/// Of a static variable of relocatable device code, clang makes another name
/// when host code first uses it, and leaves the uses before that with the old.
static void joinStaticNames(Module &M) {
  SmallVector<GlobalVariable *> Replaced;
  for (GlobalVariable &G : M.globals()) {
    const auto [Old, Unit] = G.getName().split("__static__");
    GlobalVariable *Before = Unit.empty() ? nullptr : M.getNamedGlobal(Old);
    if (!Before || !Before->isDeclaration() || G.isDeclaration())
      continue;
    Before->replaceAllUsesWith(&G);
    Replaced.push_back(Before);
  }
  for (GlobalVariable *G : Replaced)
    G->eraseFromParent();
}

Error prepareDeviceCode(Module &M, const CompileOptions &Options) {
  readKernelWords(M);
  separateFeatures(M);
  if (Options.Relocatable)
    joinStaticNames(M);
  if (Options.OptLevel)
    foldExactPowers(M);
  if (Options.Math.Contract)
    allowContractionInLibrary(M);
  if (Error E = lowerInlinePtx(M))
    return E;
  if (!Options.Math.Contract)
    forbidContraction(M);
  if (Options.Relocatable && !Options.Math.PreciseDivision)
    approximateDivision(M, Options.Math.FlushDenormals);
  if (Error E = resolveReflect(M, Options.Math, Options.Arch))
    return E;
  settleConversions(M);
  markGridConstants(M);
  return markManagedVariables(M);
}

Error completeDeviceCode(Module &M, const CompileOptions &Options) {
  auto TM = createTarget(M, Options.Arch, Options.OptLevel);
  if (!TM)
    return TM.takeError();

  if (Error E = setPasses())
    return E;

  ownHostConstants(M);
  internalizeModule(M, isSeenByHost);
  if (Options.OptLevel) {
    dropIdleCalls(M);
    nameCallees(M, Options.IsWholeProgram);
  }
  markForInlining(M);
  optimise(M, **TM, Options.OptLevel);
  if (!Options.Relocatable && !Options.Math.PreciseDivision)
    approximateDivision(M, Options.Math.FlushDenormals);
  if (Error E = checkComplete(M, Options.Relocatable))
    return E;
  analysis::numberBlocks(M);

  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return internalError("the device pipeline made invalid code of " +
                         M.getSourceFileName() + ": " + Broken);
  return Error::success();
}

Error runDevicePipeline(Module &M, const CompileOptions &Options) {
  if (Error E = prepareDeviceCode(M, Options))
    return E;
  return completeDeviceCode(M, Options);
}

namespace {
/// Each failure once, and those in the toolkit's headers not at all.
class SaidOnce : public DiagnosticHandler {
public:
  explicit SaidOnce(StringRef Toolkit) : Toolkit(Toolkit) {}
  bool handleDiagnostics(const DiagnosticInfo &D) override {
    const auto *Failed = dyn_cast<DiagnosticInfoOptimizationFailure>(&D);
    if (Failed && Failed->isLocationAvailable() &&
        (StringRef(Failed->getAbsolutePath()).starts_with(Toolkit) ||
         !Said.insert(textOf(*Failed)).second))
      return true;
    return DiagnosticHandler::handleDiagnostics(D); // a callback, if there is
  }

private:
  /// "app.cu:7:3: loop not unrolled: ...", which is alike for all instances of
  /// a template and all copies of an inlined function.
  static std::string textOf(const DiagnosticInfo &D) {
    std::string Text;
    raw_string_ostream OS(Text);
    DiagnosticPrinterRawOStream Printer(OS);
    D.print(Printer);
    return Text;
  }

  const std::string Toolkit;
  StringSet<> Said;
};
} // namespace

void sayOnce(LLVMContext &Context, StringRef Toolkit) {
  Context.setDiagnosticHandler(std::make_unique<SaidOnce>(Toolkit.str() + "/"));
}

SmallVector<char, 0> writeBitcode(const Module &M) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(M, OS);
  return Bytes;
}

} // namespace reconverge::frontend
