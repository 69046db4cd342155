//===- driver/BuildWords.cpp - What to build from what --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words after `cc`, option by option (BuildOptions.cpp), and then what they
// say together: which of several architectures, which product of device code,
// what -rdc=true excludes.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/OptionTable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

using frontend::CudaRuntime;
using Product = BuildRequest::Product;

//===----------------------------------------------------------------------===//
// What they say together
//===----------------------------------------------------------------------===//

/// The program carries one device bitcode, that of the newest architecture that
/// clang knows among those named.
static Error chooseArchitecture(BuildRequest &Request) {
  if (Request.Architectures.empty())
    return Error::success();
  unsigned Newest = 0;
  for (unsigned Arch : Request.Architectures)
    if (Arch <= frontend::NewestArch)
      Newest = std::max(Newest, Arch);
  if (!Newest)
    return userError("clang 19 does not know sm_" +
                         Twine(Request.Architectures.front()),
                     "Build for sm_90: its PTX runs on later GPUs.");
  if (Newest < frontend::OldestArch)
    return userError("sm_" + Twine(Newest) + " is older than CUDA 12 supports",
                     "Build for sm_50 or later.");
  Request.Compile.Arch = Newest;
  return Error::success();
}

static Error chooseDeviceProduct(BuildRequest &Request) {
  if (!Request.DeviceOnly) {
    if (Request.Bitcode)
      return userError("-emit-llvm: host and device code are two modules",
                       "--emit-device-bc writes the device's bitcode; "
                       "--cuda-device-only -emit-llvm is the same.");
    return Error::success();
  }
  if (Request.Bitcode)
    Request.Make = Product::DeviceBitcode;
  else if (Request.Make == Product::Assembly)
    Request.Make = Product::Ptx;
  else if (Request.Make == Product::Objects || Request.Make == Product::Program)
    return userError("--cuda-device-only: device code is no object of its own",
                     "Write -S with it for PTX, -emit-llvm for bitcode.");
  return Error::success();
}

/// Relocatable device code is completed at the link, and by us.
static Error checkRelocatable(BuildRequest &Request) {
  frontend::CompileOptions &Compile = Request.Compile;
  if (Request.Make == Product::Ptx || Request.Make == Product::DeviceBitcode)
    Compile.Relocatable = false; // there is no link
  if (Compile.Relocatable && Compile.Runtime == CudaRuntime::Nvidia)
    return userError("-rdc=true goes with our runtime only",
                     "Leave --runtime=nvidia out.");
  if (Compile.Relocatable && Compile.GpuCompiler)
    return userError("-rdc=true: other compilers' code is of single files",
                     "Leave --device-code out; --fatbin embeds ours.");
  if (Compile.Relocatable && Compile.Record.Write)
    return userError("-fsave-optimization-record: relocatable device code is "
                     "optimised when it is linked, which keeps no record",
                     "Leave -rdc=true and -dc out.");
  return Error::success();
}

Error refuseRecord(const BuildRequest &Request) {
  if (!Request.Compile.Record.Write)
    return Error::success();
  return userError("-fsave-optimization-record is an option of reconverge cc",
                   "Build the program with it, and name the program here.");
}

Error settle(BuildRequest &Request) {
  if (Error E = chooseArchitecture(Request))
    return E;
  if (Error E = chooseDeviceProduct(Request))
    return E;
  if (Error E = checkRelocatable(Request))
    return E;
  if (any_of(Request.Compile.HostArguments, [](StringRef Word) {
        return Word == "-fopenmp" || Word.starts_with("-fopenmp=");
      }))
    Request.OpenMp |= BuildRequest::CompilesOpenMp;
  // What clang is told in general may say how to link as well.
  Request.Link.Arguments.insert(Request.Link.Arguments.begin(),
                                Request.Compile.ClangArguments.begin(),
                                Request.Compile.ClangArguments.end());
  return Error::success();
}

Expected<BuildRequest> parseCcWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Cc));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  BuildRequest Request;
  for (const Arg *A : Parsed)
    if (Error E = readBuildOption(*A, Parsed, Request))
      return std::move(E);
  if (Error E = settle(Request))
    return std::move(E);
  if (Request.Inputs.empty())
    return userError("cc: no input files",
                     "Name one or more .cu, .cpp or .o files; "
                     "reconverge cc --help lists the options.");
  if (Request.Make != Product::Program && Request.Make != Product::DeviceLink &&
      !Request.Output.empty() && Request.Inputs.size() > 1)
    return userError("cc: -o names one output, but there are " +
                         Twine(Request.Inputs.size()) + " inputs to compile",
                     "Leave -o out, or compile one file at a time.");
  const std::string &Record = Request.Compile.Record.File;
  if (!Record.empty() && sourcesOf(Request) > 1)
    return userError("cc: -foptimization-record-file=" + Record +
                         " names one file, but there are " +
                         Twine(sourcesOf(Request)) + " sources",
                     "Compile one file at a time.");
  return Request;
}

bool isQuestion(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Cc));
  if (Parsed.hasArg(OPT_version))
    return true;
  bool Asks = false;
  for (const Arg *A : Parsed) {
    if (A->getOption().getID() == OPT_INPUT ||
        A->getOption().getID() == OPT_dash_dash)
      return false;
    StringRef Word = A->getSpelling();
    Asks |= Word == "-v" || Word.starts_with("-dump") ||
            Word.starts_with("-print-") || Word.starts_with("--print-");
  }
  return Asks;
}

} // namespace reconverge::driver
