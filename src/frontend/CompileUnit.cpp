//===- frontend/CompileUnit.cpp - Source files to a program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every step writes into the temporary folder; only a complete result is moved
// to where the user wants it.
//
// -E, -M and -fsyntax-only go over a CUDA source twice, like a compilation:
// a tool that asks what a unit depends on (ccache by -E, make by -M) must hear
// of what only the device's half reads.
//
//===----------------------------------------------------------------------===//

#include "frontend/CompileUnit.h"

#include "analysis/CodeHash.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/Dependencies.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/Managed.h"
#include "frontend/Record.h"
#include "frontend/Remedied.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::frontend {

/// A name for intermediate files: two sources of the same name in different
/// folders must not meet.
static std::string stemOf(const TempDir &Temp, StringRef Source) {
  std::string Stem = sys::path::stem(Source).str();
  std::string Unique = Stem;
  for (unsigned N = 1; sys::fs::exists(Temp.file(Unique + ".o")); ++N)
    Unique = Stem + "-" + std::to_string(N);
  return Unique;
}

static Error checkReadable(StringRef Source) {
  if (Source == "-")
    return userError("standard input cannot be compiled: it is read twice, for "
                     "the device and for the host",
                     "Write the source to a file.");
  if (sys::fs::is_directory(Source))
    return userError(Source + " is a folder, not a source file");
  if (!sys::fs::exists(Source))
    return userError("no such file: " + Source);
  return readFile(Source).takeError();
}

static Error runClang(const Command &C, StringRef Subject, StringRef What) {
  Expected<ProcessResult> Result = runProcess(C);
  if (!Result)
    return Result.takeError();
  if (interruption()) // whatever became of the tool
    return userError(Subject + ": " + What + " was interrupted");
  if (Result->Signal)
    return userError(Subject + ": " + What + " ended by signal " +
                     Twine(Result->Signal));
  if (Result->Exit)
    return userError(Subject + ": " + What + " failed");
  return Error::success();
}

Expected<std::unique_ptr<Module>>
compileDeviceCode(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &Temp, const SourceFile &Source,
                  LLVMContext &Context, StringRef DepFile) {
  if (Error E = checkReadable(Source.Path))
    return std::move(E);
  std::string Bitcode = Temp.file(stemOf(Temp, Source.Path) + ".device.bc");
  if (Error E = runClang(deviceCommand(Tools, Options, Source, Bitcode,
                                       Stage::Object, DepFile),
                         Source.Path, "compilation"))
    return std::move(E);

  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Bitcode);
  if (!Buffer)
    return Buffer.takeError();
  sayOnce(Context, Tools.Cuda.Root);
  Record Remarks(Context);
  if (Error E = Remarks.start(Options.Record))
    return std::move(E);
  auto M = parseBitcodeFile(**Buffer, Context);
  if (!M)
    return internalError(Source.Path + ": clang's bitcode cannot be read: " +
                         toString(M.takeError()));
  if (Error E = Options.Relocatable ? prepareDeviceCode(**M, Options)
                                    : runDevicePipeline(**M, Options))
    return std::move(E);
  if (Options.Relocatable)
    return M;
  if (Options.Transform)
    if (Error E = Options.Transform(**M))
      return std::move(E);
  if (Error E = Remarks.write())
    return std::move(E);
  return M;
}

/// The files that clang has written (those that are there), joined.
static Error joinDependencies(const DependencyOptions &Options,
                              ArrayRef<std::string> Parts, StringRef Output) {
  std::vector<std::unique_ptr<MemoryBuffer>> Buffers;
  std::vector<StringRef> Rules;
  for (const std::string &Part : Parts) {
    Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Part);
    if (!Buffer)
      return Buffer.takeError();
    Rules.push_back((*Buffer)->getBuffer());
    Buffers.push_back(std::move(*Buffer));
  }
  return writeOutput(Output, [&](raw_ostream &OS) {
    OS << mergeDependencies(Rules, Options.Phony);
  });
}

/// \p Options with a target for the rule, \p Output, if none was named.
static CompileOptions withTarget(CompileOptions Options, StringRef Output) {
  if (Options.Dependencies.Names.empty())
    Options.Dependencies.Names = {"-MQ", Output.str()};
  return Options;
}

Expected<std::string> writeContainer(const Module &M,
                                     const CompileOptions &Options,
                                     const Toolchain &Tools,
                                     const TempDir &Temp, StringRef Source,
                                     StringRef Stem) {
  SmallVector<char, 0> Bitcode = writeBitcode(M), Fatbin;
  if (Options.Gpu)
    if (Error E =
            makeFatbin(M, Options, Tools, Temp, Stem, Source).moveInto(Fatbin))
      return std::move(E);
  if (Options.Runtime == CudaRuntime::Nvidia)
    return Temp.file(Stem + ".fatbin");
  SmallVector<char, 0> Bytes = makeContainer({Bitcode.data(), Bitcode.size()},
                                             {Fatbin.data(), Fatbin.size()});
  std::string Container = Temp.file(Stem + ".container");
  if (Error E = writeFileAtomically(Container, [&](raw_ostream &OS) {
        OS.write(Bytes.data(), Bytes.size());
      }))
    return std::move(E);
  return Container;
}

