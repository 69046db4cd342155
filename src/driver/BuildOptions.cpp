//===- driver/BuildOptions.cpp - What an option asks for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler driver has to pass on what it does not know, so every option
// without an entry in Options.td goes to clang: to each compilation and to the
// link, where those that do not concern it are quietly unused. The ones that
// have an entry are
//
//   ours          -c, -S, -E, -arch, -Xptxas, ...: read into the request
//   for one side  -fsanitize and the like: host code and link, not the device
//   for the link  -l, -L, -Wl, ...: kept in order among the inputs
//   nvcc's        read in NvccWords.cpp; what it asks for and we do in any case
//                 is ignored, what we cannot do is refused by its name
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "driver/OptionTable.h"
#include "frontend/Clang.h"
#include "frontend/OpenMp.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

using frontend::CudaRuntime;
using frontend::InputKind;
using Product = BuildRequest::Product;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// "sm_90", "compute_90", "90", "sm_90a", "sm_90f" to 90.
static Expected<unsigned> parseArch(StringRef Word) {
  StringRef Number = Word;
  if (!Number.consume_front("sm_"))
    Number.consume_front("compute_");
  if (!Number.consume_back("a"))
    Number.consume_back("f");
  unsigned Arch = 0;
  if (Word == "native" || Word == "all" || Word == "all-major")
    return frontend::NewestArch;
  if (Number.getAsInteger(10, Arch))
    return userError("'" + Word + "' is no GPU architecture",
                     "Write it as sm_90.");
  return Arch;
}

/// nvcc's list: arch=compute_90,code=[sm_90,compute_90].
static Expected<unsigned> parseGencode(StringRef Word) {
  StringRef Arch = Word;
  if (!Arch.consume_front("arch="))
    return userError("'" + Word + "' is no value of -gencode",
                     "Write -gencode arch=compute_90,code=sm_90.");
  return parseArch(Arch.take_until([](char C) { return C == ','; }));
}

Expected<bool> parseBool(const Arg &A) {
  StringRef Value = A.getValue();
  if (Value == "true" || Value == "false")
    return Value == "true";
  return userError("'" + Value + "' is no value of " + A.getSpelling(),
                   "Write true or false.");
}

/// -O, -O0..-O3, -Ofast, -Os, -Oz, -Og.
static Expected<unsigned> parseLevel(StringRef Value) {
  int Level = StringSwitch<int>(Value)
                  .Case("0", 0)
                  .Cases("", "1", "g", 1)
                  .Cases("2", "s", "z", 2)
                  .Cases("3", "4", "fast", 3)
                  .Default(-1);
  if (Level < 0)
    return userError("-O" + Value + " is no optimisation level",
                     "Write -O0 to -O3.");
  return unsigned(Level);
}

/// --device-code: whose; none: ours.
static Expected<std::optional<ForeignCompiler>>
parseDeviceCode(StringRef Word) {
  const std::optional<ForeignCompiler> By = foreignNamed(Word);
  if (By || Word == "reconverge")
    return By;
  std::string Names;
  for (ForeignCompiler Other : ForeignCompilers)
    Names += (", " + Twine(nameOf(Other))).str();
  return userError("'" + Word + "' is no value of --device-code",
                   "Write one of: reconverge" + Names + ".");
}

/// --runtime: whose.
static Expected<CudaRuntime> parseRuntime(StringRef Word) {
  if (Word == "reconverge")
    return CudaRuntime::Ours;
  if (Word == "nvidia")
    return CudaRuntime::Nvidia;
  return userError("'" + Word + "' is no value of --runtime",
                   "Write reconverge or nvidia.");
}

/// -x: the language of the inputs that follow; Other: back to extensions.
static Expected<InputKind> parseLanguage(StringRef Word) {
  if (Word == "none")
    return InputKind::Other;
  InputKind Kind = StringSwitch<InputKind>(Word)
                       .Cases("cu", "cuda", InputKind::Cuda)
                       .Case("c++", InputKind::Cxx)
                       .Case("c", InputKind::C)
                       .Default(InputKind::Other);
  if (Kind == InputKind::Other)
    return userError("-x " + Word + ": that language is not supported",
                     "Write cuda (or cu), c++, c or none.");
  return Kind;
}

/// The argument as it was written, for another tool.
static void passOn(std::vector<std::string> &To, const Arg &A,
                   const ArgList &All) {
  ArgStringList Words;
  A.render(All, Words);
  for (const char *Word : Words)
    To.push_back(Word);
}

static void passToLink(frontend::LinkOptions &Link, const Arg &A,
                       const ArgList &All) {
  ArgStringList Words;
  A.render(All, Words);
  for (const char *Word : Words)
    Link.Words.push_back({Word, false});
}

static void addInput(BuildRequest &Request, StringRef Path) {
  InputKind Kind = frontend::inputKind(Path);
  if (Request.Language != InputKind::Other && Kind != InputKind::LinkerInput)
    Kind = Request.Language;
  Request.Inputs.push_back(Path.str());
  Request.Kinds.push_back(Kind);
  Request.Link.Words.push_back({"", true});
}

