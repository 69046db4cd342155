//===- driver/ForeignImages.cpp - Other compilers' code, for trials -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To a user who comes from nvcc or clang, its code of the unmodified kernel is
// what a remedy has to beat. For each source whose kernels ran, each of them
// compiles a fat binary, which goes with the hash of our own device code of
// that source: that is how the program in its trials knows which kernels it has
// whose code of.
//
// The whole program by nvcc is nvcc's. By clang it is our build with clang's
// device code: host code is stock clang's in any case, and what clang 19 itself
// makes of its PTX does not get through the tools of CUDA 13
// (benchmarks/harness/builds.py goes the same way for the same reason).
//
//===----------------------------------------------------------------------===//

#include "driver/ForeignImages.h"

#include "analysis/CodeHash.h"
#include "core/Error.h"
#include "driver/Build.h"
#include "driver/Remedies.h"
#include "driver/Run.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/ForeignCode.h"
#include "frontend/Subprocess.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

using frontend::InputKind;

static void note(raw_ostream &OS, const Twine &Text) {
  OS << "reconverge: note: " << Text << '\n';
}

/// A note that \p What is so, by the first line of \p Why.
static void note(raw_ostream &OS, const Twine &What, Error Why) {
  const std::string Text = toString(std::move(Why));
  note(OS, What + ": " + StringRef(Text).split('\n').first);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// The images of one source, if its module is one of \p Modules. The error is
/// of our own device code.
static Error compileOne(const frontend::Toolchain &Tools,
                        ArrayRef<ForeignCompiler> Compilers,
                        const BuildRequest &Request, const StringSet<> &Modules,
                        const frontend::TempDir &Temp,
                        const frontend::SourceFile &Source, const Twine &Stem,
                        std::vector<ForeignImage> &Images, raw_ostream &OS) {
  frontend::CompileOptions Options = Request.Compile;
  Options.Dependencies = {};
  // Headers have kernels that are static (CUB's EmptyKernel); a trial says so of
  // a kernel that it cannot find.
  Options.MayLackKernels = true;
  LLVMContext Context;
  auto M = frontend::compileDeviceCode(Tools, Options, Temp, Source, Context);
  if (!M)
    return M.takeError();
  const std::string Hash = analysis::codeHash(**M);
  if (!Modules.contains(Hash))
    return Error::success();
  for (ForeignCompiler By : Compilers) {
    const std::string File = (nameOf(By) + ("-" + Stem)).str();
    Options.GpuCompiler = By;
    auto Fatbin =
        frontend::makeFatbin(**M, Options, Tools, Temp, File, Source.Path);
    if (Fatbin)
      Images.push_back({By, Hash, Temp.file(File + ".fatbin")});
    else
      note(OS,
           Twine(nameOf(By)) + "'s code of " + Source.Path + " is no candidate",
           Fatbin.takeError());
  }
  return Error::success();
}

Expected<std::vector<ForeignImage>> foreignImages(const BuildRequest &Request,
                                                  const StringSet<> &Modules,
                                                  const frontend::TempDir &Temp,
                                                  raw_ostream &OS) {
  std::vector<ForeignImage> Images;
  if (Session::isProgram(Request)) {
    note(OS, "the program was given without its sources: other compilers' code "
             "of its kernels is no candidate");
    return Images;
  }
  auto Tools = frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  SmallVector<ForeignCompiler> Compilers;
  for (ForeignCompiler By : ForeignCompilers)
    if (frontend::isThere(By, *Tools))
      Compilers.push_back(By);
    else
      note(OS, Twine("there is no ") + nameOf(By) +
                   " in the CUDA toolkit: its code is no candidate");
  // Our own code is what the program has: with what pragmas ask for.
  BuildRequest AsBuilt = Request;
  AsBuilt.Diagnostics = nullptr;
  if (Error E = requestRemedies(AsBuilt, *Tools))
    return std::move(E);
  for (size_t I = 0; I != Request.Inputs.size(); ++I) {
    const frontend::SourceFile Source(Request.Inputs[I], Request.Kinds[I]);
    if (Source.Kind != InputKind::Cuda)
      continue;
    if (Error E = compileOne(*Tools, Compilers, AsBuilt, Modules, Temp, Source,
                             Twine(I) + "-" + sys::path::stem(Source.Path),
                             Images, OS))
      note(OS, "other compilers' code of " + Source.Path + " is no candidate",
           std::move(E));
  }
  return Images;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static Error buildByNvcc(const BuildRequest &Request, StringRef Output) {
  auto Tools = frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  frontend::Command C;
  C.Arguments = frontend::nvccProgram(*Tools, Request.Compile, Output);
  auto Input = Request.Inputs.begin();
  for (const frontend::LinkWord &Word : Request.Link.Words)
    if (!Word.IsInput)
      C.Arguments.push_back(Word.Text);
    else if (Input != Request.Inputs.end())
      C.Arguments.push_back(*Input++);
  auto Result = frontend::runProcess(C);
  if (!Result)
    return Result.takeError();
  return Result->ok() ? Error::success() : userError("nvcc failed");
}

static Error buildByClang(BuildRequest Request, StringRef Output) {
  Request.Decisions.clear();
  Request.Compile.Dependencies = {};
  Request.Compile.GpuCompiler = ForeignCompiler::Clang;
  Request.Output = Output.str();
  return build(Request);
}

bool buildBy(ForeignCompiler By, const BuildRequest &Request, StringRef Output,
             raw_ostream &OS) {
  Error E = By == ForeignCompiler::Nvcc ? buildByNvcc(Request, Output)
                                        : buildByClang(Request, Output);
  if (!E)
    return true;
  note(OS, Twine("the whole program by ") + nameOf(By) + " is not compared",
       std::move(E));
  return false;
}

} // namespace reconverge::driver
