//===- driver/CommandLine.cpp - From words to requests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table (Options.td) for all subcommands. A compiler driver has to pass on
// what it does not know, so `cc` gives every unknown option to clang, and so
// does `profile` for options with one dash; an unknown option with two dashes
// is more likely a slip in one of ours and is answered with the nearest name.
//
// What follows `--` belongs to the profiled program and is never looked at.
//
//===----------------------------------------------------------------------===//

#include "driver/CommandLine.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

namespace {
enum VisibilityBits { ProfileVis = 1 << 1, CcVis = 1 << 2, ReportVis = 1 << 3 };

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "driver/Options.inc"
#undef OPTION
};

#define PREFIX(NAME, VALUE)                                                    \
  constexpr StringLiteral NAME##_init[] = VALUE;                               \
  constexpr ArrayRef<StringLiteral> NAME(NAME##_init,                          \
                                         std::size(NAME##_init) - 1);
#include "driver/Options.inc"
#undef PREFIX

constexpr OptTable::Info InfoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "driver/Options.inc"
#undef OPTION
};

class Table : public GenericOptTable {
public:
  Table() : GenericOptTable(InfoTable) {}
};
} // namespace

/// Parsed arguments point into it.
static const Table &table() {
  static const Table Options;
  return Options;
}

static Visibility visibilityOf(Subcommand Which) {
  switch (Which) {
  case Subcommand::Profile:
    return Visibility(ProfileVis);
  case Subcommand::Cc:
    return Visibility(CcVis);
  case Subcommand::Report:
    break;
  }
  return Visibility(ReportVis);
}

void printHelp(Subcommand Which, raw_ostream &OS) {
  const char *Usage = "reconverge report <divergence.json>";
  const char *Title = "Print the table of an earlier profile";
  if (Which == Subcommand::Profile) {
    Usage = "reconverge profile [options] <files> [-- <program arguments>]\n\n"
            "<files>: CUDA and C++ sources, objects and libraries; or one "
            "program built by\nreconverge cc. Other options go to clang";
    Title = "Run a CUDA program and say what each divergent branch costs";
  } else if (Which == Subcommand::Cc) {
    Usage = "reconverge cc [options] <files>\n\nOptions not listed here go to "
            "clang";
    Title = "Compile and link CUDA programs that can be profiled";
  }
  table().printHelp(OS, Usage, Title, /*ShowHidden=*/false,
                    /*ShowAllAliases=*/false, visibilityOf(Which));
}

