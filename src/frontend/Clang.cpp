//===- frontend/Clang.cpp - The compiler's command lines ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang runs as a process of its own, once for the device and once for the
// host, so that its diagnostics, its crashes and its memory are its own. The
// steps between the two are ours:
//
//   source --clang, device only--> unoptimised bitcode
//          --our pipeline--> container --clang, host only--> object
//
// Device bitcode is taken before any LLVM pass (-disable-llvm-passes), because
// at -O3 clang has already resolved __nvvm_reflect to approximate square roots
// and no flag of clang 19 mends it. It is still compiled with -O3, which makes
// clang emit what the optimiser wants (lifetimes) and no `optnone`.
//
// Device code goes as far as PTX only where stock clang's is wanted, as it is
// (ForeignCode.cpp): its passes, its arithmetic, without our plugins; but where
// there are __managed__ variables, which clang 19 lacks, the pass that makes
// them comes first, as it does in host code (Managed.cpp).
//
// Aliasing: nvcc concludes nothing from the types of two accesses in device
// code, and CUDA code is written for that: it copies objects by words and makes
// them in raw memory. With clang's default, Thrust's min_element of a class
// finds the wrong element. So device code is compiled with
// -fno-strict-aliasing, by all who compile it here; host code keeps its
// compiler's default.
//
// Overflow: nvcc gives g++ no -O unless it is asked to, and g++ -O3 does less
// with overflow of signed integers than clang, which takes it for impossible: a
// sample of NVIDIA's that compares with i * i fails. So host code is compiled
// with -fwrapv. nvcc's device compiler takes overflow for impossible as well
// (a + 1 > a is true to it), and so do we.
//
// Why --cuda-path needs no translated copy of the toolkit: clang 19 trips over
// CUDA 13 in a header that is no longer there (our overlay has it) and in the
// command line of `fatbinary`, which we call ourselves. clang knows versions up
// to 12.5 and takes later ones for that; the warning is switched off. A second
// overlay mends clang's own header (overlay/clang).
//
//===----------------------------------------------------------------------===//

#include "frontend/Clang.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::frontend {

InputKind inputKind(StringRef Path) {
  return StringSwitch<InputKind>(sys::path::extension(Path))
      .Case(".cu", InputKind::Cuda)
      .Cases(".cpp", ".cc", ".cxx", ".C", ".c++", InputKind::Cxx)
      .Case(".c", InputKind::C)
      .Cases(".o", ".a", ".so", InputKind::LinkerInput)
      .Default(sys::path::filename(Path).contains(".so.")
                   ? InputKind::LinkerInput
                   : InputKind::Other);
}

static void append(std::vector<std::string> &To,
                   std::initializer_list<StringRef> Words) {
  for (StringRef Word : Words)
    To.push_back(Word.str());
}

/// The part that device and host compilation share, up to the language.
static Command common(const Toolchain &Tools) {
  Command C;
  append(C.Arguments, {Tools.Clang, "--driver-mode=g++"});
  return C;
}

/// Where the toolkit's headers are, and behind all others those of the device
/// library. clang puts the toolkit's own include folder last by itself for CUDA,
/// not for C++.
static void appendHeaders(Command &C, const Toolchain &Tools, bool Cuda) {
  const CudaToolkit &Kit = Tools.Cuda;
  if (Cuda) {
    C.Arguments.push_back("--cuda-path=" + Kit.Root);
    C.Arguments.push_back("-Wno-unknown-cuda-version");
    append(C.Arguments, {"-isystem", Tools.Tree.overlayDir() + "/clang"});
    if (Kit.lacksTextureHeader())
      append(C.Arguments, {"-isystem", Tools.Tree.overlayDir()});
  }
  if (std::string Cccl = Kit.ccclDir(); !Cccl.empty())
    append(C.Arguments, {"-isystem", Cccl});
  if (!Cuda)
    append(C.Arguments, {"-isystem", Kit.includeDir()});
  append(C.Arguments, {"-idirafter", Tools.Tree.includeDir()});
}

/// What nvcc tells its compilers without being asked. A CUDA source sees
/// __NVCC__ when clang's own headers are behind it (overlay/clang).
static void appendNvccs(Command &C, const CudaToolkit &Kit,
                        const SourceFile &Source) {
  const std::pair<const char *, unsigned> Versions[] = {
      {"__CUDACC_VER_MAJOR__", Kit.Major},
      {"__CUDACC_VER_MINOR__", Kit.Minor},
      {"__CUDACC_VER_BUILD__", Kit.Build},
      {"__CUDA_API_VER_MAJOR__", Kit.Major},
      {"__CUDA_API_VER_MINOR__", Kit.Minor}};
  for (auto [Name, Value] : Versions)
    C.Arguments.push_back((Twine("-D") + Name + "=" + Twine(Value)).str());
  if (Source.Kind != InputKind::Cuda)
    C.Arguments.push_back("-D__NVCC__=1");
  // By this file CMake asks which compiler it has, and __NVCC__ it asks first;
  // to drive nvcc it would read nvcc's own steps.
  else if (sys::path::filename(Source.Path) == "CMakeCUDACompilerId.cu")
    C.Arguments.push_back("-DRECONVERGE_AS_CLANG");
  // g++ warns of the word in C++17, and EDG does not.
  if (Source.Kind != InputKind::C)
    C.Arguments.push_back(Source.Kind == InputKind::Cuda
                              ? "-Wno-register"
                              : "-Wno-error=register");
}

