//===- frontend/Fatbin.cpp - Device bitcode to GPU code -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bitcode --NVPTX back end--> PTX --ptxas--> cubin --fatbinary--> fat binary
//   source --nvcc, clang-------> PTX   (ForeignCode.cpp)
//   all, kernel by kernel -----> PTX   (PtxMerge.cpp)
//
// The back end runs with contraction off (Target.cpp), so that multiplications
// and additions are printed as mul.rn and add.rn, which ptxas must not fuse
// either. ptxas' messages are its own and go to the terminal unchanged.
//
//===----------------------------------------------------------------------===//

#include "frontend/Fatbin.h"

#include "analysis/Marks.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Conversions.h"
#include "frontend/ForeignCode.h"
#include "frontend/IndirectCalls.h"
#include "frontend/KernelWords.h"
#include "frontend/Managed.h"
#include "frontend/Products.h"
#include "frontend/PtxMerge.h"
#include "frontend/PtxShape.h"
#include "frontend/SharedAddresses.h"
#include "frontend/Strides.h"
#include "frontend/Subprocess.h"
#include "frontend/Target.h"
#include "frontend/ptx/InlinePtx.h"

#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <set>

using namespace llvm;

namespace reconverge::frontend {

/// What addPassesToEmitFile does, with passes of ours in between.
static Expected<std::string> printPtx(LLVMTargetMachine &TM, Module &M) {
  SmallString<0> Ptx;
  raw_svector_ostream OS(Ptx);
  legacy::PassManager Passes;
  auto *Machine = new MachineModuleInfoWrapperPass(&TM);
  TargetPassConfig *Config = TM.createPassConfig(Passes);
  keepStrides(*Config);
  hoistSharedAddresses(*Config);
  addToProducts(*Config);
  Passes.add(Config);
  Passes.add(Machine);
  const bool Selects = !Config->addISelPasses();
  if (Selects)
    Config->addMachinePasses();
  Config->setInitialized();
  if (!Selects ||
      TM.addAsmPrinter(Passes, OS, nullptr, CodeGenFileType::AssemblyFile,
                       Machine->getMMI().getContext()))
    return internalError("the NVPTX back end cannot print assembly");
  Passes.run(M);
  return std::string(Ptx);
}

Expected<std::string> emitPtx(const Module &M, const CompileOptions &Options) {
  auto TM = createTarget(M, Options.Arch, Options.OptLevel);
  if (!TM)
    return TM.takeError();
  std::unique_ptr<Module> Copy = CloneModule(M);
  analysis::eraseTwins(*Copy);
  trapAtNoFunction(*Copy);
  if (Error E = restoreInlinePtx(*Copy))
    return std::move(E);
  joinConversions(*Copy);
  if (Options.OptLevel)
    shapeForPtxas(*Copy);
  Expected<std::string> Ptx =
      printPtx(static_cast<LLVMTargetMachine &>(**TM), *Copy);
  if (Ptx && Options.Arch >= 90) // others have no clusters
    addClusters(*Copy, *Ptx);
  return Ptx;
}

std::vector<std::string> fatbinaryArguments(const CudaToolkit &Cuda,
                                            unsigned Arch, StringRef Cubin,
                                            StringRef Ptx, StringRef Output) {
  std::string Sm = std::to_string(Arch);
  std::vector<std::string> Arguments = {Cuda.tool("fatbinary"), "-64",
                                        "--create", Output.str()};
  if (Cuda.Major >= 13) {
    Arguments.push_back("--image3=kind=elf,sm=" + Sm + ",file=" + Cubin.str());
    Arguments.push_back("--image3=kind=ptx,sm=" + Sm + ",file=" + Ptx.str());
  } else {
    Arguments.push_back("--image=profile=sm_" + Sm + ",file=" + Cubin.str());
    Arguments.push_back("--image=profile=compute_" + Sm + ",file=" + Ptx.str());
  }
  return Arguments;
}

std::vector<std::string> ptxasArguments(const CudaToolkit &Cuda,
                                        const CompileOptions &Options,
                                        StringRef Ptx, StringRef Cubin) {
  std::vector<std::string> Arguments = {Cuda.tool("ptxas"),
                                        "-m64",
                                        "-O" + std::to_string(Options.OptLevel),
                                        "--gpu-name",
                                        "sm_" + std::to_string(Options.Arch),
                                        "-lineinfo"};
  Arguments.insert(Arguments.end(), Options.PtxasArguments.begin(),
                   Options.PtxasArguments.end());
  Arguments.insert(Arguments.end(), {Ptx.str(), "-o", Cubin.str()});
  return Arguments;
}

static Error runTool(StringRef What, std::vector<std::string> Arguments) {
  Expected<ProcessResult> Result = runProcess({std::move(Arguments), {}});
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return userError(What + " failed (status " + Twine(Result->status()) + ")");
  return Error::success();
}

namespace {
/// Who makes the code of a module.
struct Makers {
  std::optional<ForeignCompiler> OfAll; ///< one other compiler
  /// If none: the kernels that others make. The rest is ours.
  EachForeign<StringSet<>> Of;
  bool any() const {
    return any_of(Of.Values, [](const StringSet<> &S) { return !S.empty(); });
  }
};
} // namespace

static Makers makersOf(const Module &M, const CompileOptions &Options) {
  Makers Who;
  std::set<std::optional<ForeignCompiler>> Different;
  for (const Function &F : M) {
    if (F.isDeclaration() || !analysis::isKernel(F) || analysis::isTwin(F))
      continue;
    const std::optional<ForeignCompiler> By = compilerOf(F);
    Different.insert(By);
    if (By)
      Who.Of[*By].insert(F.getName());
  }
  Who.OfAll = Options.GpuCompiler;
  if (!Who.OfAll && Different.size() == 1)
    Who.OfAll = *Different.begin();
  return Who;
}

/// Has \p By write the PTX of \p Source, which is \p M for us, to \p Output.
static Error writeForeignPtx(const Module &M, ForeignCompiler By,
                             CompileOptions Options, const Toolchain &Tools,
                             StringRef Source, StringRef Output) {
  Options.OwnPasses = hasManagedVariables(M);
  return runTool(nameOf(By), ptxArguments(By, Tools, Options, Source, Output));
}

/// Others' PTX of their kernels and ours of all else in \p M. \p PtxFile is
/// what the names of intermediate files begin with.
static Expected<std::string>
mixedPtx(const Module &M, const CompileOptions &Options, const Toolchain &Tools,
         StringRef Source, const Makers &Who, const std::string &PtxFile) {
  std::unique_ptr<Module> Rest = CloneModule(M);
  for (const StringSet<> &Kernels : Who.Of.Values)
    for (StringRef Name : Kernels.keys()) {
      Function *F = Rest->getFunction(Name);
      F->replaceAllUsesWith(PoisonValue::get(F->getType()));
      F->eraseFromParent();
    }
  StringSet<> Shared;
  for (const GlobalVariable &G : M.globals())
    if (!G.isDeclaration() && G.isExternallyInitialized())
      Shared.insert(G.getName());
  Expected<std::string> Ptx = emitPtx(*Rest, Options);
  for (ForeignCompiler By : ForeignCompilers) {
    if (!Ptx || Who.Of[By].empty())
      continue;
    const std::string File = PtxFile + "." + nameOf(By);
    if (Error E = writeForeignPtx(M, By, Options, Tools, Source, File))
      return std::move(E);
    Expected<std::unique_ptr<MemoryBuffer>> Theirs = readFile(File);
    if (!Theirs)
      return Theirs.takeError();
    Ptx = mergePtx(*Ptx, (*Theirs)->getBuffer(), By, Who.Of[By], Shared);
  }
  return Ptx;
}

/// The PTX of \p M in the file \p PtxFile, others' part of it from \p Source.
static Error writePtx(const Module &M, const CompileOptions &Options,
                      const Toolchain &Tools, StringRef Source,
                      const Makers &Who, const std::string &PtxFile) {
  if (Who.OfAll)
    return writeForeignPtx(M, *Who.OfAll, Options, Tools, Source, PtxFile);
  Expected<std::string> Ptx =
      Who.any() ? mixedPtx(M, Options, Tools, Source, Who, PtxFile)
                : emitPtx(M, Options);
  if (!Ptx)
    return Ptx.takeError();
  return writeFileAtomically(PtxFile, [&](raw_ostream &OS) { OS << *Ptx; });
}

Expected<SmallVector<char, 0>> makeFatbin(const Module &M,
                                          const CompileOptions &Options,
                                          const Toolchain &Tools,
                                          const TempDir &Temp, StringRef Stem,
                                          StringRef Source) {
  std::string PtxFile = Temp.file(Stem + ".ptx");
  std::string Cubin = Temp.file(Stem + ".cubin");
  std::string Fatbin = Temp.file(Stem + ".fatbin");
  const Makers Who = Source.empty() ? Makers() : makersOf(M, Options);
  if (Error E = writePtx(M, Options, Tools, Source, Who, PtxFile))
    return std::move(E);

  if (Error E =
          runTool("ptxas", ptxasArguments(Tools.Cuda, Options, PtxFile, Cubin)))
    return std::move(E);
  if (Who.OfAll) { // a join has all names, or there was an error
    Expected<std::unique_ptr<MemoryBuffer>> Code = readFile(Cubin);
    if (!Code)
      return Code.takeError();
    if (Error E = checkNames(M, (*Code)->getMemBufferRef(), Source, *Who.OfAll,
                             Options.MayLackKernels))
      return std::move(E);
  }
  if (Error E =
          runTool("fatbinary", fatbinaryArguments(Tools.Cuda, Options.Arch,
                                                  Cubin, PtxFile, Fatbin)))
    return std::move(E);

  Expected<std::unique_ptr<MemoryBuffer>> Bytes = readFile(Fatbin);
  if (!Bytes)
    return Bytes.takeError();
  StringRef Text = (*Bytes)->getBuffer();
  return SmallVector<char, 0>(Text.begin(), Text.end());
}

} // namespace reconverge::frontend
