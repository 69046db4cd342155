//===- driver/NvccWords.cpp - Options that nvcc alone has -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc's words come to in clang's. nvcc takes a long option with one dash
// or two, its value behind = or as the next word, and lists with commas; where
// a value is the next word, the option table takes it for an input, which is
// told here from what stands before it. Options that shape nvcc's own run and
// have no counterpart are read and mean nothing; what would change the program
// and cannot be had is an error.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "driver/OptionTable.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

/// The default stream: a macro for CUDA's headers, and what a launch calls.
static Error setDefaultStream(StringRef Which,
                              frontend::CompileOptions &Compile) {
  if (Which == "per-thread") {
    Compile.ClangArguments.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    append_range(
        Compile.HostArguments,
        ArrayRef<const char *>{"-Xclang", "-fgpu-default-stream=per-thread"});
  } else if (Which != "legacy" && Which != "null")
    return userError("'" + Which + "' is no value of --default-stream",
                     "Write legacy or per-thread.");
  return Error::success();
}

/// What a kind of nvcc's warnings, as -Werror names it, is to clang; nothing if
/// it is none of nvcc's.
static std::optional<StringRef> warningOf(StringRef Kind) {
  return StringSwitch<std::optional<StringRef>>(Kind)
      .Case("all-warnings", StringRef("-Werror"))
      .Case("deprecated-declarations",
            StringRef("-Werror=deprecated-declarations"))
      .Case("reorder", StringRef("-Werror=reorder"))
      .Cases("cross-execution-space-call", "default-stream-launch",
             "missing-launch-bounds", "ext-lambda-captures-this", StringRef())
      .Default(std::nullopt);
}

/// Whether input \p A is what -Werror before it names.
static bool isKindOfWerror(const Arg &A, const ArgList &All) {
  unsigned Before = A.getIndex();
  if (!Before || !warningOf(A.getValue()))
    return false;
  StringRef Word = All.getArgString(Before - 1);
  return Word == "-Werror" || Word == "--Werror";
}

/// Whether input \p A is the level of an -O before it.
static bool isLevelOfO(const Arg &A, const ArgList &All) {
  StringRef Level = A.getValue();
  return A.getIndex() && Level.size() == 1 && Level[0] >= '0' &&
         Level[0] <= '3' &&
         StringRef(All.getArgString(A.getIndex() - 1)) == "-O";
}

void splitWords(std::vector<std::string> &To, StringRef List) {
  SmallVector<StringRef> Parts;
  List.split(Parts, ',', -1, false);
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  for (StringRef Part : Parts) {
    SmallVector<const char *> Words;
    cl::TokenizeGNUCommandLine(Part, Saver, Words);
    To.insert(To.end(), Words.begin(), Words.end());
  }
}

Error refuseOption(const Arg &A) {
  if (A.getOption().getID() == OPT_static)
    return userError(
        "-static: CUDA's runtime is a shared library here",
        "Leave it out; -static-libstdc++ and -static-libgcc work.");
  switch (A.getOption().getID()) {
  case OPT_emit_what:
  case OPT_dryrun:
    return userError(A.getSpelling() + ": the steps cannot be shown unrun",
                     "Write -v to see them as they run.");
  case OPT_refused_lib:
    return userError(A.getSpelling() + ": objects are not put into a library",
                     "Compile with -c, then call ar.");
  case OPT_refused_run:
  case OPT_refused_run_args:
  case OPT_refused_run_args_EQ:
    return userError(A.getSpelling() + ": what is built is not run",
                     "reconverge profile builds and runs.");
  case OPT_refused_cubin:
  case OPT_refused_optix_ir:
  case OPT_refused_ltoir:
  case OPT_refused_cuda:
  case OPT_refused_fatbin:
    return userError(A.getSpelling() + ": that is no product of this compiler",
                     "--emit-ptx writes PTX; --fatbin puts machine code into "
                     "objects.");
  case OPT_refused_fdevice_syntax_only:
    return userError(A.getSpelling() + ": both sides are parsed, or neither",
                     "Write -fsyntax-only.");
  case OPT_refused_no_device_link:
  case OPT_refused_nodlink:
    return userError(A.getSpelling() +
                         ": where reconverge cc links, it links device code, "
                         "too",
                     "Leave it out, with what -dlink wrote; or have g++ link.");
  case OPT_refused_list_gpu_code:
  case OPT_refused_code_ls:
  case OPT_refused_list_gpu_arch:
  case OPT_refused_arch_ls:
    return userError(A.getSpelling() + ": those are of the toolkit's ptxas",
                     "Ask nvcc.");
  case OPT_refused_sanitize:
  case OPT_refused_sanitize_EQ:
    return userError(A.getSpelling() + ": no tool's checks are built in",
                     "reconverge test runs a program with checks; "
                     "compute-sanitizer takes ours as they are.");
  case OPT_refused_compile_as_tools_patch:
  case OPT_refused_astoolspatch:
  case OPT_refused_host_linker_script:
  case OPT_refused_host_linker_script_EQ:
  case OPT_refused_hls:
  case OPT_refused_hls_EQ:
    return userError(A.getSpelling() + ": that is no product of this compiler",
                     "Leave it out, or call nvcc for it.");
  default:
    return userError(A.getSpelling() +
                         ": the linker of device code that goes with it "
                         "(CMake: nvlink) cannot read ours",
                     "Write -rdc=true, and have reconverge cc link (CMake: in "
                     "CMAKE_CUDA_FLAGS, without CUDA_SEPARABLE_COMPILATION).");
  }
}