/// Has the host's code choose between the kernels of \p M that are there
/// twice.
static void chooseOnHost(const Module &M, const Toolchain &Tools,
                         CompileOptions &Options) {
  const std::vector<RemediedKernel> Kernels = remediedKernels(M);
  if (Kernels.empty())
    return;
  Options.OwnPasses = true;
  for (const std::string &Word : // as a plugin of both kinds, for the option
       {"-fplugin=" + Tools.Tree.passesPath(), std::string("-mllvm"),
        "-reconverge-remedied=" + printRemedied(Kernels)})
    Options.HostArguments.push_back(Word);
}

Error compileUnit(const Toolchain &Tools, const CompileOptions &Given,
                  const TempDir &Temp, const SourceFile &Source,
                  StringRef Output, bool Assembly) {
  if (Error E = checkReadable(Source.Path))
    return E;
  CompileOptions Options = withTarget(Given, Output);
  Options.OwnPasses = Given.HostOnly; // else the device's side tells
  const bool Depends = Options.Dependencies.Write;
  std::string Stem = stemOf(Temp, Source.Path), Container;
  std::vector<std::string> DepFiles;
  auto NewDepFile = [&](StringRef Side) -> std::string {
    if (!Depends)
      return "";
    DepFiles.push_back(Temp.file(Stem + "." + Side + ".d"));
    return DepFiles.back();
  };

  if (Source.Kind == InputKind::Cuda && !Options.HostOnly) {
    // Code for a GPU is made of the whole.
    if (Options.Relocatable)
      Options.Gpu = false;
    LLVMContext Context;
    auto M = compileDeviceCode(Tools, Options, Temp, Source, Context,
                               NewDepFile("device"));
    if (!M)
      return M.takeError();
    Options.OwnPasses = hasManagedVariables(**M);
    analysis::sealCodeHash(**M);
    if (Error E = writeContainer(**M, Options, Tools, Temp, Source.Path, Stem)
                      .moveInto(Container))
      return E;
    chooseOnHost(**M, Tools, Options);
  }
  std::string Whole = Temp.file(Stem + (Assembly ? ".s" : ".o"));
  if (Error E = runClang(hostCommand(Tools, Options, Source, Container, Whole,
                                     Assembly ? Stage::Assembly : Stage::Object,
                                     NewDepFile("host")),
                         Source.Path, "compilation"))
    return E;
  if (Depends) {
    std::string File = Options.Dependencies.File;
    if (File.empty())
      File = dependencyFileFor(Output);
    if (Error E = joinDependencies(Options.Dependencies, DepFiles, File))
      return E;
  }
  return Whole == Output ? Error::success() : moveIntoPlace(Whole, Output);
}

/// Runs \p Until for the host and, of CUDA, for the device. \p Output and
/// \p DepFile name the files of a side: "host" or "device".
static Error runBothSides(
    const Toolchain &Tools, const CompileOptions &Options,
    const SourceFile &Source, Stage Until,
    function_ref<std::pair<std::string, std::string>(StringRef)> FilesOf) {
  if (Error E = checkReadable(Source.Path))
    return E;
  auto [Output, DepFile] = FilesOf("host");
  if (Error E = runClang(
          hostCommand(Tools, Options, Source, "", Output, Until, DepFile),
          Source.Path, "compilation"))
    return E;
  if (Source.Kind != InputKind::Cuda || Options.HostOnly)
    return Error::success();
  std::tie(Output, DepFile) = FilesOf("device");
  return runClang(deviceCommand(Tools, Options, Source, Output, Until, DepFile),
                  Source.Path, "compilation");
}

