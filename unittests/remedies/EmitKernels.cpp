//===- unittests/remedies/EmitKernels.cpp - Random kernels for a GPU -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// EmitKernels FOLDER FIRST COUNT [remap] writes the random kernels of
// DifferentialTest, or of RemapRandomTest, as PTX: kernels before_<seed> and
// after_<seed>, fifty seeds a file, of those in which something changes.
// RunKernels.cu runs them on a GPU and compares.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "MeldKernels.h"
#include "RemapKernels.h"

#include "frontend/Fatbin.h"
#include "frontend/Options.h"

#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge;

static constexpr unsigned SeedsPerFile = 50;

/// All but kernel `k`, which gets a name of its own, is this module's alone.
static void rename(Module &M, const Twine &Name) {
  for (GlobalObject &O : M.global_objects())
    if (!O.isDeclaration() && O.getName() != "k")
      O.setLinkage(GlobalValue::InternalLinkage);
  M.getFunction("k")->setName(Name);
}

/// How much of \p M changed.
static unsigned transformModule(Module &M, uint64_t Seed, bool Remap) {
  if (!Remap)
    return remedies::meldModule(M, remedies::meldOptionsFor(Seed));
  return remedies::remapSeed(M, Seed);
}

/// The PTX of \p Count seeds from \p First on; empty if nothing changes.
static Expected<std::string> ptxOf(unsigned First, unsigned Count, bool Remap) {
  LLVMContext C;
  Module All("kernels", C);
  bool Any = false;
  for (uint64_t Seed = First; Seed != First + Count; ++Seed) {
    auto Before = warpvm::randomKernel(C, Seed,
                                       Remap ? remedies::remapShape(Seed)
                                             : remedies::twinOptions(Seed));
    auto After = CloneModule(*Before);
    if (!transformModule(*After, Seed, Remap))
      continue;
    rename(*Before, "before_" + Twine(Seed));
    rename(*After, "after_" + Twine(Seed));
    for (auto *M : {&Before, &After})
      if (Linker::linkModules(All, std::move(*M)))
        return createStringError("seed " + Twine(Seed) + " does not link");
    Any = true;
  }
  if (!Any)
    return "";
  return frontend::emitPtx(All, frontend::CompileOptions());
}

static Error writePtx(StringRef Folder, unsigned First, unsigned Count,
                      bool Remap) {
  Expected<std::string> Ptx = ptxOf(First, Count, Remap);
  if (!Ptx || Ptx->empty())
    return Ptx.takeError();
  std::error_code Failed;
  raw_fd_ostream OS((Folder + "/" + Twine(First) + ".ptx").str(), Failed);
  if (Failed)
    return errorCodeToError(Failed);
  OS << *Ptx;
  return Error::success();
}

int main(int argc, char **argv) {
  unsigned First = 0, Count = 0;
  const bool Remap = argc == 5 && StringRef(argv[4]) == "remap";
  if ((argc != 4 && !Remap) || StringRef(argv[2]).getAsInteger(10, First) ||
      StringRef(argv[3]).getAsInteger(10, Count)) {
    errs() << "usage: EmitKernels FOLDER FIRST COUNT [remap]\n";
    return 2;
  }
  if (std::error_code Failed = sys::fs::create_directories(argv[1])) {
    errs() << argv[1] << ": " << Failed.message() << "\n";
    return 2;
  }
  for (unsigned At = 0; At < Count; At += SeedsPerFile)
    if (Error E = writePtx(argv[1], First + At,
                           std::min(SeedsPerFile, Count - At), Remap)) {
      errs() << toString(std::move(E)) << "\n";
      return 1;
    }
}
