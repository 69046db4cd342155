//===- driver/Build.cpp - Compile and link --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reconverge cc`, and the builds within `profile` and `optimize`, from a
// request to files: each source by itself (device bitcode, our pipeline,
// remedies and decisions, code for the GPU, the container, the host's object),
// then the link with the shim or NVIDIA's runtime. What is asked for in words
// is read in BuildWords.cpp; a source with device code that is linked later
// keeps it as bitcode, and the link completes it (frontend/DeviceLink.cpp).
//
// An output is written beside its place and renamed when it is whole.
//
//===----------------------------------------------------------------------===//

#include "driver/Build.h"
#include "driver/ByDecisions.h"
#include "driver/Remedies.h"

#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/CompileUnit.h"
#include "frontend/Dependencies.h"
#include "frontend/DeviceLink.h"
#include "frontend/DevicePipeline.h"
#include "frontend/Fatbin.h"
#include "frontend/OpenMp.h"
#include "frontend/Subprocess.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
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
  SmallString<128> Path(Request.OutputFolder);
  sys::path::append(Path, sys::path::stem(Source.Path) + Extension);
  return std::string(Path);
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
  case Product::DeviceLink:
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

/// LLVM's OpenMP runtime stands for all: our code calls it, and two in one
/// program would not know of each other's threads.
static Error useOpenMp(BuildRequest &Request, const frontend::Toolchain &Tools,
                       const frontend::TempDir &Temp) {
  const std::vector<std::string> Roots = frontend::openMpRoots(Tools);
  if (!Request.OpenMp) {
    // nvcc's host compiler finds its omp.h without a word about OpenMP.
    if (std::string Folder = frontend::openMpHeaders(Roots); !Folder.empty())
      append_range(Request.Compile.ClangArguments,
                   ArrayRef<std::string>{"-idirafter", Folder});
    return Error::success();
  }
  frontend::LinkOptions &Link = Request.Link;
  auto Found = frontend::findOpenMp(Roots);
  if (!Found && Request.OpenMp & BuildRequest::CompilesOpenMp)
    return userError("-fopenmp: LLVM's OpenMP runtime, libomp with omp.h, is "
                     "not installed",
                     "Install it (Debian: apt-get install libomp-19-dev), or "
                     "leave -fopenmp out: loops then run on one thread.");
  if (!Found) {
    Link.Words.push_back({"-lgomp", false});
    return Error::success();
  }
  // nvcc shows the macro to the device's half, too (of a version that does not
  // have libomp's header go on to pragmas). Behind all other folders: that of
  // the header may be another clang's.
  if (Request.OpenMp & BuildRequest::CompilesOpenMp)
    Request.Compile.DeviceArguments.push_back("-D_OPENMP=201511");
  append_range(Request.Compile.ClangArguments,
               ArrayRef<std::string>{"-idirafter", Found->Headers});
  append_range(Link.Arguments,
               ArrayRef<std::string>{"-L" + Found->Libraries, "-Xlinker",
                                     "-rpath", "-Xlinker", Found->Libraries});
  Link.Words.push_back({"-lomp", false});
  // Before LLVM 19, libomp had not this function, which does nothing.
  auto Library = readFile(Found->Libraries + "/libomp.so");
  if (!Library)
    return Library.takeError();
  if (Request.Make != Product::Program ||
      (*Library)->getBuffer().contains("__kmpc_dispatch_deinit"))
    return Error::success();
  const std::string Source = Temp.file("openmp.c"),
                    Object = Temp.file("openmp.o");
  if (Error E = writeFileAtomically(Source, [](raw_ostream &OS) {
        OS << "__attribute__((weak)) void "
              "__kmpc_dispatch_deinit(void *place, int thread) {}\n";
      }))
    return E;
  Request.Inputs.push_back(Object);
  Request.Kinds.push_back(InputKind::LinkerInput);
  Link.Words.push_back({"", true});
  return frontend::compileUnit(Tools, {}, Temp, SourceFile(Source), Object);
}

/// The archives that the options of a link line name by -l, as far as folders
/// of its own have them.
static std::vector<std::string> archivesOf(const frontend::LinkOptions &Link) {
  SmallVector<StringRef> Folders;
  std::vector<std::string> Paths;
  for (size_t I = 0; I + 1 < Link.Words.size(); ++I)
    if (Link.Words[I].Text == "-L")
      Folders.push_back(Link.Words[I + 1].Text);
  for (size_t I = 0; I + 1 < Link.Words.size(); ++I)
    if (Link.Words[I].Text == "-l")
      for (StringRef Folder : Folders) {
        std::string Path =
            (Folder + "/lib" + Link.Words[I + 1].Text + ".a").str();
        if (sys::fs::exists(Path)) {
          Paths.push_back(std::move(Path));
          break;
        }
      }
  return Paths;
}