Error preprocess(const Toolchain &Tools, const CompileOptions &Given,
                 const TempDir &Temp, const SourceFile &Source,
                 StringRef Output) {
  CompileOptions Options =
      withTarget(Given, (sys::path::stem(Source.Path) + ".o").str());
  std::string Stem = stemOf(Temp, Source.Path);
  std::vector<std::string> Texts, DepFiles;
  if (Error E = runBothSides(
          Tools, Options, Source, Stage::Preprocessed, [&](StringRef Side) {
            Texts.push_back(Temp.file(Stem + "." + Side + ".ii"));
            if (Options.Dependencies.Write)
              DepFiles.push_back(Temp.file(Stem + "." + Side + ".d"));
            return std::pair(Texts.back(),
                             DepFiles.empty() ? "" : DepFiles.back());
          }))
    return E;
  if (Options.Dependencies.Write) {
    std::string File = Options.Dependencies.File;
    if (File.empty())
      File = dependencyFileFor(sys::path::filename(Source.Path));
    if (Error E = joinDependencies(Options.Dependencies, DepFiles, File))
      return E;
  }
  std::vector<std::unique_ptr<MemoryBuffer>> Buffers;
  for (const std::string &Text : Texts) {
    Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Text);
    if (!Buffer)
      return Buffer.takeError();
    Buffers.push_back(std::move(*Buffer));
  }
  return writeOutput(Output, [&](raw_ostream &OS) {
    for (const auto &Buffer : Buffers)
      OS << Buffer->getBuffer();
  });
}

Error checkSyntax(const Toolchain &Tools, const CompileOptions &Options,
                  const TempDir &, const SourceFile &Source) {
  return runBothSides(Tools, Options, Source, Stage::Syntax, [](StringRef) {
    return std::pair(std::string(), std::string());
  });
}

Error listDependencies(const Toolchain &Tools, const CompileOptions &Given,
                       const TempDir &Temp, const SourceFile &Source,
                       StringRef Output) {
  CompileOptions Options =
      withTarget(Given, (sys::path::stem(Source.Path) + ".o").str());
  std::vector<std::string> DepFiles;
  std::string Stem = stemOf(Temp, Source.Path);
  if (Error E = runBothSides(
          Tools, Options, Source, Stage::Dependencies, [&](StringRef Side) {
            DepFiles.push_back(Temp.file(Stem + "." + Side + ".d"));
            return std::pair(std::string(), DepFiles.back());
          }))
    return E;
  // The order of a compilation: the same rule as from -MD.
  std::reverse(DepFiles.begin(), DepFiles.end());
  return joinDependencies(Options.Dependencies, DepFiles, Output);
}

Expected<bool> holdsContainer(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> File = readFile(Path);
  if (!File)
    return File.takeError();
  StringRef Magic(reinterpret_cast<const char *>(&ContainerMagic),
                  sizeof(ContainerMagic));
  return (*File)->getBuffer().contains(Magic);
}

/// NVIDIA's runtime is there, and no object has what it cannot read.
static Error checkForNvidia(const Toolchain &Tools, const LinkOptions &Options,
                            ArrayRef<std::string> Objects) {
  for (const std::string &Object : Objects) {
    Expected<bool> Foreign = holdsContainer(Object);
    if (!Foreign)
      return Foreign.takeError();
    if (*Foreign)
      return userError(Object + ": its device code is in our container, which "
                                "NVIDIA's runtime cannot read",
                       "Compile it with --runtime=nvidia as well.");
  }
  const std::string Library =
      Tools.Cuda.libraryDir() +
      (Options.SharedRuntime ? "/libcudart.so" : "/libcudart_static.a");
  if (Options.Relocatable || sys::fs::exists(Library))
    return Error::success();
  return userError("the CUDA toolkit has no " + Library,
                   "Install it, or name the other runtime by -cudart shared "
                   "or -cudart static.");
}

Error linkProgram(const Toolchain &Tools, const LinkOptions &Options,
                  const TempDir &Temp, ArrayRef<std::string> Objects,
                  StringRef Output) {
  for (const std::string &Object : Objects)
    if (!sys::fs::exists(Object))
      return userError("no such file: " + Object);
  if (Options.Runtime == CudaRuntime::Nvidia) {
    if (Error E = checkForNvidia(Tools, Options, Objects))
      return E;
  } else if (!sys::fs::exists(Tools.Tree.shimPath())) {
    return internalError("the installation is incomplete: " +
                         Tools.Tree.shimPath() + " is missing");
  }
  std::string Whole = Temp.file("linked-program");
  if (Error E = runClang(linkCommand(Tools, Options, Objects, Whole), Output,
                         "linking"))
    return E;
  return moveIntoPlace(Whole, Output);
}

Expected<int> askClang(ArrayRef<const char *> Words) {
  auto Env = [](StringRef Name) { return sys::Process::GetEnv(Name); };
  Expected<Installation> Tree = findInstallation();
  if (!Tree)
    return Tree.takeError();
  Expected<std::string> Clang = findClang(*Tree, Env);
  if (!Clang)
    return Clang.takeError();
  Command C;
  C.Arguments = {*Clang, "--driver-mode=g++"};
  C.Arguments.insert(C.Arguments.end(), Words.begin(), Words.end());
  Expected<ProcessResult> Result = runProcess(C);
  if (!Result)
    return Result.takeError();
  return Result->status();
}

} // namespace reconverge::frontend
