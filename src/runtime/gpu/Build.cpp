//===- runtime/gpu/Build.cpp - From bitcode to code to register -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bitcode --instrument--> bitcode --NVPTX, ptxas, fatbinary--> fat binary
//      |                       ^ registers
//      +--NVPTX, ptxas---------+
//
// in the process of the program, when it registers its device code; for trials
// without the first step, as `reconverge cc` builds it for a GPU. The
// toolkit's tools are there, since its libcudart is. Machine code is for the
// oldest GPU that the process sees, or for the newest that LLVM knows if that
// is older still; the PTX beside it serves all others through the driver.
//
// This takes as long as a compilation, so images are kept: under a hash of the
// bitcode, the architecture, the options and this build of ours.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Build.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Architecture.h"
#include "core/CacheFolder.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/MachineCode.h"
#include "instrument/Instrument.h"
#include "runtime/gpu/Hardware.h"
#include "runtime/gpu/Registers.h"
#include "runtime/profile/Process.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::gpu {

static Expected<unsigned> architectureFor(const Module &M) {
  Expected<unsigned> Gpu = lowestArchitecture();
  if (!Gpu)
    return Gpu;
  // The code may use all that the architecture has that it is compiled for.
  unsigned Code = analysis::newestArchitecture(M);
  if (Code > *Gpu)
    return userError("it was compiled for sm_" + Twine(Code) +
                         ", the GPU has sm_" + Twine(*Gpu),
                     "Build the program with -arch=sm_" + Twine(*Gpu) + ".");
  return std::min(*Gpu, frontend::NewestArch);
}

static auto findCuda() {
  auto Environment = [](StringRef Name) { return sys::Process::GetEnv(Name); };
  return frontend::findCudaToolkit("", Environment);
}

/// ptxas takes long for code with probes, and the program waits for it. (Known
/// to be there in CUDA 13.)
static void useAllCores(frontend::CompileOptions &Compile,
                        const frontend::CudaToolkit &Cuda) {
  if (Cuda.Major >= 13)
    Compile.PtxasArguments.push_back("--split-compile=0");
}

/// \p M as something to register, with these arguments of ptxas.
static Expected<SmallVector<char, 0>>
imageOf(const Module &M, unsigned Arch, const Options &O,
        std::vector<std::string> PtxasArguments) {
  if (O.Bitcode) {
    SmallVector<char, 0> Bytes = frontend::writeBitcode(M);
    return makeContainer({Bytes.data(), Bytes.size()}, "");
  }
  frontend::Toolchain Tools;
  if (Error E = findCuda().moveInto(Tools.Cuda))
    return std::move(E);
  auto Temp = frontend::TempDir::create();
  if (!Temp)
    return Temp.takeError();
  frontend::CompileOptions Compile;
  Compile.Arch = Arch;
  Compile.PtxasArguments = std::move(PtxasArguments);
  useAllCores(Compile, Tools.Cuda);
  return frontend::makeFatbin(M, Compile, Tools, *Temp, "device");
}

static Expected<unsigned> architecture(const Module &M, const Options &O) {
  return O.Bitcode ? Expected<unsigned>(frontend::NewestArch)
                   : architectureFor(M);
}

Error addProbes(Module &M, const Options &O,
                std::function<bool(const Function &)> Only) {
  instrument::InstrumentOptions Probes;
  if (Error E = architecture(M, O).moveInto(Probes.Arch))
    return E;
  Probes.Portable = O.Bitcode;
  Probes.Memory = O.MemoryBlocks != 0;
  Probes.Only = std::move(Only);
  instrument::instrument(M, Probes);
  return Error::success();
}

bool hasPlainCode(const Function &Kernel, const Options &O) {
  return !O.Bitcode && O.Counters && !Kernel.isDeclaration() &&
         namesCallees(Kernel);
}

DenseSet<const Function *> addPlainKernels(Module &M, const Options &O) {
  SmallVector<Function *> Kernels; // clones are kernels as well
  for (Function &F : M)
    if (analysis::isKernel(F) && hasPlainCode(F, O))
      Kernels.push_back(&F);
  DenseMap<Function *, Function *> Copies;
  for (Function *F : Kernels)
    cloneWithCallees(*F, PlainSuffix, Copies);
  DenseSet<const Function *> Plain;
  for (auto [F, Copy] : Copies)
    Plain.insert(Copy);
  return Plain;
}

StringMap<remedies::FeatureKernel> addFeatureKernels(Module &M,
                                                     const Options &O) {
  SmallVector<Function *> Kernels; // those that are added are kernels as well
  if (O.Features && O.Counters && O.Vectors)
    for (Function &F : M)
      if (analysis::isKernel(F) && !F.isDeclaration())
        Kernels.push_back(&F);
  StringMap<remedies::FeatureKernel> Made;
  for (Function *F : Kernels)
    if (auto Of = remedies::addFeatureKernel(*F))
      Made[F->getName()] = std::move(*Of);
  return Made;
}

Function *cloneKernel(Function &F, const Twine &Name) {
  ValueToValueMapTy Map;
  Function *Clone = CloneFunction(&F, Map);
  Clone->setName(Name);
  Clone->setLinkage(GlobalValue::ExternalLinkage);
  analysis::copyAnnotations(F, *Clone);
  return Clone;
}

bool namesCallees(const Function &Kernel) {
  return none_of(analysis::functionsOf(Kernel), [](const Function *F) {
    return any_of(instructions(*F), [](const Instruction &I) {
      const auto *Call = dyn_cast<CallBase>(&I);
      return Call && Call->isIndirectCall();
    });
  });
}