/// Both halves of a unit must name alike what is static in it, and other units
/// must not.
static void appendRelocatable(Command &C, const CompileOptions &Options,
                              const SourceFile &Source) {
  if (!Options.Relocatable || Source.Kind != InputKind::Cuda)
    return;
  SmallString<128> Unit(Source.Path);
  sys::fs::make_absolute(Unit);
  for (const std::string &Argument : Options.ClangArguments)
    (Unit += ' ') += Argument;
  // clang's driver makes an id for the device's half, unless it is given one,
  // and none for the host's.
  const std::string Id = "-cuid=" + utohexstr(xxh3_64bits(Unit));
  append(C.Arguments, {"-Xclang", "-fgpu-rdc", Id, "-Xclang", Id});
}

static void appendNumerics(Command &C, const Numerics &Math) {
  if (Math.FlushDenormals)
    C.Arguments.push_back("-fgpu-flush-denormals-to-zero");
  if (Math.FastTranscendentals)
    C.Arguments.push_back("-fgpu-approx-transcendentals");
  if (!Math.Contract)
    C.Arguments.push_back("-ffp-contract=off");
}

static StringRef stopOption(Stage Until) {
  switch (Until) {
  case Stage::Object:
    return "-c";
  case Stage::Assembly:
    return "-S";
  case Stage::Preprocessed:
    return "-E";
  case Stage::Syntax:
    return "-fsyntax-only";
  case Stage::Dependencies:
    break;
  }
  return "";
}

/// The last words: what to do with which file.
static void appendTask(Command &C, const DependencyOptions &Dependencies,
                       StringRef Source, StringRef Output, Stage Until,
                       StringRef DepFile) {
  if (Until == Stage::Dependencies)
    C.Arguments.push_back(Dependencies.SystemHeaders ? "-M" : "-MM");
  else if (!DepFile.empty())
    C.Arguments.push_back(Dependencies.SystemHeaders ? "-MD" : "-MMD");
  if (!DepFile.empty()) {
    append(C.Arguments, {"-MF", DepFile});
    C.Arguments.insert(C.Arguments.end(), Dependencies.Names.begin(),
                       Dependencies.Names.end());
    if (Dependencies.Generated)
      C.Arguments.push_back("-MG");
  }
  if (StringRef Stop = stopOption(Until); !Stop.empty())
    C.Arguments.push_back(Stop.str());
  C.Arguments.push_back(Source.str());
  if (!Output.empty())
    append(C.Arguments, {"-o", Output});
}

static bool isCxxStandard(StringRef Word) {
  return Word.starts_with("-std=c++") || Word.starts_with("-std=gnu++");
}

/// What reads our pragmas and takes what nvcc takes (plugin/).
static bool isOurPlugin(StringRef Word) {
  return Word.starts_with("-fplugin=") &&
         Word.ends_with("/libReconvergeClang.so");
}

Command deviceCommand(const Toolchain &Tools, const CompileOptions &Options,
                      const SourceFile &Source, StringRef Output, Stage Until,
                      StringRef DepFile) {
  const bool IsStock = Until == Stage::Assembly;
  Command C = common(Tools);
  append(C.Arguments, {"-x", "cuda", "--cuda-device-only"});
  C.Arguments.push_back("--cuda-gpu-arch=sm_" + std::to_string(Options.Arch));
  appendHeaders(C, Tools, true);
  appendNvccs(C, Tools.Cuda, Source);
  appendRelocatable(C, Options, Source);
  // The user's own -ffp-contract and -fstrict-aliasing, coming later, win over
  // ours.
  appendNumerics(C, Options.Math);
  C.Arguments.push_back("-fno-strict-aliasing");
  C.Arguments.push_back("-O" + std::to_string(IsStock ? Options.OptLevel : 3));
  if (Until == Stage::Object)
    append(C.Arguments, {"-emit-llvm", "-Xclang", "-disable-llvm-passes"});
  for (const std::string &Argument : Options.ClangArguments)
    if (!IsStock || !isOurPlugin(Argument))
      C.Arguments.push_back(Argument);
  append_range(C.Arguments, Options.DeviceArguments);
  if (IsStock)
    C.Arguments.push_back("-w");
  if (IsStock && Options.OwnPasses)
    C.Arguments.push_back("-fpass-plugin=" + Tools.Tree.passesPath());
  // After the user's: a -g0 must not take the lines from our reports.
  C.Arguments.push_back(Options.DebugInfo && !IsStock ? "-g"
                                                      : "-gline-tables-only");
  appendTask(C, Options.Dependencies, Source.Path, Output, Until, DepFile);
  return C;
}