/// Names the record of \p Source in \p This: as clang does, that of an object
/// after it, that of a program after the source. clang keeps that of a source
/// without device code.
static void placeRecord(BuildRequest &This, const SourceFile &Source) {
  frontend::RecordOptions &Record = This.Compile.Record;
  if (!Record.Write)
    return;
  if (Record.File.empty()) {
    SmallString<128> File(This.Make == Product::Program || This.Output.empty()
                              ? sys::path::filename(Source.Path)
                              : StringRef(This.Output));
    sys::path::replace_extension(File, ".opt.yaml");
    Record.File = std::string(File);
  }
  if (Source.Kind == InputKind::Cuda)
    return;
  std::vector<std::string> &Host = This.Compile.HostArguments;
  Host.push_back("-fsave-optimization-record");
  Host.push_back("-foptimization-record-file=" + Record.File);
  if (!Record.Passes.empty())
    Host.push_back("-foptimization-record-passes=" + Record.Passes);
}

/// \p Objects to a program or, with -dlink, what completes their device code.
static Error link(BuildRequest &Request, const frontend::Toolchain &Tools,
                  const frontend::TempDir &Temp,
                  std::vector<std::string> Objects) {
  const bool IsWhole = Request.Make == Product::Program;
  if (!Request.Link.Relocatable &&
      Request.Link.Runtime == frontend::CudaRuntime::Ours) {
    std::vector<std::string> All = Objects;
    append_range(All, archivesOf(Request.Link));
    frontend::CompileOptions Compile = Request.Compile;
    Compile.Relocatable = true;
    Compile.IsWholeProgram |= IsWhole && !Request.Link.Shared;
    auto Completed = frontend::linkDeviceCode(Tools, Compile, Temp, All);
    if (!Completed)
      return Completed.takeError();
    if (!IsWhole && !*Completed)
      return userError("-dlink: the inputs have no device code to complete",
                       "Compile them with -dc.");
    if (!IsWhole)
      return frontend::moveIntoPlace(
          **Completed, Request.Output.empty() ? "a_dlink.o" : Request.Output);
    if (*Completed) {
      Objects.push_back(**Completed);
      Request.Link.Words.push_back({"", true});
    }
  }
  return frontend::linkProgram(Tools, Request.Link, Temp, Objects,
                               Request.Output.empty() ? "a.out"
                                                      : Request.Output);
}

size_t sourcesOf(const BuildRequest &Request) {
  return count_if(Request.Kinds, [](InputKind Kind) {
    return Kind != InputKind::LinkerInput && Kind != InputKind::Other;
  });
}

/// Whether the library \p Name may have device code that passes pointers to
/// functions to the program's. CUDA's and the system's have none.
static bool mayHaveDeviceCode(StringRef Name) {
  return !Name.starts_with("cu") && !Name.starts_with("nv") &&
         !is_contained({"m", "dl", "rt", "pthread", "stdc++", "gomp", "omp"},
                       Name);
}

/// Whether \p Request is a program of one CUDA source.
static bool hasNoOtherDeviceCode(const BuildRequest &Request) {
  const frontend::LinkOptions &Link = Request.Link;
  if (Request.Make != Product::Program || Link.Shared || Link.Relocatable ||
      count(Request.Kinds, InputKind::Cuda) > 1 ||
      sourcesOf(Request) != Request.Inputs.size())
    return false;
  bool IsName = false;
  for (const frontend::LinkWord &Word : Link.Words) {
    StringRef Text = Word.Text;
    IsName |= Text.consume_front("-l");
    if (IsName && Text.empty())
      continue; // the name comes next
    if (std::exchange(IsName, false) && mayHaveDeviceCode(Text))
      return false;
  }
  return true;
}

