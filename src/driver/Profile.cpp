//===- driver/Profile.cpp - From a program to its report ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   sources --build--> program --run--> raw profile --model--> costs
//                                             \____________________|
//                                        table on stderr, divergence.json
//
// A program writes its counts when it ends; what it counted that then failed is
// still worth showing.
//
//===----------------------------------------------------------------------===//

#include "driver/Profile.h"

#include "analysis/Costs.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/ProfileJson.h"
#include "driver/Build.h"
#include "driver/Condition.h"
#include "driver/FailIf.h"
#include "driver/MachinePrices.h"
#include "driver/Progress.h"
#include "model/BlockVectorTime.h"
#include "model/Model.h"
#include "model/ThreadRows.h"
#include "remedies/Table.h"
#include "report/Terminal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::driver {

report::TerminalOptions terminalFor(raw_ostream &OS) {
  report::TerminalOptions Options;
  // https://no-color.org
  Options.Color =
      OS.has_colors() && sys::Process::GetEnv("NO_COLOR").value_or("").empty();
  unsigned Columns = 0;
  const std::string Wanted = sys::Process::GetEnv("COLUMNS").value_or("");
  if (StringRef(Wanted).getAsInteger(10, Columns) || Columns == 0) {
    // LLVM asks no terminal for its width.
    winsize Size = {};
    const int Stream = &OS == &errs()   ? STDERR_FILENO
                       : &OS == &outs() ? STDOUT_FILENO
                                        : -1;
    if (ioctl(Stream, TIOCGWINSZ, &Size) == 0)
      Columns = Size.ws_col;
  }
  if (Columns)
    Options.Width = Columns;
  return Options;
}

Error checkOutput(StringRef Output) {
  if (Output.empty() || Output == "-")
    return Error::success();
  if (sys::fs::is_directory(Output))
    return userError("cannot write " + Output + ": it is a directory",
                     "Name a file.");
  StringRef Folder = sys::path::parent_path(Output);
  if (Folder.empty())
    Folder = ".";
  if (!sys::fs::is_directory(Folder))
    return userError("cannot write " + Output + ": there is no folder " +
                     Folder);
  // What is no file (a pipe, /dev/null) is written where it is.
  if (sys::fs::access(Folder, sys::fs::AccessMode::Write) &&
      (!sys::fs::exists(Output) || sys::fs::is_regular_file(Output)))
    return userError("cannot write " + Output +
                     ": no file can be made in the folder " + Folder);
  return Error::success();
}

/// Whether the file of the program \p Name says that it uses cudart as a
/// shared library, as all do that we link.
static bool namesOurRuntime(StringRef Name) {
  Expected<std::unique_ptr<MemoryBuffer>> File =
      readFile(Session::findProgram(Name));
  if (!File) {
    consumeError(File.takeError()); // it ran: nothing can be said of it
    return true;
  }
  return (*File)->getBuffer().contains("libcudart.so");
}

Expected<Session> prepare(const RunRequest &Request, Progress &Now) {
  if (!Session::isProgram(Request.Build))
    Now.step("building " + join(Request.Build.Inputs, " "));
  return Session::create(Request, Now);
}

std::optional<analysis::MachineModel> machineOf(const Profile &Counted) {
  auto Tree = frontend::findInstallation();
  if (!Tree) {
    consumeError(Tree.takeError());
    return std::nullopt;
  }
  auto File = frontend::findMachineFile(*Tree, Counted.Machine);
  if (!File) {
    consumeError(File.takeError());
    return std::nullopt;
  }
  auto Machine = analysis::MachineModel::load(*File);
  if (!Machine) {
    consumeError(Machine.takeError());
    return std::nullopt;
  }
  return std::move(*Machine);
}

Expected<CountedRun> countRun(const RunRequest &Request, const Session &Program,
                              Progress &Now, RunMode Mode) {
  Mode.Meanwhile = [&Now] { Now.goesOn(); };
  Mode.Profile = Program.file("profile.json");
  (void)sys::fs::remove(Mode.Profile); // an earlier run's
  outs().flush();
  auto Ended = Program.run(Mode);
  if (!Ended)
    return Ended.takeError();
  CountedRun Run;
  Run.End = *Ended;
  const std::string &Name = Request.Build.Inputs.front();
  if (!sys::fs::exists(Mode.Profile)) {
    if (!Ended->ok())
      return Run;
    return userError(Name + " left no profile",
                     Session::isProgram(Request.Build)
                         ? howToBuild(Program.installation())
                         : "It made no CUDA call, or ended by _exit.");
  }
  auto Counted = readProfile(Mode.Profile);
  if (!Counted)
    return Counted.takeError();
  Counted->Program = join(Request.Build.Inputs, " ");
  Counted->Arguments = Request.Arguments;
  Counted->ExitStatus = Ended->status();
  if (std::vector<std::string> Missing = fillConditions(*Counted);
      !Missing.empty())
    Counted->Notes.push_back("branches are shown without their conditions, as "
                             "there is no source " +
                             join(Missing, ", ") + " any more");
  auto Machine = Program.machine() ? Program.machine() : machineOf(*Counted);
  if (!Machine)
    return internalError("the machine file '" + Counted->Machine +
                         "', by which the program was priced, is gone");
  Run.Machine = std::move(*Machine);
  if (Request.MachineCode)
    if (Error E = priceByPtxas(*Counted, Program.program(),
                               Request.Build.CudaPath, Run.Machine))
      return std::move(E);
  Run.Counted = std::move(*Counted);
  return Run;
}

