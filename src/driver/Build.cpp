//===- driver/Build.cpp - Compile and link --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Build.h"
#include "driver/ByDecisions.h"
#include "driver/Remedies.h"

#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

using frontend::InputKind;
using frontend::SourceFile;
using Product = BuildRequest::Product;

/// `app.o` for `src/app.cu`, in the current folder, as compilers do.
static std::string outputFor(const BuildRequest &Request,
                             const SourceFile &Source, StringRef Extension) {
  if (!Request.Output.empty())
    return Request.Output;
  return (sys::path::stem(Source.Path) + Extension).str();
}

static Error emitDevice(const BuildRequest &Request,
                        const frontend::Toolchain &Tools,
                        const frontend::TempDir &Temp,
                        const SourceFile &Source) {
  if (Source.Kind != InputKind::Cuda)
    return userError(Source.Path + " has no device code", "Name a .cu file.");
  LLVMContext Context;
  auto M = frontend::compileDeviceCode(Tools, Request.Compile, Temp, Source,
                                       Context);
  if (!M)
    return M.takeError();
  if (Request.Make == Product::Ptx) {
    Expected<std::string> Ptx = frontend::emitPtx(**M, Request.Compile);
    if (!Ptx)
      return Ptx.takeError();
    return writeOutput(outputFor(Request, Source, ".ptx"),
                       [&](raw_ostream &OS) { OS << *Ptx; });
  }
  SmallVector<char, 0> Bitcode = frontend::writeBitcode(**M);
  return writeOutput(outputFor(Request, Source, ".bc"), [&](raw_ostream &OS) {
    OS.write(Bitcode.data(), Bitcode.size());
  });
}

/// What is made of one source on its own; \p Object is where its object goes.
static Error buildSource(const BuildRequest &Request,
                         const frontend::Toolchain &Tools,
                         const frontend::TempDir &Temp,
                         const SourceFile &Source, StringRef Object) {
  const frontend::CompileOptions &Compile = Request.Compile;
  std::string Output = Request.Output.empty() ? "-" : Request.Output;
  switch (Request.Make) {
  case Product::DeviceBitcode:
  case Product::Ptx:
    return emitDevice(Request, Tools, Temp, Source);
  case Product::Preprocessed:
    return frontend::preprocess(Tools, Compile, Temp, Source, Output);
  case Product::Dependencies:
    if (!Compile.Dependencies.File.empty())
      Output = Compile.Dependencies.File;
    return frontend::listDependencies(Tools, Compile, Temp, Source, Output);
  case Product::Syntax:
    return frontend::checkSyntax(Tools, Compile, Temp, Source);
  case Product::Assembly:
    return frontend::compileUnit(Tools, Compile, Temp, Source,
                                 outputFor(Request, Source, ".s"),
                                 /*Assembly=*/true);
  case Product::Objects:
  case Product::Program:
    return frontend::compileUnit(Tools, Compile, Temp, Source, Object);
  }
  llvm_unreachable("every product is made by something");
}

/// Whether a file without a known extension is something to link.
static bool isLinkable(StringRef Path) {
  file_magic Magic;
  if (identify_magic(Path, Magic))
    return false;
  return Magic == file_magic::archive || Magic == file_magic::elf ||
         Magic == file_magic::elf_relocatable ||
         Magic == file_magic::elf_shared_object || Magic == file_magic::bitcode;
}

/// CMake tries sm_52 first, and takes for the default what compiles.
static Error checkArchitecture(const BuildRequest &Request,
                               const frontend::Toolchain &Tools) {
  unsigned Oldest = Tools.Cuda.Major >= 13 ? 75 : frontend::OldestArch;
  if (Request.Compile.Arch >= Oldest)
    return Error::success();
  return userError("CUDA " + Twine(Tools.Cuda.Major) + " does not support sm_" +
                       Twine(Request.Compile.Arch),
                   "Build for sm_" + Twine(Oldest) + " or later.");
}

Error build(const BuildRequest &Given, const frontend::Toolchain &Tools,
            const frontend::TempDir &Temp) {
  BuildRequest Request = Given;
  if (Error E = checkArchitecture(Request, Tools))
    return E;
  if (!Request.Remedies.empty() && !Request.Decisions.empty())
    return userError("--" + Request.Remedies.front().Remedy +
                         " and --decisions say each what to do to kernels",
                     "Leave one out.");
  std::shared_ptr<Decisions> Decided;
  if (Error E = requestDecisions(Request).moveInto(Decided))
    return E;
  if (Error E = requestRemedies(Request, Tools))
    return E;
  std::vector<std::string> Objects;
  for (size_t I = 0; I != Request.Inputs.size(); ++I) {
    SourceFile Input(Request.Inputs[I], Request.Kinds[I]);
    if (Input.Kind == InputKind::LinkerInput ||
        (Request.Make == Product::Program && Input.Kind == InputKind::Other &&
         isLinkable(Input.Path))) {
      Objects.push_back(Input.Path);
      continue;
    }
    if (Input.Kind == InputKind::Other)
      return userError(Input.Path + ": not a kind of file that can be compiled "
                                    "or linked",
                       "Sources end in .cu, .cpp, .cc, .cxx or .c (or -x names "
                       "their language), linker inputs in .o, .a or .so.");
    std::string Object = Request.Make == Product::Objects
                             ? outputFor(Request, Input, ".o")
                             : Temp.file(Twine(Objects.size()) + "-" +
                                         sys::path::stem(Input.Path) + ".o");
    BuildRequest This = Request;
    frontend::DependencyOptions &Depends = This.Compile.Dependencies;
    // The object of a program is nobody's; its rule is about the program.
    if (This.Make == Product::Program && Depends.Write) {
      if (Depends.File.empty())
        Depends.File = (sys::path::stem(Input.Path) + ".d").str();
      if (Depends.Names.empty())
        Depends.Names = {"-MQ",
                         Request.Output.empty() ? "a.out" : Request.Output};
    }
    if (Error E = buildSource(This, Tools, Temp, Input, Object))
      return E;
    Objects.push_back(Object);
  }
  if (Decided && Request.Diagnostics)
    Decided->report(Request.Make == Product::Program, *Request.Diagnostics);
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

Expected<int> cc(ArrayRef<const char *> Words, StringRef Version,
                 raw_ostream &OS, raw_ostream &Diagnostics) {
  BumpPtrAllocator Memory;
  SmallVector<const char *> Expanded(Words);
  cl::ExpansionContext Files(Memory, cl::TokenizeGNUCommandLine);
  if (Error E = Files.expandResponseFiles(Expanded))
    return userError("cc: " + toString(std::move(E)));
  if (isQuestion(Expanded)) {
    Expected<int> Status = frontend::askClang(Expanded);
    // clang's answer comes first: build systems look for its name in it.
    if (Status && !*Status && is_contained(Words, StringRef("--version")))
      OS << "Reconverge " << Version << ", over this clang\n";
    return Status;
  }
  Expected<BuildRequest> Request = parseCcWords(Expanded);
  if (!Request)
    return Request.takeError();
  Request->Diagnostics = &Diagnostics;
  if (Error E = build(*Request))
    return std::move(E);
  return 0;
}

} // namespace reconverge::driver