Error build(const BuildRequest &Wanted, const frontend::Toolchain &Tools,
            const frontend::TempDir &Temp) {
  BuildRequest Request = Wanted;
  if (Error E = checkArchitecture(Request, Tools))
    return E;
  if (Error E = useOpenMp(Request, Tools, Temp))
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
  if (Request.Compile.IsWholeProgram && !Request.Compile.Relocatable &&
      count(Request.Kinds, InputKind::Cuda) > 1)
    return userError("--whole-program: there are several CUDA sources",
                     "Leave it out, or build them with -rdc=true.");
  Request.Compile.IsWholeProgram |= hasNoOtherDeviceCode(Request);
  const bool Links =
      Request.Make == Product::Program || Request.Make == Product::DeviceLink;
  std::vector<std::string> Objects;
  for (size_t I = 0; I != Request.Inputs.size(); ++I) {
    SourceFile Input(Request.Inputs[I], Request.Kinds[I]);
    if (Input.Kind == InputKind::LinkerInput ||
        (Links && Input.Kind == InputKind::Other && isLinkable(Input.Path))) {
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
    if (Request.OnSource)
      Request.OnSource(Input.Path);
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
    placeRecord(This, Input);
    if (Error E = buildSource(This, Tools, Temp, Input, Object))
      return E;
    Objects.push_back(Object);
  }
  if (Decided)
    Decided->hostIsCompiled();
  if (Links)
    if (Error E = link(Request, Tools, Temp, std::move(Objects)))
      return E;
  // Objects that others were asked for have their kernels by the decisions of
  // that build, which has told what it did not use.
  const bool IsWhole = Request.Make == Product::Program &&
                       sourcesOf(Wanted) == Wanted.Inputs.size();
  if (Decided && Request.Diagnostics)
    Decided->report(IsWhole, *Request.Diagnostics);
  return Error::success();
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

Expected<int> orInterrupted(Expected<int> Status, raw_ostream &OS) {
  const int Signal = frontend::interruption();
  if (!Signal)
    return Status;
  if (!Status) // what a tool said when the signal ended it, too
    consumeError(Status.takeError());
  OS << "reconverge: interrupted\n";
  return 128 + Signal;
}

/// -clean: removes what \p Request would leave.
static Error removeProducts(const BuildRequest &Request) {
  std::vector<std::string> Paths;
  const char *Extension = nullptr;
  switch (Request.Make) {
  case Product::Program:
  case Product::DeviceLink:
    Paths.push_back(!Request.Output.empty()               ? Request.Output
                    : Request.Make == Product::DeviceLink ? "a_dlink.o"
                                                          : "a.out");
    break;
  case Product::Objects:
    Extension = ".o";
    break;
  case Product::Assembly:
    Extension = ".s";
    break;
  case Product::Ptx:
    Extension = ".ptx";
    break;
  case Product::DeviceBitcode:
    Extension = ".bc";
    break;
  case Product::Preprocessed:
  case Product::Syntax:
  case Product::Dependencies:
    Paths.push_back(Request.Output);
    break;
  }
  const frontend::DependencyOptions &Depends = Request.Compile.Dependencies;
  for (auto [Input, Kind] : zip(Request.Inputs, Request.Kinds)) {
    if (Kind == InputKind::LinkerInput || Kind == InputKind::Other)
      continue;
    if (Extension)
      Paths.push_back(outputFor(Request, SourceFile(Input, Kind), Extension));
    if (Depends.Write)
      Paths.push_back(!Depends.File.empty() ? Depends.File
                      : Extension ? frontend::dependencyFileFor(Paths.back())
                                  : (sys::path::stem(Input) + ".d").str());
  }
  for (const std::string &Path : Paths)
    if (sys::fs::is_regular_file(Path))
      if (std::error_code EC = sys::fs::remove(Path))
        return userError("cannot remove " + Path + ": " + EC.message());
  return Error::success();
}

/// nvcc's other spelling of @file.
static void readOptionFiles(SmallVectorImpl<const char *> &Words,
                            StringSaver &Saver) {
  SmallVector<const char *> Read;
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Files = Words[I];
    if ((Files == "--options-file" || Files == "-optf") && I + 1 < Words.size())
      Files = Words[++I];
    else if (!Files.consume_front("--options-file=") &&
             !Files.consume_front("-optf=")) {
      Read.push_back(Words[I]);
      continue;
    }
    for (StringRef File : split(Files, ','))
      Read.push_back(Saver.save("@" + File).data());
  }
  Words.swap(Read);
}

Expected<int> cc(ArrayRef<const char *> Words, StringRef Version,
                 raw_ostream &OS, raw_ostream &Diagnostics) {
  BumpPtrAllocator Memory;
  SmallVector<const char *> Expanded(Words);
  StringSaver Saver(Memory);
  readOptionFiles(Expanded, Saver);
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
  if (Request->Clean) {
    if (Error E = removeProducts(*Request))
      return std::move(E);
    return 0;
  }
  Request->Diagnostics = &Diagnostics;
  if (Error E = build(*Request))
    return orInterrupted(std::move(E), Diagnostics);
  return 0;
}

} // namespace reconverge::driver