int withoutProfile(const RunRequest &Request, const Session &Program,
                   const CountedRun &Run, raw_ostream &OS) {
  const std::string &Name = Request.Build.Inputs.front();
  OS << "reconverge: note: " << Name << ' ' << endOf(Run.End)
     << " and left no profile\n";
  if (Session::isProgram(Request.Build) && !namesOurRuntime(Name))
    OS << "  " << howToBuild(Program.installation()) << '\n';
  return Run.End.status();
}

const analysis::MachineLimits *
limitsFor(const Profile &Counted, const analysis::MachineModel &Machine) {
  // "NVIDIA H200, sm_90, ...": not every GPU whose name begins like that.
  if (Counted.Backend == "gpu" && !Machine.gpu().empty() &&
      StringRef(Counted.Device).split(',').first != Machine.gpu())
    return nullptr;
  return Machine.limits() ? &*Machine.limits() : nullptr;
}

void addSchedules(const Profile &P, const analysis::MachineLimits &Limits,
                  RunCost &Cost) {
  for (auto [K, C] : zip_equal(P.Kernels, Cost.Kernels))
    C.Schedule = model::scheduleOf(K, Limits);
  Cost.HasSchedules = true;
}

/// Of kernels that name features: what is wrong with them, if anything.
static std::vector<std::string> saidOfFeatures(const Profile &P) {
  std::vector<std::string> Said;
  for (const KernelProfile &K : P.Kernels) {
    const std::vector<MarkInfo> &Named = K.Info.Marks;
    const size_t Taken = K.Vectors.Loads.size();
    if (Taken >= Named.size())
      continue;
    const std::string First = placeOfFeature(K.Info, Named[Taken].Id);
    Said.push_back(
        Taken == 0
            ? "what " + K.Info.Display + " names as a feature (" + First +
                  ") cannot be computed before a launch; reconverge cc "
                  "--regroup=estimate=0:1 says why"
            : K.Info.Display + " names " + std::to_string(Named.size()) +
                  " features, of which " + std::to_string(Taken) +
                  " are taken: none from " + First + " on");
  }
  return Said;
}

/// Writes what threads loaded and took, of the kernels of which it is known.
static Error writePaths(const Profile &P, StringRef Path, raw_ostream &OS) {
  std::vector<KernelRows> Kernels;
  for (const KernelProfile &K : P.Kernels)
    if (!K.Vectors.Loads.empty())
      Kernels.push_back(model::kernelRows(K, K.Vectors));
  for (const std::string &Text : saidOfFeatures(P))
    OS << "reconverge: warning: " << Text << '\n';
  if (Kernels.empty())
    return userError(
        "--paths=" + Path + ": there are no rows to write",
        "No kernel has loads outside of loops, or in the first round of a "
        "loop over items, that decide what its threads do and that can be "
        "made before it. Name features by reconverge::feature: "
        "docs/predict-paths.md.");
  return writeRows(Kernels, Path);
}

Expected<int> profile(const ProfileRequest &Request, raw_ostream &OS) {
  // Before a long run, not after it.
  if (Error E = checkOutput(Request.Output))
    return std::move(E);
  if (Error E = checkOutput(Request.Paths))
    return std::move(E);
  Progress Now(OS, Request);
  auto Program = prepare(Request, Now);
  if (!Program)
    return orInterrupted(Program.takeError(), OS);
  Now.step("running the program");
  auto Run = countRun(Request, *Program, Now);
  if (!Run)
    return Run.takeError();
  if (!Run->Counted)
    return withoutProfile(Request, *Program, *Run, OS);
  const analysis::MachineLimits *Limits =
      limitsFor(*Run->Counted, Run->Machine);
  if (!Limits)
    Run->Counted->Notes.push_back(
        "what kernels are bound by is not said: there is no machine file of " +
        Run->Counted->Device +
        "; benchmarks/micro/run.py writes one, and --machine names it");
  RunCost Cost = model::costOf(*Run->Counted, remedies::rules(), Limits);
  if (Request.Schedule)
    addSchedules(*Run->Counted, *Run->Machine.limits(), Cost);
  if (!Request.Quiet)
    report::printTerminal(report::viewOf(*Run->Counted, Cost), OS,
                          terminalFor(OS));
  if (Request.Output == "-")
    printProfileJson(*Run->Counted, &Cost, outs(), Request.Raw);
  else if (Error E =
               writeReport(*Run->Counted, Cost, Request.Output, Request.Raw))
    return std::move(E);
  else if (!Request.Quiet)
    OS << "report: " << Request.Output << '\n';
  if (!Request.Paths.empty())
    if (Error E = writePaths(*Run->Counted, Request.Paths, OS))
      return std::move(E);
  if (Run->End.status() == 0 &&
      sayWhatHolds(Request.FailIf, *Run->Counted, Cost, OS))
    return int(ExitCode::ConditionHolds);
  return Run->End.status();
}

} // namespace reconverge::driver
