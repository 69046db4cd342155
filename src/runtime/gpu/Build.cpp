//===- runtime/gpu/Build.cpp - From bitcode to code that counts -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bitcode --instrument--> bitcode --NVPTX, ptxas, fatbinary--> fat binary
//
// in the process of the program, when it registers its device code. The
// toolkit's tools are there, since its libcudart is. Machine code is for the
// oldest GPU that the process sees, or for the newest that LLVM knows if that
// is older still; the PTX beside it serves all others through the driver.
//
// This takes as long as a compilation, so images are kept: under a hash of the
// bitcode, the architecture, the options and this build of ours.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Build.h"

#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "runtime/gpu/Hardware.h"
#include "runtime/profile/Process.h"
#include "transform/instrument/Instrument.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::gpu {

/// The architecture that the code was compiled for: it may use all that this
/// has.
static unsigned compiledFor(const Module &M) {
  unsigned Newest = 0;
  for (const Function &F : M) {
    StringRef Target = F.getFnAttribute("target-cpu").getValueAsString();
    unsigned Number = 0;
    if (Target.consume_front("sm_") && !Target.consumeInteger(10, Number))
      Newest = std::max(Newest, Number);
  }
  return Newest;
}

static Expected<unsigned> architectureFor(const Module &M) {
  Expected<unsigned> Gpu = lowestArchitecture();
  if (!Gpu)
    return Gpu;
  unsigned Code = compiledFor(M);
  if (Code > *Gpu)
    return userError("it was compiled for sm_" + Twine(Code) +
                         ", the GPU has sm_" + Twine(*Gpu),
                     "Build the program with -arch=sm_" + Twine(*Gpu) + ".");
  return std::min(*Gpu, frontend::NewestArch);
}

static Expected<SmallVector<char, 0>> compile(const Module &M, unsigned Arch,
                                              const Options &O) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  if (O.Counters) {
    transform::InstrumentOptions Probes;
    Probes.Arch = Arch;
    Probes.Votes = O.Bitcode;
    transform::instrument(*Copy, Probes);
  }
  if (O.Bitcode) {
    SmallVector<char, 0> Bytes = frontend::writeBitcode(*Copy);
    return makeContainer({Bytes.data(), Bytes.size()}, "");
  }
  frontend::Toolchain Tools;
  auto Environment = [](StringRef Name) { return sys::Process::GetEnv(Name); };
  if (Error E = frontend::findCudaToolkit("", Environment).moveInto(Tools.Cuda))
    return std::move(E);
  auto Temp = frontend::TempDir::create();
  if (!Temp)
    return Temp.takeError();
  frontend::CompileOptions Compile;
  Compile.Arch = Arch;
  if (O.Counters)
    Compile.PtxasArguments = {"--maxrregcount=" + std::to_string(O.Registers)};
  return frontend::makeFatbin(*Copy, Compile, Tools, *Temp, "counting");
}

static std::string cacheFile(uint64_t Hash, unsigned Arch, const Options &O) {
  if (O.CacheDir.empty())
    return "";
  static const char Here = 0;
  std::string Key = (utohexstr(Hash) + "," + Twine(Arch) + "," +
                     Twine(O.Counters) + "," + Twine(O.Bitcode) + "," +
                     Twine(O.Registers) + "," + runtime::buildStamp(&Here))
                        .str();
  SmallString<256> Path(O.CacheDir);
  sys::path::append(Path, "gpu-" + utohexstr(xxh3_64bits(Key)) + ".image");
  return Path.str().str();
}

Expected<std::unique_ptr<MemoryBuffer>>
buildImage(const Module &M, uint64_t Hash, const Options &O) {
  unsigned Arch = frontend::NewestArch;
  if (!O.Bitcode)
    if (Error E = architectureFor(M).moveInto(Arch))
      return std::move(E);
  std::string Path = cacheFile(Hash, Arch, O);
  if (!Path.empty() && sys::fs::exists(Path))
    return readFile(Path);
  Expected<SmallVector<char, 0>> Bytes = compile(M, Arch, O);
  if (!Bytes)
    return Bytes.takeError();
  StringRef Text(Bytes->data(), Bytes->size());
  // A cache that cannot be written costs time, nothing else.
  if (!Path.empty() && !sys::fs::create_directories(O.CacheDir))
    consumeError(
        writeFileAtomically(Path, [&](raw_ostream &OS) { OS << Text; }));
  return MemoryBuffer::getMemBufferCopy(Text);
}

} // namespace reconverge::gpu