bool asksForHelp(ArrayRef<const char *> Words) {
  for (StringRef Word : Words) {
    if (Word == "--")
      return false;
    if (Word == "--help" || Word == "-h")
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// "sm_90", "compute_90", "90", "sm_90a" to 90.
static Expected<unsigned> parseArch(StringRef Word) {
  StringRef Number = Word;
  if (!Number.consume_front("sm_"))
    Number.consume_front("compute_");
  Number.consume_back("a");
  unsigned Arch = 0;
  if (Word == "native" || Word == "all" || Word == "all-major")
    return frontend::NewestArch;
  if (Number.getAsInteger(10, Arch))
    return userError("'" + Word + "' is no GPU architecture",
                     "Write it as sm_90.");
  if (Arch > frontend::NewestArch)
    return userError("clang 19 does not know " + Word,
                     "Build for sm_90: its PTX runs on later GPUs.");
  if (Arch < frontend::OldestArch)
    return userError(Word + " is older than CUDA 12 supports",
                     "Build for sm_50 or later.");
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

static Expected<bool> parseBool(const Arg &A) {
  StringRef Value = A.getValue();
  if (Value == "true" || Value == "false")
    return Value == "true";
  return userError("'" + Value + "' is no value of " + A.getSpelling(),
                   "Write true or false.");
}

static void splitInto(std::vector<std::string> &To, StringRef List) {
  SmallVector<StringRef> Words;
  List.split(Words, ',', -1, false);
  for (StringRef Word : Words)
    To.push_back(Word.str());
}

/// The argument as it was written, for another tool.
static void passOn(std::vector<std::string> &To, const Arg &A,
                   const ArgList &All) {
  ArgStringList Words;
  A.render(All, Words);
  for (const char *Word : Words)
    To.push_back(Word);
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

static Error readBuildOption(const Arg &A, const ArgList &All,
                             BuildRequest &Request) {
  frontend::CompileOptions &Compile = Request.Compile;
  frontend::Numerics &Math = Compile.Math;
  if (A.getOption().getGroup().isValid()) {
    if (A.getOption().getGroup().getID() == OPT_Ignored)
      return Error::success();
    if (A.getOption().getGroup().getID() == OPT_Refused)
      return userError(A.getSpelling() +
                           ": relocatable device code is not supported",
                       "Build each .cu file with its device functions in it "
                       "(include them).");
  }
  switch (A.getOption().getID()) {
  case OPT_INPUT:
    Request.Inputs.push_back(A.getValue());
    return Error::success();
  case OPT_o:
    Request.Output = A.getValue();
    return Error::success();
  case OPT_keep_EQ:
    Request.Keep = A.getValue();
    return Error::success();
  case OPT_cuda_path_EQ:
    Request.CudaPath = A.getValue();
    return Error::success();
  case OPT_c:
    Request.Make = BuildRequest::Product::Objects;
    return Error::success();
  case OPT_emit_device_bc:
    Request.Make = BuildRequest::Product::DeviceBitcode;
    return Error::success();
  case OPT_emit_ptx:
    Request.Make = BuildRequest::Product::Ptx;
    return Error::success();
  case OPT_fatbin:
    Compile.Fatbin = true;
    return Error::success();
  case OPT_shared:
    Request.Link.Shared = true;
    return Error::success();

  case OPT_arch_EQ:
    return parseArch(A.getValue()).moveInto(Compile.Arch);
  case OPT_gencode_EQ:
    // Of several, the newest: the program carries one device bitcode.
    Compile.Arch = 0;
    for (const Arg *Each : All.filtered(OPT_gencode_EQ)) {
      Expected<unsigned> Arch = parseGencode(Each->getValue());
      if (!Arch)
        return Arch.takeError();
      Compile.Arch = std::max(Compile.Arch, *Arch);
    }
    return Error::success();
  case OPT_code_EQ: // -arch=compute_90 -code=sm_90: the first says it all
    return Error::success();
  case OPT_O:
    return parseLevel(A.getValue()).moveInto(Compile.OptLevel);
  case OPT_g:
    Compile.DebugInfo = true;
    return Error::success();
  case OPT_std_EQ: // clang has no "-std c++17"
    Compile.ClangArguments.push_back(std::string("-std=") + A.getValue());
    return Error::success();

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

  case OPT_l:
    // The shim stands for every form of cudart.
    if (StringRef(A.getValue()).starts_with("cudart"))
      return Error::success();
    [[fallthrough]];
  case OPT_L:
  case OPT_Wl_COMMA:
  case OPT_Xlinker:
  case OPT_rdynamic:
  case OPT_fuse_ld_EQ:
    passOn(Request.Link.Arguments, A, All);
    return Error::success();
  case OPT_pthread:
  case OPT_fopenmp:
  case OPT_fsanitize_EQ:
    passOn(Request.Link.Arguments, A, All);
    passOn(Compile.HostArguments, A, All);
    return Error::success();

  case OPT_Xcompiler: // nvcc gives it to the host's linker driver, too
    splitInto(Compile.HostArguments, A.getValue());
    splitInto(Request.Link.Arguments, A.getValue());
    return Error::success();
  case OPT_Xptxas:
    splitInto(Compile.PtxasArguments, A.getValue());
    return Error::success();
  case OPT_MD:
  case OPT_MMD:
  case OPT_MP:
  case OPT_MF:
  case OPT_MT:
  case OPT_MQ:
    passOn(Compile.HostArguments, A, All);
    return Error::success();
  default:
    passOn(Compile.ClangArguments, A, All);
    return Error::success();
  }
}

static Error checkMissing(const InputArgList &Parsed, unsigned Index,
                          unsigned Count) {
  if (!Count)
    return Error::success();
  return userError(Twine(Parsed.getArgString(Index)) + " lacks its value");
}

Expected<BuildRequest> parseCcWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = table().ParseArgs(Words, MissingIndex, MissingCount,
                                          visibilityOf(Subcommand::Cc));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  BuildRequest Request;
  for (const Arg *A : Parsed)
    if (Error E = readBuildOption(*A, Parsed, Request))
      return std::move(E);
  if (Request.Inputs.empty())
    return userError("cc: no input files",
                     "Name one or more .cu, .cpp or .o files; "
                     "reconverge cc --help lists the options.");
  if (Request.Make != BuildRequest::Product::Program &&
      !Request.Output.empty() && Request.Inputs.size() > 1)
    return userError("cc: -o names one output, but there are " +
                         Twine(Request.Inputs.size()) + " inputs to compile",
                     "Leave -o out, or compile one file at a time.");
  return Request;
}

//===----------------------------------------------------------------------===//
// Profiling
//===----------------------------------------------------------------------===//

static Error checkWord(const Arg &A, ArrayRef<StringRef> Allowed) {
  if (is_contained(Allowed, StringRef(A.getValue())))
    return Error::success();
  return userError("'" + Twine(A.getValue()) + "' is no value of --" +
                       A.getOption().getName().rtrim('='),
                   "Write " + join(Allowed, " or ") + ".");
}

static Error checkNumber(const Arg &A) {
  uint64_t Value = 0;
  if (!StringRef(A.getValue()).getAsInteger(10, Value))
    return Error::success();
  return userError("'" + Twine(A.getValue()) + "' is no value of --" +
                       A.getOption().getName().rtrim('='),
                   "Write a whole number.");
}

/// Where compiled kernels are kept between runs; empty if there is no place.
static std::string defaultCache() {
  SmallString<128> Path;
  if (!sys::path::cache_directory(Path) || StringRef(Path).contains(','))
    return "";
  sys::path::append(Path, "reconverge");
  return std::string(Path);
}

static Error unknownOption(StringRef Word) {
  std::string Nearest;
  unsigned Distance =
      table().findNearest(Word, Nearest, visibilityOf(Subcommand::Profile));
  std::string Remedy = "reconverge profile --help lists the options; those of "
                       "the program come after --.";
  if (Distance <= 2 && !Nearest.empty())
    Remedy = "Did you mean " + Nearest + "? " + Remedy;
  return userError("unknown option " + Word, Remedy);
}

Expected<ProfileRequest> parseProfileWords(ArrayRef<const char *> Words) {
  ProfileRequest Request;
  const auto *Dashes = llvm::find_if(
      Words, [](const char *Word) { return StringRef(Word) == "--"; });
  bool HasDashes = Dashes != Words.end();
  if (HasDashes)
    Request.Arguments.assign(Dashes + 1, Words.end());
  Words = Words.take_front(Dashes - Words.begin());

  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = table().ParseArgs(Words, MissingIndex, MissingCount,
                                          visibilityOf(Subcommand::Profile));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);

  std::vector<std::string> Vm;
  auto Tell = [&](StringRef Key, StringRef Value) {
    Vm.push_back((Key + "=" + Value).str());
  };
  std::string Cache = defaultCache();
  for (const Arg *A : Parsed) {
    // Success, and looked at: an option that cannot fail leaves it so.
    Error E = Error::success();
    (void)bool(E);
    switch (A->getOption().getID()) {
    case OPT_UNKNOWN:
      if (StringRef(A->getSpelling()).starts_with("--"))
        return unknownOption(A->getSpelling());
      Request.Build.Compile.ClangArguments.push_back(A->getSpelling().str());
      continue;
    case OPT_device_EQ:
      E = checkWord(*A, {"auto", "cpu", "gpu"});
      Request.Device = A->getValue();
      break;
    case OPT_machine_EQ:
      Request.Machine = A->getValue();
      break;
    case OPT_threads_EQ:
      E = checkNumber(*A);
      Tell("threads", A->getValue());
      break;
    case OPT_tier_EQ:
      E = checkWord(*A, {"fused", "blocks"});
      Tell("tier", A->getValue());
      break;
    case OPT_policy_EQ:
      E = checkWord(*A, {"frontier", "ipdom"});
      Tell("policy", A->getValue());
      break;
    case OPT_seed_EQ:
      E = checkNumber(*A);
      Tell("seed", A->getValue());
      break;
    case OPT_step_limit_EQ:
      E = checkNumber(*A);
      Tell("steps", A->getValue());
      break;
    case OPT_cache_EQ:
      Cache = A->getValue();
      if (StringRef(Cache).contains(','))
        return userError("--cache: the path " + Cache + " has a comma in it",
                         "Name a folder without.");
      break;
    case OPT_no_cache:
      Cache.clear();
      break;
    case OPT_o:
      Request.Output = A->getValue();
      break;
    default:
      E = readBuildOption(*A, Parsed, Request.Build);
    }
    if (E)
      return std::move(E);
  }
  if (!Cache.empty())
    Tell("cache", Cache);
  Request.Vm = join(Vm, ",");

  const std::vector<std::string> &Inputs = Request.Build.Inputs;
  if (Inputs.empty())
    return userError("profile: no input",
                     "Name one or more .cu files, or a program built by "
                     "reconverge cc.");
  for (const std::string &Input : Inputs)
    if (!sys::fs::exists(Input))
      return userError("no such file: " + Input,
                       !HasDashes && &Input != &Inputs.front()
                           ? "Arguments of the program come after --."
                           : "");
  return Request;
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

Expected<ReportRequest> parseReportWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = table().ParseArgs(Words, MissingIndex, MissingCount,
                                          visibilityOf(Subcommand::Report));
  std::vector<std::string> Inputs = Parsed.getAllArgValues(OPT_INPUT);
  if (const Arg *Unknown = Parsed.getLastArg(OPT_UNKNOWN))
    return userError("report: unknown option " + Unknown->getSpelling());
  if (Inputs.size() != 1)
    return userError("report: " + Twine(Inputs.size()) + " inputs",
                     "Name one divergence.json, as written by reconverge "
                     "profile.");
  return ReportRequest{Inputs.front()};
}

} // namespace reconverge::driver