void useRuntime(BuildRequest &Request, CudaRuntime Runtime) {
  Request.Compile.Runtime = Request.Link.Runtime = Runtime;
  Request.Compile.Gpu |= Runtime == CudaRuntime::Nvidia;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Options of -M's family; false if \p A is none.
static bool readDependencyOption(const Arg &A, const ArgList &All,
                                 BuildRequest &Request) {
  frontend::DependencyOptions &Dependencies = Request.Compile.Dependencies;
  switch (A.getOption().getID()) {
  case OPT_M:
  case OPT_MM:
    Request.Make = Product::Dependencies;
    Dependencies.SystemHeaders = A.getOption().getID() == OPT_M;
    return true;
  case OPT_MD:
  case OPT_MMD:
    Dependencies.Write = true;
    Dependencies.SystemHeaders = A.getOption().getID() == OPT_MD;
    return true;
  case OPT_MP:
    Dependencies.Phony = true;
    return true;
  case OPT_MG:
    Dependencies.Generated = true;
    return true;
  case OPT_MF:
    Dependencies.File = A.getValue();
    return true;
  case OPT_MT:
  case OPT_MQ:
    passOn(Dependencies.Names, A, All);
    return true;
  default:
    return false;
  }
}

/// Options of LLVM's record of remarks; nothing if \p A is none.
static std::optional<Error> readRecordOption(const Arg &A,
                                             frontend::RecordOptions &Record) {
  switch (A.getOption().getID()) {
  case OPT_fsave_optimization_record_EQ:
    if (StringRef(A.getValue()) != "yaml")
      return userError("-fsave-optimization-record=" + Twine(A.getValue()) +
                           ": remarks are written as YAML",
                       "Leave the format out; llvm-remarkutil makes others.");
    break;
  case OPT_fsave_optimization_record:
    break;
  case OPT_foptimization_record_file_EQ:
    Record.File = A.getValue();
    break;
  case OPT_foptimization_record_passes_EQ:
    Record.Passes = A.getValue();
    break;
  default:
    return std::nullopt;
  }
  Record.Write = true; // as with clang, each asks for it
  return Error::success();
}

/// What to make; false if \p A does not say.
static bool readProductOption(const Arg &A, BuildRequest &Request) {
  switch (A.getOption().getID()) {
  case OPT_c:
    Request.Make = Product::Objects;
    return true;
  case OPT_S:
    Request.Make = Product::Assembly;
    return true;
  case OPT_E:
    Request.Make = Product::Preprocessed;
    return true;
  case OPT_fsyntax_only:
    Request.Make = Product::Syntax;
    return true;
  case OPT_emit_device_bc:
    Request.Make = Product::DeviceBitcode;
    return true;
  case OPT_emit_ptx:
    Request.Make = Product::Ptx;
    return true;
  case OPT_emit_llvm:
    Request.Bitcode = true;
    return true;
  case OPT_cuda_device_only:
    Request.DeviceOnly = true;
    Request.Compile.HostOnly = false;
    return true;
  case OPT_cuda_host_only:
    Request.Compile.HostOnly = true;
    Request.DeviceOnly = false;
    return true;
  case OPT_cuda_compile_host_device:
    Request.DeviceOnly = Request.Compile.HostOnly = false;
    return true;
  default:
    return false;
  }
}

/// Numerics; nothing if \p A is of another kind.
static std::optional<Error> readNumericsOption(const Arg &A,
                                               frontend::Numerics &Math) {
  switch (A.getOption().getID()) {
  case OPT_use_fast_math:
    Math = frontend::Numerics::fast();
    return Error::success();
  case OPT_ftz_EQ:
    return parseBool(A).moveInto(Math.FlushDenormals);
  case OPT_prec_div_EQ:
    return parseBool(A).moveInto(Math.PreciseDivision);
  case OPT_prec_sqrt_EQ:
    return parseBool(A).moveInto(Math.PreciseSqrt);
  case OPT_fmad_EQ:
    return parseBool(A).moveInto(Math.Contract);
  default:
    return std::nullopt;
  }
}

static Error addArchitecture(BuildRequest &Request, Expected<unsigned> Arch) {
  if (!Arch)
    return Arch.takeError();
  Request.Architectures.push_back(*Arch);
  return Error::success();
}

/// Options whose group says all; nothing if \p A has none of those.
static std::optional<Error> readGroupOption(const Arg &A, const ArgList &All,
                                            BuildRequest &Request) {
  frontend::LinkOptions &Link = Request.Link;
  if (!A.getOption().getGroup().isValid())
    return std::nullopt;
  switch (A.getOption().getGroup().getID()) {
  case OPT_Ignored:
    return Error::success();
  case OPT_Refused:
    return refuseOption(A);
  case OPT_HostAndLink:
    passOn(Link.Arguments, A, All);
    passOn(Request.Compile.HostArguments, A, All);
    return Error::success();
  case OPT_LinkOnly:
    // nvcc's -Xlinker takes a list, which is -Wl's.
    if (A.getOption().matches(OPT_Xlinker) &&
        StringRef(A.getValue()).contains(','))
      Link.Words.push_back({std::string("-Wl,") + A.getValue(), false});
    else
      passToLink(Link, A, All);
    return Error::success();
  case OPT_Remedies:
    Request.Remedies.push_back({A.getOption().getName().rtrim('=').str(),
                                A.getNumValues() ? A.getValue() : ""});
    return Error::success();
  default:
    return std::nullopt;
  }
}

/// What is read and written; false if \p A does not say.
static bool readFileOption(const Arg &A, BuildRequest &Request) {
  switch (A.getOption().getID()) {
  case OPT_INPUT:
  case OPT_dash_dash:
    for (const char *Path : A.getValues())
      addInput(Request, Path);
    return true;
  case OPT_o:
    Request.Output = A.getValue();
    return true;
  case OPT_whole_program:
    Request.Compile.IsWholeProgram = true;
    return true;
  case OPT_keep_EQ:
    Request.Keep = A.getValue();
    return true;
  case OPT_cuda_path_EQ:
    Request.CudaPath = A.getValue();
    return true;
  case OPT_decisions_EQ:
    Request.Decisions = A.getValue();
    return true;
  default:
    return false;
  }
}

/// For which GPUs, and by whom; nothing if \p A does not say.
static std::optional<Error> readGpuOption(const Arg &A, BuildRequest &Request) {
  frontend::CompileOptions &Compile = Request.Compile;
  switch (A.getOption().getID()) {
  case OPT_fatbin:
    Compile.Gpu = true;
    return Error::success();
  case OPT_device_code_EQ:
    Compile.Gpu = true;
    return parseDeviceCode(A.getValue()).moveInto(Compile.GpuCompiler);
  case OPT_runtime_EQ: {
    Expected<CudaRuntime> Runtime = parseRuntime(A.getValue());
    if (!Runtime)
      return Runtime.takeError();
    useRuntime(Request, *Runtime);
    return Error::success();
  }
  case OPT_arch_EQ:
    return addArchitecture(Request, parseArch(A.getValue()));
  case OPT_gencode_EQ:
    return addArchitecture(Request, parseGencode(A.getValue()));
  case OPT_code_EQ: // -arch=compute_90 -code=sm_90: the first says it all
    return Error::success();
  default:
    return std::nullopt;
  }
}

/// How to link; false if \p A does not say.
static bool readLinkOption(const Arg &A, const ArgList &All,
                           BuildRequest &Request) {
  frontend::LinkOptions &Link = Request.Link;
  switch (A.getOption().getID()) {
  case OPT_cudart_EQ:
    Link.SharedRuntime = StringRef(A.getValue()) == "shared";
    return true;
  case OPT_shared:
    Link.Shared = true;
    return true;
  case OPT_r:
    Link.Relocatable = true;
    Link.Words.push_back({"-r", false});
    return true;
  case OPT_l:
    if (frontend::isOpenMpRuntime(A.getValue()))
      Request.OpenMp |= BuildRequest::LinksOpenMp;
    // The shim stands for every form of cudart.
    else if (!frontend::isCudaRuntime(A.getValue()))
      passToLink(Link, A, All);
    return true;
  default:
    return false;
  }
}

/// How to compile; clang is told what we do not know.
static Error readCompileOption(const Arg &A, const ArgList &All,
                               BuildRequest &Request) {
  frontend::CompileOptions &Compile = Request.Compile;
  switch (A.getOption().getID()) {
  case OPT_x:
    return parseLanguage(A.getValue()).moveInto(Request.Language);
  case OPT_O:
    return parseLevel(A.getValue()).moveInto(Compile.OptLevel);
  case OPT_g:
    Compile.DebugInfo = true;
    return Error::success();
  case OPT_std_EQ: // clang has no "-std c++17"
    Compile.ClangArguments.push_back(std::string("-std=") + A.getValue());
    return Error::success();
  case OPT_Xcompiler: // nvcc gives it to the host's linker driver, too
    splitWords(Compile.HostArguments, A.getValue());
    splitWords(Request.Link.Arguments, A.getValue());
    return Error::success();
  case OPT_Xptxas:
    splitWords(Compile.PtxasArguments, A.getValue());
    return Error::success();
  default:
    passOn(Compile.ClangArguments, A, All);
    return Error::success();
  }
}

Error readBuildOption(const Arg &A, const ArgList &All, BuildRequest &Request) {
  if (std::optional<Error> Read = readGroupOption(A, All, Request))
    return std::move(*Read);
  if (readDependencyOption(A, All, Request) || readProductOption(A, Request))
    return Error::success();
  if (std::optional<Error> Read = readNumericsOption(A, Request.Compile.Math))
    return std::move(*Read);
  if (std::optional<Error> Read = readRecordOption(A, Request.Compile.Record))
    return std::move(*Read);
  // Before inputs, some of which are the values of nvcc's options.
  if (std::optional<Error> Read = readNvccOption(A, All, Request))
    return std::move(*Read);
  if (readFileOption(A, Request) || readLinkOption(A, All, Request))
    return Error::success();
  if (std::optional<Error> Read = readGpuOption(A, Request))
    return std::move(*Read);
  return readCompileOption(A, All, Request);
}

} // namespace reconverge::driver
