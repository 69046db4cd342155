//===- driver/Optimize.cpp - Try, prove, keep -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   sources --build--> program --run, counting--> profile: which kernels are
//                         |                       worth a trial
//                         +----run, trying------> log of trials --decide-->
//                         |         ^                             decisions
//                         |         +-- again, without a candidate that ended
//                         it
//   sources, decisions --build--> the final program --run, beside the builds
//                                 of the unmodified program--> seconds
//
// The first run is the user's: its input and output pass through. All others
// get the same input again, their output is thrown away, and they leave the
// working folder as it is (Sandbox.cpp). Those with trials are expendable
// (TrialRuns.cpp).
//
// Where the first run was on a GPU, nvcc's and clang's code are candidates of
// every kernel, and the final program is what nvcc would have linked: NVIDIA's
// runtime and code for a GPU, nothing of ours. On the warp VM there are no
// times.
//
//===----------------------------------------------------------------------===//

#include "driver/Optimize.h"

#include "analysis/Costs.h"
#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/Trials.h"
#include "driver/Build.h"
#include "driver/Decide.h"
#include "driver/LoadHerding.h"
#include "driver/MachinePrices.h"
#include "driver/Nets.h"
#include "driver/OutputBuffers.h"
#include "driver/Plan.h"
#include "driver/Profile.h"
#include "driver/Progress.h"
#include "driver/QualityRuns.h"
#include "driver/QualitySearch.h"
#include "driver/Sandbox.h"
#include "driver/TrialRuns.h"
#include "driver/WholeTime.h"
#include "frontend/CompileUnit.h"
#include "model/Time.h"
#include "report/Decisions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::driver {

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Where the program's input comes from.
struct Input {
  std::string Copy;  ///< file to fill in the first run; empty: none
  std::string Later; ///< file for the runs after it
};