Function *cloneWithCallees(Function &F, const Twine &Suffix,
                           DenseMap<Function *, Function *> &Copies) {
  SmallVector<Function *> New;
  for (const Function *Of : analysis::functionsOf(F)) {
    Function *&Copy = Copies[const_cast<Function *>(Of)];
    if (Copy)
      continue;
    Copy = cloneKernel(const_cast<Function &>(*Of), Of->getName() + Suffix);
    if (!analysis::isKernel(*Of))
      Copy->setLinkage(GlobalValue::InternalLinkage);
    New.push_back(Copy);
  }
  for (Function *Copy : New)
    for (Instruction &I : instructions(*Copy))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *Callee = Copies.lookup(Call->getCalledFunction()))
          Call->setCalledFunction(Callee);
  return Copies.lookup(&F);
}

Expected<analysis::MachineCode> machineCodeFor(const Module &M,
                                               const Options &O) {
  if (O.Bitcode)
    return createStringError("there is no machine code on the warp VM");
  frontend::CompileOptions Compile;
  if (Error E = architectureFor(M).moveInto(Compile.Arch))
    return std::move(E);
  auto Cuda = findCuda();
  if (!Cuda)
    return Cuda.takeError();
  auto Temp = frontend::TempDir::create();
  if (!Temp)
    return Temp.takeError();
  return frontend::machineCodeOf(M, Compile, *Cuda, *Temp);
}

/// Has \p Probed, which is \p M with probes, do with the registers that \p M
/// has.
static Error keepRegisters(const Module &M, Module &Probed, unsigned Arch) {
  auto Cuda = findCuda();
  if (!Cuda)
    return Cuda.takeError();
  auto Temp = frontend::TempDir::create();
  if (!Temp)
    return Temp.takeError();
  frontend::CompileOptions Compile;
  Compile.Arch = Arch;
  useAllCores(Compile, *Cuda);
  auto Counts =
      frontend::assemble(M, Compile, *Cuda, Temp->file("registers.cubin"));
  if (!Counts)
    return Counts.takeError();
  limitRegisters(Probed, *Counts);
  return Error::success();
}

static Expected<SmallVector<char, 0>> withProbes(const Module &M, unsigned Arch,
                                                 const Options &O) {
  if (!O.Counters)
    return imageOf(M, Arch, O, {});
  std::unique_ptr<Module> Copy = CloneModule(M);
  DenseSet<const Function *> Plain = addPlainKernels(*Copy, O);
  for (const auto &Reads : addFeatureKernels(*Copy, O))
    Plain.insert(Reads.second.Kernel);
  if (Error E = addProbes(
          *Copy, O, [&](const Function &F) { return !Plain.contains(&F); }))
    return std::move(E);
  if (!O.Registers && !O.Bitcode)
    if (Error E = keepRegisters(M, *Copy, Arch))
      return std::move(E);
  std::vector<std::string> Ptxas;
  if (O.Registers)
    Ptxas.push_back("--maxrregcount=" + std::to_string(O.Registers));
  return imageOf(*Copy, Arch, O, std::move(Ptxas));
}

/// What \p Make makes, from the cache if it is there under \p Key.
static Expected<std::unique_ptr<MemoryBuffer>>
cached(const Twine &Key, const Options &O,
       function_ref<Expected<SmallVector<char, 0>>()> Make) {
  std::string Path;
  if (!O.CacheDir.empty()) {
    static const char Here = 0;
    const std::string Whole = (Key + "," + runtime::buildStamp(&Here)).str();
    Path = cachePath(O.CacheDir, xxh3_64bits(Whole));
    if (auto Kept = readCached(Path))
      return Kept;
  }
  Expected<SmallVector<char, 0>> Bytes = Make();
  if (!Bytes)
    return Bytes.takeError();
  StringRef Text(Bytes->data(), Bytes->size());
  // A cache that cannot be written costs time, nothing else.
  if (!Path.empty() && !sys::fs::create_directories(O.CacheDir))
    consumeError(
        writeFileAtomically(Path, [&](raw_ostream &OS) { OS << Text; }));
  return MemoryBuffer::getMemBufferCopy(Text);
}

Expected<std::unique_ptr<MemoryBuffer>>
buildImage(const Module &M, uint64_t Hash, const Options &O) {
  Expected<unsigned> Arch = architecture(M, O);
  if (!Arch)
    return Arch.takeError();
  return cached(utohexstr(Hash) + "," + Twine(*Arch) + "," + Twine(O.Counters) +
                    "," + Twine(O.Bitcode) + "," + Twine(O.Registers) + "," +
                    Twine(O.MemoryBlocks != 0) + "," + Twine(O.Features),
                O, [&] { return withProbes(M, *Arch, O); });
}

Expected<std::unique_ptr<MemoryBuffer>> buildPlainImage(const Module &M,
                                                        const Options &O) {
  Expected<unsigned> Arch = architecture(M, O);
  if (!Arch)
    return Arch.takeError();
  SmallVector<char, 0> Bytes = frontend::writeBitcode(M);
  return cached("plain," + bitcodeHash({Bytes.data(), Bytes.size()}) + "," +
                    Twine(*Arch) + "," + Twine(O.Bitcode),
                O, [&] { return imageOf(M, *Arch, O, {}); });
}

} // namespace reconverge::gpu
