//===- driver/NvccImages.cpp - nvcc's code, for trials --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To a user who comes from nvcc, its code of the unmodified kernel is what a
// remedy has to beat. For each source whose kernels ran it is compiled to a fat
// binary, which goes with the hash of our own device code of that source: that
// is how the program in its trials knows which kernels it has nvcc's code of.
//
//===----------------------------------------------------------------------===//

#include "driver/NvccImages.h"

#include "core/ContainerIO.h"
#include "core/Error.h"
#include "driver/Run.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/NvccCode.h"
#include "frontend/Subprocess.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

using frontend::InputKind;

static void note(raw_ostream &OS, const Twine &Text) {
  OS << "reconverge: note: " << Text << '\n';
}

/// The image of one source, if its module is one of \p Modules.
static Error compileOne(const frontend::Toolchain &Tools,
                        const BuildRequest &Request, const StringSet<> &Modules,
                        const frontend::TempDir &Temp,
                        const frontend::SourceFile &Source, StringRef Stem,
                        std::vector<ForeignImage> &Images) {
  frontend::CompileOptions Options = Request.Compile;
  Options.Dependencies = {};
  LLVMContext Context;
  auto M = frontend::compileDeviceCode(Tools, Options, Temp, Source, Context);
  if (!M)
    return M.takeError();
  SmallVector<char, 0> Bitcode = frontend::writeBitcode(**M);
  const std::string Hash = bitcodeHash({Bitcode.data(), Bitcode.size()});
  if (!Modules.contains(Hash))
    return Error::success();
  Options.Gpu = frontend::GpuCode::Nvcc;
  auto Fatbin =
      frontend::makeFatbin(**M, Options, Tools, Temp, Stem, Source.Path);
  if (!Fatbin)
    return Fatbin.takeError();
  Images.push_back({Hash, Temp.file(Stem + ".fatbin")});
  return Error::success();
}

Expected<std::vector<ForeignImage>> nvccImages(const BuildRequest &Request,
                                               const StringSet<> &Modules,
                                               const frontend::TempDir &Temp,
                                               raw_ostream &OS) {
  std::vector<ForeignImage> Images;
  if (Session::isProgram(Request)) {
    note(OS, "the program was given without its sources: nvcc's code of its "
             "kernels is no candidate");
    return Images;
  }
  auto Tools = frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  if (!sys::fs::can_execute(Tools->Cuda.tool("nvcc"))) {
    note(OS, "the CUDA toolkit has no nvcc: its code is no candidate");
    return Images;
  }
  for (size_t I = 0; I != Request.Inputs.size(); ++I) {
    const frontend::SourceFile Source(Request.Inputs[I], Request.Kinds[I]);
    if (Source.Kind != InputKind::Cuda)
      continue;
    const std::string Stem =
        ("nvcc-" + Twine(I) + "-" + sys::path::stem(Source.Path)).str();
    Error E = compileOne(*Tools, Request, Modules, Temp, Source, Stem, Images);
    if (!E)
      continue;
    const std::string Why = toString(std::move(E));
    note(OS, "nvcc's code of " + Source.Path + " is no candidate: " +
                 StringRef(Why).take_until([](char C) { return C == '\n'; }));
  }
  return Images;
}

Expected<bool> buildByNvcc(const BuildRequest &Request, StringRef Output,
                           raw_ostream &OS) {
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
  if (Result && Result->ok())
    return true;
  if (!Result)
    consumeError(Result.takeError());
  note(OS, "nvcc does not build the program: its whole time is not compared");
  return false;
}

} // namespace reconverge::driver
