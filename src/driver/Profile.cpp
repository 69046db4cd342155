//===- driver/Profile.cpp - From a program to its report ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   sources --build--> program --run--> raw profile --model--> costs
//                                             \____________________|
//                                        table on stderr, divergence.json
//
// The program runs as a child on our own standard streams, so that its input
// and output are what they would be without us. How it runs is told to the shim
// in it by its environment (src/runtime/shim). It writes its counts when it
// ends; what a program counted that then failed is still worth showing.
//
// Limitation: counts come from the warp VM alone, so `auto` runs on the CPU
// even where there is a GPU.
//
//===----------------------------------------------------------------------===//

#include "driver/Profile.h"

#include "core/Error.h"
#include "core/ProfileJson.h"
#include "driver/Build.h"
#include "driver/Condition.h"
#include "frontend/Clang.h"
#include "frontend/Installation.h"
#include "frontend/Subprocess.h"
#include "model/Model.h"
#include "report/Terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

static report::TerminalOptions terminalFor(raw_ostream &OS) {
  report::TerminalOptions Options;
  Options.Color = OS.has_colors();
  if (unsigned Columns = sys::Process::StandardErrColumns())
    Options.Width = Columns;
  return Options;
}

/// A single input that is no source is a program to run as it is.
static bool isProgram(const BuildRequest &Request) {
  return Request.Inputs.size() == 1 &&
         Request.Kinds.front() == frontend::InputKind::Other;
}

/// The path to execute: the input itself, or what is built from the inputs.
static Expected<std::string> obtainProgram(const BuildRequest &Request,
                                           const frontend::TempDir &Temp) {
  const std::string &First = Request.Inputs.front();
  if (isProgram(Request)) {
    if (sys::fs::is_directory(First) || !sys::fs::can_execute(First))
      return userError(First + " is neither a source file nor a program",
                       "Name a .cu file, or a program built by reconverge cc.");
    // A bare name is looked up in the current folder, where it was found.
    SmallString<128> Path(First);
    if (std::error_code EC = sys::fs::make_absolute(Path))
      return userError("cannot find " + First + ": " + EC.message());
    return std::string(Path);
  }
  auto Tools = frontend::findToolchain(Request.CudaPath);
  if (!Tools)
    return Tools.takeError();
  BuildRequest ToProgram = Request;
  ToProgram.Output = Temp.file(sys::path::stem(First));
  if (Error E = build(ToProgram, *Tools, Temp))
    return std::move(E);
  return ToProgram.Output;
}

static Expected<frontend::ProcessResult>
runProgram(const ProfileRequest &Request, const std::string &Program,
           const std::string &MachineFile, const std::string &Raw,
           const frontend::Installation &Tree) {
  frontend::Command C;
  C.Arguments.push_back(Program);
  C.Arguments.insert(C.Arguments.end(), Request.Arguments.begin(),
                     Request.Arguments.end());
  // What the user has set for the VM stays, unless an option says otherwise.
  std::string Vm = sys::Process::GetEnv("RECONVERGE_VM").value_or("");
  if (!Vm.empty() && !Request.Vm.empty())
    Vm += ",";
  C.Environment = {"RECONVERGE_DEVICE=cpu", "RECONVERGE_PROFILE=" + Raw,
                   "RECONVERGE_MACHINE=" + MachineFile,
                   "RECONVERGE_VM=" + Vm + Request.Vm};
  // A program of ours finds the shim by its run path. One that another linker
  // has linked with -lcudart finds it here, before the toolkit's.
  std::string Libraries = sys::Process::GetEnv("LD_LIBRARY_PATH").value_or("");
  C.Environment.push_back("LD_LIBRARY_PATH=" + Tree.runtimeDir() +
                          (Libraries.empty() ? "" : ":" + Libraries));
  return frontend::runProcess(C);
}

/// How the program ended, for a message.
static std::string endOf(const frontend::ProcessResult &Result) {
  return Result.Signal ? "was ended by signal " + std::to_string(Result.Signal)
                       : "returned " + std::to_string(Result.Exit);
}

Expected<int> profile(const ProfileRequest &Request, raw_ostream &OS) {
  if (Request.Device == "gpu")
    return userError("--device gpu: counting on a GPU is not supported",
                     "Leave the option out: the warp VM counts on the CPU.");
  // Before a long run, not after it.
  StringRef Folder = sys::path::parent_path(Request.Output);
  if (!Folder.empty() && !sys::fs::is_directory(Folder))
    return userError("cannot write " + Request.Output +
                     ": there is no folder " + Folder);
  auto Tree = frontend::findInstallation();
  if (!Tree)
    return Tree.takeError();
  auto MachineFile = frontend::findMachineFile(*Tree, Request.Machine);
  if (!MachineFile)
    return MachineFile.takeError();
  auto Temp = frontend::TempDir::create(Request.Build.Keep);
  if (!Temp)
    return Temp.takeError();

  // 1. Build: clang, our device pipeline, link over the shim.
  auto Program = obtainProgram(Request.Build, *Temp);
  if (!Program)
    return Program.takeError();

  // 2. Run, with the program's own input and output.
  std::string Raw = Temp->file("profile.json");
  (void)sys::fs::remove(Raw); // an earlier run's, in a folder that is kept
  outs().flush();
  auto Result = runProgram(Request, *Program, *MachineFile, Raw, *Tree);
  if (!Result)
    return Result.takeError();
  if (!sys::fs::exists(Raw)) {
    if (!Result->ok()) {
      OS << "reconverge: note: " << Request.Build.Inputs.front() << ' '
         << endOf(*Result) << " and left no profile\n";
      return Result->status();
    }
    return userError(Request.Build.Inputs.front() + " left no profile",
                     isProgram(Request.Build)
                         ? "Build it with reconverge cc, which links it over "
                           "our CUDA runtime; with CMake, make "
                           "reconverge-clang++ the CUDA compiler."
                         : "It made no CUDA call, or ended by _exit.");
  }

  // 3. What it counted, with what only the driver knows.
  auto Counted = readProfile(Raw);
  if (!Counted)
    return Counted.takeError();
  if (Counted->Kernels.empty() && Result->ok())
    return userError(Request.Build.Inputs.front() + ": no kernel ran",
                     Counted->Notes.empty()
                         ? "It launched none, or a message above says why they "
                           "could not run."
                         : join(Counted->Notes, "\n  "));
  Counted->Program = join(Request.Build.Inputs, " ");
  Counted->Arguments = Request.Arguments;
  Counted->ExitStatus = Result->status();
  fillConditions(*Counted);

  // 4. What it costs.
  std::vector<KernelCost> Costs = model::costsOf(*Counted);

  // 5. Tell it.
  report::printProfile(*Counted, Costs, OS, terminalFor(OS));
  if (Error E = writeReport(*Counted, Costs, Request.Output))
    return std::move(E);
  return Result->status();
}

Error report(const ReportRequest &Request, raw_ostream &OS) {
  auto Read = readProfile(Request.Input);
  if (!Read)
    return Read.takeError();
  report::printProfile(*Read, model::costsOf(*Read), OS, terminalFor(OS));
  return Error::success();
}

} // namespace reconverge::driver
