//===- frontend/Fatbin.cpp - Device bitcode to GPU code -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bitcode --NVPTX back end--> PTX --ptxas--> cubin --fatbinary--> fat binary
//   source --nvcc--------------> PTX   (NvccCode.cpp)
//   both, kernel by kernel ----> PTX   (PtxMerge.cpp)
//
// The back end runs with contraction off (Target.cpp), so that multiplications
// and additions are printed as mul.rn and add.rn, which ptxas must not fuse
// either. ptxas' messages are its own and go to the terminal unchanged.
//
//===----------------------------------------------------------------------===//

#include "frontend/Fatbin.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/NvccCode.h"
#include "frontend/PtxMerge.h"
#include "frontend/PtxShape.h"
#include "frontend/Subprocess.h"
#include "frontend/Target.h"
#include "frontend/ptx/InlinePtx.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::frontend {

Expected<std::string> emitPtx(const Module &M, const CompileOptions &Options) {
  auto TM = createTarget(M, Options.Arch, Options.OptLevel);
  if (!TM)
    return TM.takeError();
  std::unique_ptr<Module> Copy = CloneModule(M);
  if (Error E = restoreInlinePtx(*Copy))
    return std::move(E);
  if (Options.OptLevel)
    shapeForPtxas(*Copy);
  SmallString<0> Ptx;
  raw_svector_ostream OS(Ptx);
  legacy::PassManager Passes;
  if ((*TM)->addPassesToEmitFile(Passes, OS, nullptr,
                                 CodeGenFileType::AssemblyFile))
    return internalError("the NVPTX back end cannot print assembly");
  Passes.run(*Copy);
  return std::string(Ptx);
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

static Error runTool(StringRef What, std::vector<std::string> Arguments) {
  Expected<ProcessResult> Result = runProcess({std::move(Arguments), {}});
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return userError(What + " failed (status " + Twine(Result->status()) + ")");
  return Error::success();
}

namespace {
/// The kernels of a module of which nvcc is to make the code.
struct NvccShare {
  StringSet<> Kernels;
  bool IsAll = true;
  bool any() const { return IsAll || !Kernels.empty(); }
};
} // namespace

static NvccShare shareOfNvcc(const Module &M, const CompileOptions &Options) {
  NvccShare Share;
  if (Options.Gpu == GpuCode::Nvcc)
    return Share;
  for (const Function &F : M) {
    if (F.isDeclaration() || !analysis::isKernel(F))
      continue;
    if (isForNvcc(F))
      Share.Kernels.insert(F.getName());
    else
      Share.IsAll = false;
  }
  Share.IsAll &= !Share.Kernels.empty();
  return Share;
}

/// nvcc's PTX of the \p Kernels and ours of all else in \p M.
static Expected<std::string> mixedPtx(const Module &M,
                                      const CompileOptions &Options,
                                      StringRef NvccPtx,
                                      const StringSet<> &Kernels) {
  std::unique_ptr<Module> Rest = CloneModule(M);
  for (StringRef Name : Kernels.keys()) {
    Function *F = Rest->getFunction(Name);
    F->replaceAllUsesWith(PoisonValue::get(F->getType()));
    F->eraseFromParent();
  }
  StringSet<> Shared;
  for (const GlobalVariable &G : M.globals())
    if (!G.isDeclaration() && G.isExternallyInitialized())
      Shared.insert(G.getName());
  Expected<std::string> Ours = emitPtx(*Rest, Options);
  if (!Ours)
    return Ours.takeError();
  return mergePtx(*Ours, NvccPtx, Kernels, Shared);
}

/// The PTX of \p M in the file \p PtxFile, nvcc's share from \p Source.
static Error writePtx(const Module &M, const CompileOptions &Options,
                      const Toolchain &Tools, StringRef Source,
                      const NvccShare &Nvcc, StringRef PtxFile) {
  Expected<std::string> Ptx = std::string();
  if (Nvcc.any()) {
    if (Error E =
            runTool("nvcc", nvccArguments(Tools, Options, Source, PtxFile)))
      return E;
    if (Nvcc.IsAll)
      return Error::success();
    Expected<std::unique_ptr<MemoryBuffer>> Whole = readFile(PtxFile);
    if (!Whole)
      return Whole.takeError();
    Ptx = mixedPtx(M, Options, (*Whole)->getBuffer(), Nvcc.Kernels);
  } else {
    Ptx = emitPtx(M, Options);
  }
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
  const NvccShare Nvcc = shareOfNvcc(M, Options);
  if (Error E = writePtx(M, Options, Tools, Source, Nvcc, PtxFile))
    return std::move(E);

  std::vector<std::string> Ptxas = {Tools.Cuda.tool("ptxas"),
                                    "-m64",
                                    "-O" + std::to_string(Options.OptLevel),
                                    "--gpu-name",
                                    "sm_" + std::to_string(Options.Arch),
                                    "-lineinfo"};
  Ptxas.insert(Ptxas.end(), Options.PtxasArguments.begin(),
               Options.PtxasArguments.end());
  Ptxas.insert(Ptxas.end(), {PtxFile, "-o", Cubin});
  if (Error E = runTool("ptxas", std::move(Ptxas)))
    return std::move(E);
  if (Nvcc.any()) {
    Expected<std::unique_ptr<MemoryBuffer>> Code = readFile(Cubin);
    if (!Code)
      return Code.takeError();
    if (Error E = checkNames(M, (*Code)->getMemBufferRef(), Source))
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
