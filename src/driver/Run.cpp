//===- driver/Run.cpp - The program, made ready and run -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program runs as a child on our own standard streams, so that its input
// and output are what they would be without us. How it runs is told to the shim
// in it by its environment (src/runtime/shim).
//
// Runs of `optimize` on a GPU take turns, across processes: they are timed. What
// a program waits for its turn is none of its time.
//
// On a GPU, libReconvergeGPU.so counts; it looks for the CUDA toolkit in the
// program's environment, so --cuda-path is put there.
//
//===----------------------------------------------------------------------===//

#include "driver/Run.h"

#include "core/DroppedShares.h"
#include "core/Error.h"
#include "core/GpuTurn.h"
#include "core/OutputBuffers.h"
#include "driver/Build.h"
#include "driver/Progress.h"
#include "driver/Sandbox.h"
#include "frontend/InputTee.h"
#include "frontend/Toolchain.h"

#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace reconverge::driver {

bool Session::isProgram(const BuildRequest &Request) {
  return Request.Inputs.size() == 1 &&
         Request.Kinds.front() == frontend::InputKind::Other;
}

std::string Session::findProgram(StringRef Name) {
  if (sys::fs::exists(Name))
    return Name.str();
  if (Name.contains('/'))
    return "";
  auto Found = sys::findProgramByName(Name);
  return Found ? *Found : "";
}

/// The path to execute: the input itself, or what is built from the inputs.
static Expected<std::string> obtainProgram(const BuildRequest &Request,
                                           const frontend::TempDir &Temp,
                                           Progress &Now) {
  const std::string &First = Request.Inputs.front();
  if (Session::isProgram(Request)) {
    // A bare name is looked up in the current folder before PATH.
    SmallString<128> Path(Session::findProgram(First));
    if (sys::fs::is_directory(Path) || !sys::fs::can_execute(Path))
      return userError(First + " is neither a source file nor a program",
                       "Name a .cu file, or a program built by reconverge cc.");
    if (std::error_code EC = sys::fs::make_absolute(Path))
      return userError("cannot find " + First + ": " + EC.message());
    return std::string(Path);
  }
  auto Tools = frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  BuildRequest ToProgram = Request;
  ToProgram.Output = Temp.file(sys::path::stem(First));
  Now.follow(ToProgram);
  if (Error E = build(ToProgram, *Tools, Temp))
    return std::move(E);
  return ToProgram.Output;
}

Expected<Session> Session::create(const RunRequest &Request, Progress &Now) {
  auto Tree = frontend::findInstallation();
  if (!Tree)
    return Tree.takeError();
  std::string MachineFile;
  std::optional<analysis::MachineModel> Machine;
  if (!Request.Machine.empty()) {
    if (Error E = frontend::findMachineFile(*Tree, Request.Machine)
                      .moveInto(MachineFile))
      return std::move(E);
    auto Loaded = analysis::MachineModel::load(MachineFile);
    if (!Loaded)
      return Loaded.takeError();
    Machine = std::move(*Loaded);
  }
  auto Temp = frontend::TempDir::create(Request.Build.Keep);
  if (!Temp)
    return Temp.takeError();
  Session S(Request, std::move(*Tree), std::move(*Temp));
  S.MachineFile = std::move(MachineFile);
  S.Machine = std::move(Machine);
  if (Error E = obtainProgram(Request.Build, S.Temp, Now).moveInto(S.Program))
    return std::move(E);
  return S;
}

std::string overEnvironment(const char *Name, const std::string &Ours) {
  std::string Theirs = sys::Process::GetEnv(Name).value_or("");
  if (!Theirs.empty() && !Ours.empty())
    Theirs += ",";
  return std::string(Name) + "=" + Theirs + Ours;
}

/// Whether the loader knows a libcuda.so.1: CUDA's driver, as a rule.
static bool hasDriver() {
  static const bool Has =
      sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1").isValid();
  return Has;
}

std::string runtimeFirst(const frontend::Installation &Tree) {
  std::string Libraries = sys::Process::GetEnv("LD_LIBRARY_PATH").value_or("");
  return "LD_LIBRARY_PATH=" + Tree.runtimeDir() +
         (Libraries.empty() ? "" : ":" + Libraries) +
         (hasDriver() ? "" : ":" + Tree.driverDir());
}

std::string howToBuild(const frontend::Installation &Tree) {
  return "Build it with reconverge cc, which links it over our CUDA runtime; "
         "with CMake,\n  make reconverge-clang++ the CUDA compiler and, if the "
         "C++ compiler links, give\n  -DCMAKE_LIBRARY_PATH=" +
         Tree.runtimeDir();
}

Expected<frontend::ProcessResult> Session::run(const RunMode &Mode) const {
  return run(Mode, Program);
}

Expected<frontend::ProcessResult> Session::run(const RunMode &Mode,
                                               StringRef Path) const {
  const std::string &Device =
      Mode.Device.empty() ? Request->Device : Mode.Device;
  const GpuTurn Turn(Mode.IsExpendable && Device == "gpu");
  frontend::Command C;
  C.Arguments.push_back(Path.str());
  append_range(C.Arguments,
               Mode.Arguments ? *Mode.Arguments : Request->Arguments);
  C.Environment = {"RECONVERGE_DEVICE=" + Device,
                   "RECONVERGE_PROFILE=" + Mode.Profile,
                   "RECONVERGE_TRIALS=" + Mode.Trials,
                   std::string(OutputsVariable) + "=" + Mode.Buffers,
                   std::string(DroppedSharesVariable) + "=" + Mode.Dropped,
                   "RECONVERGE_MACHINE=" + MachineFile,
                   overEnvironment("RECONVERGE_VM", Request->Vm),
                   overEnvironment("RECONVERGE_GPU", Request->Gpu),
                   Turn.entry()};
  if (!Request->Build.CudaPath.empty())
    C.Environment.push_back("CUDA_PATH=" + Request->Build.CudaPath);
  C.Environment.push_back(runtimeFirst(Tree));
  C.Input = Mode.Input;
  C.Output = Mode.Output;
  C.Errors = Mode.Errors;
  C.TimeLimit = Mode.TimeLimit;
  C.Waited = [&] { return Turn.waited(); };
  C.IsExpendable = Mode.IsExpendable;
  C.Meanwhile = Mode.Meanwhile;
  if (Mode.Box)
    if (Error E = Mode.Box->arrange(C))
      return std::move(E);
  std::unique_ptr<frontend::InputTee> Tee;
  if (!Mode.InputCopy.empty()) {
    if (Error E = frontend::InputTee::start(Mode.InputCopy).moveInto(Tee))
      return std::move(E);
    C.InputEnd = Tee->takeChildEnd();
  }
  auto Ended = frontend::runProcess(C);
  if (Ended)
    Ended->WhenWell = Request->ExitCode;
  return Ended;
}

std::string endOf(const frontend::ProcessResult &Result) {
  if (Result.TimedOut)
    return "did not end in time";
  return Result.Signal ? "was ended by signal " + std::to_string(Result.Signal)
                       : "returned " + std::to_string(Result.Exit);
}

std::string exitCodeHint(const frontend::ProcessResult &Result) {
  return Result.Signal || Result.TimedOut
             ? ""
             : "  If it returns that when all is well, say --exit-code=" +
                   std::to_string(Result.Exit) + ".\n";
}

} // namespace reconverge::driver