Command hostCommand(const Toolchain &Tools, const CompileOptions &Options,
                    const SourceFile &Source, StringRef Container,
                    StringRef Output, Stage Until, StringRef DepFile) {
  bool Cuda = Source.Kind == InputKind::Cuda;
  Command C = common(Tools);
  append(C.Arguments, {"-x", Cuda                          ? "cuda"
                             : Source.Kind == InputKind::C ? "c"
                                                           : "c++"});
  if (Cuda) {
    C.Arguments.push_back("--cuda-host-only");
    // Only decides how architecture-dependent host code sees the device.
    C.Arguments.push_back("--cuda-gpu-arch=sm_" + std::to_string(Options.Arch));
  }
  appendHeaders(C, Tools, Cuda);
  appendNvccs(C, Tools.Cuda, Source);
  appendRelocatable(C, Options, Source);
  C.Arguments.push_back("-O" + std::to_string(Options.OptLevel));
  // UBSan sees no overflow that is defined.
  if (none_of(Options.HostArguments,
              [](StringRef Word) { return Word.starts_with("-fsanitize="); }))
    C.Arguments.push_back("-fwrapv");
  if (Options.DebugInfo)
    C.Arguments.push_back("-g");
  for (const std::string &Argument : Options.ClangArguments)
    // A standard of C++ is not for a C file among the others.
    if (Source.Kind != InputKind::C || !isCxxStandard(Argument))
      C.Arguments.push_back(Argument);
  for (const std::string &Argument : Options.HostArguments)
    C.Arguments.push_back(Argument);
  if (Cuda && Options.OwnPasses &&
      (Until == Stage::Object || Until == Stage::Assembly))
    C.Arguments.push_back("-fpass-plugin=" + Tools.Tree.passesPath());
  if (!Container.empty())
    append(C.Arguments,
           {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", Container});
  appendTask(C, Options.Dependencies, Source.Path, Output, Until, DepFile);
  return C;
}

/// The name that -l has for a library that is given so or by its path.
static StringRef libraryName(StringRef Word) {
  Word.consume_front("-l");
  StringRef Name = sys::path::filename(Word);
  Name.consume_front(":"); // -l:libcudart.so
  Name.consume_front("lib");
  return Name.take_until([](char C) { return C == '.'; });
}

bool isCudaRuntime(StringRef Word) {
  StringRef Name = libraryName(Word);
  return Name == "cudart" || Name == "cudart_static" || Name == "cudadevrt";
}

bool isCudaDriver(StringRef Word) { return libraryName(Word) == "cuda"; }

Command linkCommand(const Toolchain &Tools, const LinkOptions &Options,
                    ArrayRef<std::string> Objects, StringRef Output) {
  Command C = common(Tools);
  // Options of compilation come along; that is no mistake.
  C.Arguments.push_back("-Qunused-arguments");
  if (Options.Shared)
    C.Arguments.push_back("-shared");
  C.Arguments.insert(C.Arguments.end(), Options.Arguments.begin(),
                     Options.Arguments.end());
  // First of all folders: CMake reads ours from the link line, gives it to
  // other linkers in this order, and so leads -lcudart_static to the shim.
  std::string Runtime = Tools.Tree.runtimeDir();
  const bool IsOurs = Options.Runtime == CudaRuntime::Ours;
  if (!Options.Relocatable && IsOurs) {
    C.Arguments.push_back("-L" + Runtime);
    // The old kind of run path goes before LD_LIBRARY_PATH, which on a CUDA
    // machine often names the toolkit's libraries.
    append(C.Arguments, {"-Wl,--disable-new-dtags", "-Xlinker", "-rpath",
                         "-Xlinker", Runtime});
  }
  // Ours stands for the stub that a toolkit has, which no program can run with.
  auto Add = [&](StringRef Word) {
    C.Arguments.push_back(IsOurs && isCudaDriver(Word) ? "-lreconverge-cuda"
                                                       : Word.str());
  };
  for (const LinkWord &Word : Options.Words) {
    if (!Word.IsInput) {
      if (StringRef(Word.Text).starts_with("-l"))
        Add(Word.Text);
      else
        C.Arguments.push_back(Word.Text);
      continue;
    }
    assert(!Objects.empty() && "an object for each input");
    if (!isCudaRuntime(Objects.front()))
      Add(Objects.front());
    Objects = Objects.drop_front();
  }
  // A runtime by its path: a -L of the user's may lead to the other.
  const std::string Library = Tools.Cuda.libraryDir();
  if (!Options.Relocatable) {
    // Only what calls it has anything of it.
    append(C.Arguments, {Tools.Tree.launchPath(), "-L" + Library});
    if (!IsOurs)
      C.Arguments.push_back("-L" + Library + "/stubs");
    if (IsOurs)
      append(C.Arguments, {Tools.Tree.shimPath()});
    else if (Options.SharedRuntime)
      append(C.Arguments, {Library + "/libcudart.so", "-Wl,--disable-new-dtags",
                           "-Xlinker", "-rpath", "-Xlinker", Library});
    else
      append(C.Arguments,
             {Library + "/libcudart_static.a", "-lrt", "-lpthread", "-ldl"});
  }
  append(C.Arguments, {"-o", Output});
  return C;
}

} // namespace reconverge::frontend