std::optional<Error> readNvccOption(const Arg &A, const ArgList &All,
                                    BuildRequest &Request) {
  frontend::CompileOptions &Compile = Request.Compile;
  switch (A.getOption().getID()) {
  case OPT_default_stream_EQ:
    return setDefaultStream(A.getValue(), Compile);
  case OPT_rdc_EQ:
    return parseBool(A).moveInto(Compile.Relocatable);
  case OPT_dc:
    Compile.Relocatable = true;
    Request.Make = BuildRequest::Product::Objects;
    return Error::success();
  case OPT_dw:
    Compile.Relocatable = false;
    Request.Make = BuildRequest::Product::Objects;
    return Error::success();
  case OPT_dlink:
    Request.Make = BuildRequest::Product::DeviceLink;
    return Error::success();
  case OPT_maxrregcount_EQ:
    Compile.PtxasArguments.push_back(std::string("-maxrregcount=") +
                                     A.getValue());
    return Error::success();
  case OPT_relaxed_constexpr:
    Compile.ClangArguments.push_back("-D__CUDACC_RELAXED_CONSTEXPR__=1");
    return Error::success();
  case OPT_extended_lambda:
    Compile.ClangArguments.push_back("-D__CUDACC_EXTENDED_LAMBDA__=1");
    return Error::success();
  case OPT_resource_usage:
    Compile.PtxasArguments.push_back("-v");
    return Error::success();
  case OPT_keep:
    if (Request.Keep.empty())
      Request.Keep = ".";
    return Error::success();
  case OPT_keep_dir_EQ:
    Request.Keep = A.getValue();
    return Error::success();
  case OPT_clean:
    Request.Clean = true;
    return Error::success();
  case OPT_forward_unknown:
    return Error::success(); // OPT_UNKNOWN looks for it
  case OPT_UNKNOWN:
    // Warnings are clang's on both sides.
    if (!All.hasArg(OPT_forward_unknown) || A.getSpelling().starts_with("-W"))
      return std::nullopt;
    Compile.HostArguments.push_back(A.getSpelling().str());
    Request.Link.Arguments.push_back(A.getSpelling().str());
    return Error::success();
  case OPT_odir_EQ:
    Request.OutputFolder = A.getValue();
    return Error::success();
  case OPT_disable_warnings:
    Compile.ClangArguments.push_back("-w");
    return Error::success();
  case OPT_no_deprecated:
    Compile.ClangArguments.push_back("-Wno-deprecated-declarations");
    return Error::success();
  case OPT_Werror:
    // Its kind, if one follows, comes as an input.
    if (unsigned Next = A.getIndex() + 1; Next >= All.getNumInputArgStrings() ||
                                          !warningOf(All.getArgString(Next)))
      Compile.ClangArguments.push_back("-Werror");
    return Error::success();
  case OPT_Werror_EQ:
    if (std::optional<StringRef> Word = warningOf(A.getValue()); !Word)
      Compile.ClangArguments.push_back(std::string("-Werror=") + A.getValue());
    else if (!Word->empty())
      Compile.ClangArguments.push_back(Word->str());
    return Error::success();
  case OPT_INPUT:
    if (isLevelOfO(A, All)) {
      Compile.OptLevel = unsigned(A.getValue()[0] - '0');
      return Error::success();
    }
    if (!isKindOfWerror(A, All))
      return std::nullopt;
    if (StringRef Word = *warningOf(A.getValue()); !Word.empty())
      Compile.ClangArguments.push_back(Word.str());
    return Error::success();
  case OPT_t:
    if (unsigned Threads = 0;
        !StringRef(A.getValue()).ltrim('=').getAsInteger(10, Threads))
      return Error::success();
    Compile.ClangArguments.push_back(std::string("-t") + A.getValue());
    return Error::success();
  default:
    return std::nullopt;
  }
}

} // namespace reconverge::driver