/// A file that nothing has read of can be read again. Of all else a copy is
/// kept while the program reads, and what it never asks for stays unread.
static Input inputOf(const Session &Program) {
  struct stat Status;
  if (fstat(STDIN_FILENO, &Status))
    return {"", "/dev/null"}; // closed
  if (S_ISREG(Status.st_mode) && !lseek(STDIN_FILENO, 0, SEEK_CUR))
    return {"", "/proc/self/fd/0"};
  const std::string File = Program.file("input");
  return {File, File};
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static DecisionFile decideAll(const Profile &Counted,
                              ArrayRef<HotKernel> Kernels,
                              ArrayRef<TrialRequest> Requests,
                              ArrayRef<TrialEvent> Events,
                              const DecideOptions &Options) {
  DecisionFile File;
  File.Program = Counted.Program;
  File.Arguments = Counted.Arguments;
  File.Device = Counted.Device;
  File.Notes = Counted.Notes;
  for (auto [K, R] : zip(Kernels, Requests)) {
    Decision &D = File.Kernels.emplace_back(
        decide(R, K.Counted->Info.Display, Events, Options));
    if (R.Candidates.empty())
      D.Why = K.LeftOut.empty() ? "hardly any divergence"
                                : "no remedy is worth a trial";
    D.Tried.insert(D.Tried.end(), K.LeftOut.begin(), K.LeftOut.end());
    for (TrialResult &T : D.Tried)
      if (const Forecast *F = forecastOf(K, T.What)) {
        T.Forecasted = F->Speedup;
        T.ForecastLow = F->Low;
        T.ForecastHigh = F->High;
      }
  }
  return File;
}

/// Whether NVIDIA's runtime can run all of the program: no input that is only
/// linked has our containers.
static Expected<bool> isForNvidia(const BuildRequest &Request) {
  for (auto [Input, Kind] : zip(Request.Inputs, Request.Kinds)) {
    if (Kind != frontend::InputKind::LinkerInput &&
        Kind != frontend::InputKind::Other)
      continue;
    Expected<bool> Holds = frontend::holdsContainer(Input);
    if (!Holds || *Holds)
      return Holds ? Expected<bool>(false) : Holds.takeError();
  }
  return true;
}

/// "1 kernel", "3 kernels".
static std::string counted(size_t N, StringRef What) {
  return (Twine(N) + " " + What + (N == 1 ? "" : "s")).str();
}

/// Makes \p How build a program by the decisions in the file \p Decisions: for
/// NVIDIA's runtime where there is a GPU, unless an input needs ours.
static Error decideBuild(BuildRequest &How, StringRef Decisions, bool OnGpu) {
  How.Decisions = Decisions.str();
  if (!OnGpu)
    return Error::success();
  Expected<bool> Plain = isForNvidia(How);
  if (!Plain)
    return Plain.takeError();
  if (*Plain)
    useRuntime(How, frontend::CudaRuntime::Nvidia);
  else
    How.Compile.Gpu = true;
  return Error::success();
}

/// Writes what all trials showed to \p Path, if it is not empty, with times on
/// the GPU of \p Machine.
static Error keepLog(std::vector<TrialEvent> Events, StringRef Path,
                     const analysis::MachineModel &Machine) {
  if (Path.empty())
    return Error::success();
  for (TrialEvent &E : Events) {
    E.OriginalTime = model::timeOf(E.Original, *Machine.limits());
    E.VariantTime = model::timeOf(E.Variant, *Machine.limits());
  }
  return writeFileAtomically(Path, [&](raw_ostream &OS) {
    for (const TrialEvent &E : Events)
      printTrialEvent(E, OS);
  });
}

namespace {
/// One program from its first run to its last.
class Optimizer {
public:
  Optimizer(const OptimizeRequest &Request, const Session &Program,
            Progress &Now, raw_ostream &OS)
      : Request(Request), Program(Program), Now(Now), OS(OS),
        Box(Program.folder(), Request.Sandboxed, Request.letsChange()) {}

  Expected<int> run();

private:
  Error leaveAlone(const Profile &Counted);
  Error tryAndKeep(CountedRun &First);
  Expected<std::vector<TrialEvent>> tryAll(TrialPlan &Plan, RunMode How);
  Error decideBuildForRuns(BuildRequest &How, StringRef Decisions);
  Expected<std::string> unmodified();
  Error search(const QualityRuns &Runs, ArrayRef<HotKernel> Kernels,
               const TrialPlan &Plan, const DecideOptions &Options,
               DecisionFile &Decisions);
  Error buildFinal(DecisionFile &Decisions);
  void sayWhereItIs();

  const OptimizeRequest &Request;
  const Session &Program;
  Progress &Now;
  raw_ostream &OS;
  const Sandbox Box;
  OutputBuffers Buffers; ///< that --quality asks for
  RunMode Mode;          ///< of all runs but the first
  bool OnGpu = false;    ///< that one was
  double Once = 0;       ///< that the first run took, seconds
  double Spent = 0;      ///< by trials, seconds
};
} // namespace

void Optimizer::sayWhereItIs() {
  if (Request.Quiet)
    return;
  OS << "decisions: " << Request.Decisions << '\n';
  if (!Request.Program.empty())
    OS << "program: " << Request.Program << '\n';
}

/// Builds Request.Program as \p Decisions, which is in its file, says.
Error Optimizer::buildFinal(DecisionFile &Decisions) {
  BuildRequest Final = Request.Build;
  Final.Output = Request.Program;
  Final.Diagnostics = &OS;
  Now.stage("building " + Request.Program);
  Now.follow(Final);
  if (Error E = decideBuild(Final, Request.Decisions, OnGpu))
    return E;
  const bool IsPlain = Final.Compile.Runtime == frontend::CudaRuntime::Nvidia;
  if (OnGpu && !IsPlain)
    OS << "reconverge: note: an input was compiled for our runtime, so the "
          "program needs it\n";
  if (Error E = build(Final))
    return E;
  if (!OnGpu || !IsPlain || frontend::interruption() || !Request.Whole)
    return Error::success();
  Now.stage("timing " + Request.Program + " beside the unmodified program");
  if (Error E = timeWhole(Final, Program, Mode, Decisions, OS))
    return E;
  return writeDecisions(Decisions, Request.Decisions);
}

/// The runs with trials of \p Plan, in which programs run as \p How says.
Expected<std::vector<TrialEvent>> Optimizer::tryAll(TrialPlan &Plan,
                                                    RunMode How) {
  How.Trials = Program.file("trials.json");
  Plan.Log = Program.file("trials.log");
  const double Most = double(Request.TimeLimit), Usual = How.TimeLimit;
  size_t Candidates = 0, Kernels = 0;
  for (const TrialRequest &R : Plan.Kernels) {
    Candidates += R.Candidates.size();
    Kernels += !R.Candidates.empty();
  }
  if (Candidates)
    Now.stage("trying " + counted(Candidates, "candidate") + " on " +
              counted(Kernels, "kernel"));
  auto Left = [&] { return Most - Spent; };
  How.Meanwhile = [&] { Now.update([&] { return doneOf(Plan); }); };
  return runTrials(
      Plan,
      [&](TrialPlan This) -> Expected<frontend::ProcessResult> {
        if (Request.TimeLimit) { // of which the program itself takes some
          This.IsHurried = true;
          This.Seconds = std::max(Left() - Once, Left() / 4);
          How.TimeLimit = std::clamp(Left(), 0.1, Usual);
        }
        if (Error E = writeTrialPlan(This, How.Trials))
          return std::move(E);
        auto Result = Program.run(How);
        Now.clear();
        if (Result)
          Spent += Result->Seconds;
        return Result;
      },
      OS, [&] { return Request.TimeLimit && Left() <= 0; });
}

/// As decideBuild, for a program whose outputs are looked at: of buffers our
/// runtime tells, which the code, that of the final program, runs over as well.
Error Optimizer::decideBuildForRuns(BuildRequest &How, StringRef Decisions) {
  Error E = decideBuild(How, Decisions, OnGpu);
  if (!E && !Buffers.empty())
    How.Link.Runtime = frontend::CudaRuntime::Ours;
  return E;
}

/// The program as it is, for runs without trials: on a GPU, the session's has
/// code for those alone.
Expected<std::string> Optimizer::unmodified() {
  if (!OnGpu)
    return Program.program();
  BuildRequest How = Request.Build;
  How.Output = Program.file("unmodified");
  if (Error E = decideBuildForRuns(How, ""))
    return std::move(E);
  if (Error E = build(How))
    return std::move(E);
  return How.Output;
}

/// Has the program's outputs decide which candidates that change results are
/// kept: \p Decisions gets them.
Error Optimizer::search(const QualityRuns &Runs, ArrayRef<HotKernel> Kernels,
                        const TrialPlan &Plan, const DecideOptions &Options,
                        DecisionFile &Decisions) {
  auto Try = [&](TrialPlan This, size_t Input) {
    RunMode How = Mode;
    How.Arguments = &Runs.arguments()[Input];
    How.TimeLimit = limitFor(This, Runs.seconds(Input), OnGpu);
    return tryAll(This, How);
  };
  auto Build = [&](const DecisionFile &By,
                   size_t Set) -> Expected<std::string> {
    Now.stage("building and running set " + Twine(Set));
    const std::string File = Program.file("set.json");
    if (Error E = writeDecisions(By, File))
      return std::move(E);
    BuildRequest How = Request.Build;
    How.Output = Program.file("set-" + Twine(Set));
    if (Error E = decideBuildForRuns(How, File))
      return std::move(E);
    if (Error E = build(How))
      return std::move(E);
    return How.Output;
  };
  return searchByQuality(Kernels, Plan, Runs, Request.Quality, Options,
                         {Try, Build}, Decisions);
}

/// No kernel ran: there is nothing to decide, and the program is built as it
/// is.
Error Optimizer::leaveAlone(const Profile &Counted) {
  OS << "reconverge: note: " << Request.Build.Inputs.front()
     << ": no kernel ran; nothing was tried\n";
  for (const auto *Reasons : {&Counted.Refused, &Counted.Notes})
    for (const std::string &Why : *Reasons)
      OS << "  " << Why << '\n';
  if (Request.Program.empty() || frontend::interruption())
    return Error::success();
  BuildRequest Final = Request.Build;
  Final.Output = Request.Program;
  Now.stage("building " + Request.Program);
  return build(Final);
}

/// All but the first run.
Error Optimizer::tryAndKeep(CountedRun &First) {
  Profile &Counted = *First.Counted;
  Once = First.End.Seconds;
  const analysis::MachineLimits *Limits = limitsFor(Counted, First.Machine);
  std::vector<HotKernel> Kernels =
      byHeat(Counted, Program.program(), Limits, Request.Build.CudaPath);
  if (!Request.Nets.empty())
    if (Error E = addNets(Kernels, Request.Nets, Box))
      return E;
  if (OnGpu && !Session::isProgram(Request.Build))
    Now.stage("compiling it by nvcc and clang, to compare");
  auto Plan = planFor(Request, Program, OnGpu, Kernels, OS);
  if (!Plan)
    return Plan.takeError();
  if (frontend::interruption())
    return Error::success();

  std::optional<QualityRuns> Runs;
  if (Request.letsChange()) {
    Now.stage("running the unmodified program on all inputs");
    auto Unmodified = unmodified();
    if (!Unmodified)
      return Unmodified.takeError();
    if (Error E =
            QualityRuns::create(Request, Program, Buffers, *Unmodified, Mode)
                .moveInto(Runs))
      return E;
    if (frontend::interruption())
      return Error::success();
  }
  if (any_of(Plan->Kernels,
             [](const TrialRequest &R) { return !R.Candidates.empty(); }))
    Now.stage(Box.words());
  RunMode Trying = Mode;
  Trying.TimeLimit = limitFor(*Plan, Once, OnGpu);
  auto Events = tryAll(*Plan, Trying);
  if (!Events)
    return Events.takeError();
  if (frontend::interruption())
    return Error::success();

  if (Error E = keepLog(*Events, Request.Log, First.Machine))
    return E;

  DecideOptions Options;
  if (Limits)
    Options.Limits = *Limits;
  else
    Counted.Notes.push_back(
        "what is predicted compares issue slots: " +
        (OnGpu ? "there is no machine file of " + Counted.Device
               : "the machine file has no limits of a GPU"));
  Options.AllowReorder = Request.AllowReorder;
  Options.AllowRounding = Request.AllowRounding;
  Options.ByOutputs = Plan->ByOutputs;
  Options.NeedsTimes = OnGpu;
  DecisionFile Decisions =
      decideAll(Counted, Kernels, Plan->Kernels, *Events, Options);
  std::vector<std::string> OfLoads;
  if (Runs) {
    if (Error E = search(*Runs, Kernels, *Plan, Options, Decisions))
      return E;
    OfLoads = foreseeLoads(Kernels, Program.program());
    append_range(Decisions.Notes, OfLoads);
  } else if (!Request.Quality.empty()) {
    Decisions.Search.emplace().Verdict =
        "none: a bound of 0 lets nothing change";
  }
  if (frontend::interruption())
    return Error::success();
  if (Error E = writeDecisions(Decisions, Request.Decisions))
    return E;
  // Before the build: where that fails, what was tried is still worth showing.
  report::printDecisions(Decisions, OS, terminalFor(OS));
  if (Decisions.Search)
    report::printSearch(*Decisions.Search, OS, terminalFor(OS));
  for (const std::string &Text : OfLoads)
    OS << "reconverge: note: " << Text << '\n';
  if (Request.Program.empty()) {
    sayWhereItIs();
    return Error::success();
  }
  Mode.TimeLimit = 60 + 10 * Once;
  if (Error E = buildFinal(Decisions))
    return E;
  report::printWhole(Decisions.Whole, OS, terminalFor(OS));
  if (!frontend::interruption())
    sayWhereItIs();
  return Error::success();
}

/// The whole, but for what a signal leaves.
Expected<int> Optimizer::run() {
  if (Error E = Request.letsChange() ? Box.checkRead() : Error::success())
    return std::move(E);
  if (Error E = OutputBuffers::find(Request.Quality, Program.program(),
                                    Program.folder())
                    .moveInto(Buffers))
    return std::move(E);
  const Input In = inputOf(Program);
  RunMode FirstMode;
  FirstMode.IsExpendable = true;
  FirstMode.InputCopy = In.Copy;
  Now.stage("running the program");
  auto First = countRun(Request, Program, Now, FirstMode);
  if (!First)
    return First.takeError();
  if (!First->End.ok() || !First->Counted) {
    const int Status = First->End.status();
    if (!frontend::interruption())
      OS << "reconverge: note: " << Request.Build.Inputs.front() << ' '
         << endOf(First->End) << "; nothing was tried\n"
         << exitCodeHint(First->End);
    return Status ? Status : int(ExitCode::ProgramFailed);
  }
  OnGpu = First->Counted->Backend == "gpu";
  // Forecasts are as good as the prices of blocks. Where there is a GPU to
  // count, ptxas is there, and trials are priced by it as well.
  if (OnGpu && First->Machine.hasOpcodes())
    if (Error E = priceByPtxas(*First->Counted, Program.program(),
                               Request.Build.CudaPath, First->Machine))
      First->Counted->Notes.push_back("priced by the IR: " +
                                      toString(std::move(E)));
  Mode.IsExpendable = true;
  Mode.Input = In.Later;
  Mode.Output = "/dev/null";
  Mode.Errors = "/dev/null";
  Mode.Box = &Box;
  Mode.Meanwhile = [this] { Now.goesOn(); };
  // "auto" would take a program without machine code for one of the VM's.
  if (Request.Device == "auto")
    Mode.Device = OnGpu ? "gpu" : "cpu";
  if (Error E = First->Counted->Kernels.empty() ? leaveAlone(*First->Counted)
                                                : tryAndKeep(*First))
    return std::move(E);
  return 0;
}

static Expected<int> optimizeWhole(const OptimizeRequest &Request,
                                   raw_ostream &OS) {
  for (const std::string &Output :
       {Request.Program, Request.Decisions, Request.Log})
    if (Error E = checkOutput(Output))
      return std::move(E);
  Progress Now(OS, Request);
  if (!Session::isProgram(Request.Build))
    Now.stage("building " + join(Request.Build.Inputs, " "));
  RunRequest ToTry = Request;
  ToTry.Build.LeaveLaunches = true;
  for (std::string *Settings : {&ToTry.Vm, &ToTry.Gpu})
    *Settings += Settings->empty() ? "features=on" : ",features=on";
  auto Program = Session::create(ToTry, Now);
  if (!Program)
    return Program.takeError();
  return Optimizer(Request, *Program, Now, OS).run();
}

Expected<int> optimize(const OptimizeRequest &Request, raw_ostream &OS) {
  return orInterrupted(optimizeWhole(Request, OS), OS);
}

} // namespace reconverge::driver
