//===- driver/Build.cpp - Compile and link --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Build.h"

#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"

#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::driver {

using frontend::InputKind;
using Product = BuildRequest::Product;

static bool isSource(StringRef Input) {
  InputKind Kind = frontend::inputKind(Input);
  return Kind == InputKind::Cuda || Kind == InputKind::Cxx ||
         Kind == InputKind::C;
}

/// `app.o` for `src/app.cu`, in the current folder, as compilers do.
static std::string outputFor(const BuildRequest &Request, StringRef Source,
                             StringRef Extension) {
  if (!Request.Output.empty())
    return Request.Output;
  return (sys::path::stem(Source) + Extension).str();
}

static Error emitDevice(const BuildRequest &Request,
                        const frontend::Toolchain &Tools,
                        const frontend::TempDir &Temp, StringRef Source) {
  if (frontend::inputKind(Source) != InputKind::Cuda)
    return userError(Source + " has no device code", "Name a .cu file.");
  LLVMContext Context;
  auto M = frontend::compileDeviceCode(Tools, Request.Compile, Temp, Source,
                                       Context);
  if (!M)
    return M.takeError();
  if (Request.Make == Product::Ptx) {
    Expected<std::string> Ptx = frontend::emitPtx(**M, Request.Compile);
    if (!Ptx)
      return Ptx.takeError();
    return writeFileAtomically(outputFor(Request, Source, ".ptx"),
                               [&](raw_ostream &OS) { OS << *Ptx; });
  }
  SmallVector<char, 0> Bitcode = frontend::writeBitcode(**M);
  return writeFileAtomically(
      outputFor(Request, Source, ".bc"),
      [&](raw_ostream &OS) { OS.write(Bitcode.data(), Bitcode.size()); });
}

Error build(const BuildRequest &Request, const frontend::Toolchain &Tools,
            const frontend::TempDir &Temp) {
  std::vector<std::string> Objects;
  for (const std::string &Input : Request.Inputs) {
    if (frontend::inputKind(Input) == InputKind::Other)
      return userError(Input + ": not a kind of file that can be compiled or "
                               "linked",
                       "Sources end in .cu, .cpp, .cc, .cxx or .c, linker "
                       "inputs in .o, .a or .so.");
    if (Request.Make == Product::DeviceBitcode ||
        Request.Make == Product::Ptx) {
      if (Error E = emitDevice(Request, Tools, Temp, Input))
        return E;
      continue;
    }
    if (!isSource(Input)) {
      Objects.push_back(Input);
      continue;
    }
    std::string Object = Request.Make == Product::Objects
                             ? outputFor(Request, Input, ".o")
                             : Temp.file(Twine(Objects.size()) + "-" +
                                         sys::path::stem(Input) + ".o");
    if (Error E =
            frontend::compileUnit(Tools, Request.Compile, Temp, Input, Object))
      return E;
    Objects.push_back(Object);
  }
  if (Request.Make != Product::Program)
    return Error::success();
  return frontend::linkProgram(Tools, Request.Link, Temp, Objects,
                               Request.Output.empty() ? "a.out"
                                                      : Request.Output);
}

Error build(const BuildRequest &Request) {
  Expected<frontend::Toolchain> Tools =
      frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  Expected<frontend::TempDir> Temp = frontend::TempDir::create(Request.Keep);
  if (!Temp)
    return Temp.takeError();
  return build(Request, *Tools, *Temp);
}

} // namespace reconverge::driver
