//===- driver/Optimize.cpp - Try, prove, keep -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   sources --build--> program --run, counting--> profile: which kernels are
//                         |                       worth a trial
//                         +----run, trying------> log of trials --decide-->
//                         |         ^                             decisions
//                         |         +-- again, without a candidate that ended
//                         it
//   sources, decisions --build--> the final program
//
// The first run is the user's: its input and output pass through. Runs with
// trials get the same input again and their output is thrown away. They are
// expendable: a candidate that ends one, or hangs, is struck off, and what the
// others still have to show is tried in the next.
//
//===----------------------------------------------------------------------===//

#include "driver/Optimize.h"

#include "core/ContainerIO.h"
#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/Trials.h"
#include "driver/Build.h"
#include "driver/Decide.h"
#include "driver/Profile.h"
#include "frontend/DevicePipeline.h"
#include "model/Model.h"
#include "report/Decisions.h"
#include "transform/remedies/Remedies.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::driver {

/// Share of a kernel's issue slots that divergence must waste before a remedy
/// is tried on it.
static constexpr double LeastWaste = 0.005;

//===----------------------------------------------------------------------===//
// What to try
//===----------------------------------------------------------------------===//

namespace {
/// A kernel and what may be done about it.
struct HotKernel {
  const KernelProfile *Counted;
  double Slots;
  double Waste; ///< share of Slots
};
} // namespace

/// All kernels, hottest first.
static std::vector<HotKernel> byHeat(const Profile &P) {
  std::vector<HotKernel> Kernels;
  std::vector<KernelCost> Costs = model::costsOf(P);
  for (auto [K, C] : zip(P.Kernels, Costs)) {
    double Waste = 0;
    for (const BranchCost &B : C.Branches)
      Waste = std::max(Waste, B.Cost);
    Kernels.push_back({&K, C.Slots, Waste});
  }
  sort(Kernels, [](const HotKernel &A, const HotKernel &B) {
    return std::tuple(-A.Slots, A.Counted->Info.Name, A.Counted->Info.Module) <
           std::tuple(-B.Slots, B.Counted->Info.Name, B.Counted->Info.Module);
  });
  return Kernels;
}

static TrialRequest requestFor(const HotKernel &K) {
  TrialRequest R{K.Counted->Info.Name, K.Counted->Info.Module, {}};
  if (K.Waste >= LeastWaste)
    R.Candidates = transform::candidates();
  return R;
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

namespace {
/// The runs that try what \p Plan says, until no candidate ends one.
class TrialRuns {
public:
  TrialRuns(const Session &Program, TrialPlan Plan, RunMode Mode,
            raw_ostream &OS)
      : Program(Program), Plan(std::move(Plan)), Mode(std::move(Mode)), OS(OS) {
    this->Mode.Trials = Program.file("trials.json");
    this->Plan.Log = Program.file("trials.log");
  }

  /// Everything that all runs logged, and for each that a candidate ended, how.
  Expected<std::vector<TrialEvent>> run();

private:
  bool isAnythingLeft() const {
    return any_of(Plan.Kernels,
                  [](const TrialRequest &R) { return !R.Candidates.empty(); });
  }
  void strikeOff(const TrialEvent &Last);

  const Session &Program;
  TrialPlan Plan;
  RunMode Mode;
  raw_ostream &OS;
};
} // namespace

/// The next run tries neither this candidate nor, of this kernel, those that
/// came before it: they have ended or are known to.
void TrialRuns::strikeOff(const TrialEvent &Last) {
  for (TrialRequest &R : Plan.Kernels)
    if (R.Kernel == Last.Kernel && R.Module == Last.Module)
      erase(R.Candidates, Last.Tried);
}

Expected<std::vector<TrialEvent>> TrialRuns::run() {
  std::vector<TrialEvent> All;
  while (isAnythingLeft()) {
    (void)sys::fs::remove(Plan.Log);
    if (Error E = writeTrialPlan(Plan, Mode.Trials))
      return std::move(E);
    auto Ended = Program.run(Mode);
    if (!Ended)
      return Ended.takeError();
    std::vector<TrialEvent> Events;
    if (sys::fs::exists(Plan.Log))
      if (Error E = readTrialLog(Plan.Log).moveInto(Events))
        return std::move(E);
    const TrialEvent *Last = unfinishedTrial(Events);
    if (!Last) {
      if (!Ended->ok())
        OS << "reconverge: note: a run with trials " << endOf(*Ended) << '\n';
      append_range(All, Events);
      return All;
    }
    // What else this run showed is seen again in the next; how it ended is not.
    TrialEvent End = *Last;
    End.What = Ended->TimedOut ? TrialEvent::Hang : TrialEvent::Fault;
    End.Why = "the run with it " + endOf(*Ended);
    strikeOff(End);
    All.push_back(std::move(End));
  }
  return All;
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// What the program will read from standard input, in a file, so that each run
/// can read it. A terminal is not read: runs with trials find it at its end.
static Error keepInput(const std::string &Path, bool &Kept) {
  Kept = false;
  if (isatty(STDIN_FILENO) || fcntl(STDIN_FILENO, F_GETFD) < 0)
    return Error::success();
  auto Input = MemoryBuffer::getSTDIN();
  if (!Input)
    return userError("cannot read standard input: " +
                     Input.getError().message());
  Kept = true;
  return writeFileAtomically(
      Path, [&](raw_ostream &OS) { OS << (*Input)->getBuffer(); });
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static double secondsSince(std::chrono::steady_clock::time_point Start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
      .count();
}

static DecisionFile decideAll(const Profile &Counted,
                              ArrayRef<HotKernel> Kernels,
                              ArrayRef<TrialEvent> Events,
                              const DecideOptions &Options) {
  DecisionFile File;
  File.Program = Counted.Program;
  File.Arguments = Counted.Arguments;
  File.Device = Counted.Device;
  File.Notes = Counted.Notes;
  for (const HotKernel &K : Kernels) {
    const TrialRequest R = requestFor(K);
    File.Kernels.push_back(decide(R, K.Counted->Info.Display, Events, Options));
    if (R.Candidates.empty())
      File.Kernels.back().Why = "hardly any divergence";
  }
  return File;
}

Expected<int> optimize(const OptimizeRequest &Request, raw_ostream &OS) {
  for (const std::string &Output : {Request.Program, Request.Decisions})
    if (Error E = checkFolderOf(Output))
      return std::move(E);
  auto Program = Session::create(Request);
  if (!Program)
    return Program.takeError();
  RunMode Mode;
  bool HasInput = false;
  if (Error E = keepInput(Program->file("input"), HasInput))
    return std::move(E);
  if (HasInput)
    Mode.Input = Program->file("input");

  const auto Start = std::chrono::steady_clock::now();
  auto First = countRun(Request, *Program, Mode);
  if (!First)
    return First.takeError();
  if (!First->End.ok() || !First->Counted) {
    OS << "reconverge: note: " << Request.Build.Inputs.front() << ' '
       << endOf(First->End) << "; nothing was tried\n";
    return First->End.status();
  }
  const double Once = secondsSince(Start);
  const std::vector<HotKernel> Kernels = byHeat(*First->Counted);

  TrialPlan Plan;
  Plan.Launches = Request.Launches;
  for (const HotKernel &K : Kernels)
    Plan.Kernels.push_back(requestFor(K));
  if (!HasInput)
    Mode.Input = "/dev/null";
  Mode.Output = "/dev/null";
  Mode.Errors = "/dev/null";
  // Each tried launch runs once for each order and candidate.
  Mode.TimeLimit =
      60 + 10 * Once * double(2 + Plan.Orders + transform::candidates().size());
  auto Events = TrialRuns(*Program, Plan, Mode, OS).run();
  if (!Events)
    return Events.takeError();

  DecideOptions Options;
  Options.AllowReorder = Request.AllowReorder;
  const DecisionFile Decisions =
      decideAll(*First->Counted, Kernels, *Events, Options);
  if (Error E = writeDecisions(Decisions, Request.Decisions))
    return std::move(E);
  report::printDecisions(Decisions, OS, terminalFor(OS));
  if (Request.Program.empty())
    return 0;
  BuildRequest Final = Request.Build;
  Final.Output = Request.Program;
  Final.Decisions = Request.Decisions;
  Final.Diagnostics = &OS;
  if (Error E = build(Final))
    return std::move(E);
  return 0;
}

//===----------------------------------------------------------------------===//
// Building by decisions
//===----------------------------------------------------------------------===//

/// Applies to the kernels of \p M what \p File keeps for them.
static Error applyDecisions(Module &M, const DecisionFile &File,
                            raw_ostream *OS) {
  SmallVector<char, 0> Bitcode = frontend::writeBitcode(M);
  const std::string Hash = bitcodeHash({Bitcode.data(), Bitcode.size()});
  for (const Decision &D : File.Kernels) {
    Function *F = M.getFunction(D.Kernel);
    if (!F || F->isDeclaration() || !D.Keep.changesCode())
      continue;
    if (D.Module != Hash) {
      if (OS)
        *OS << "reconverge: note: " << D.Display
            << " has changed since it was decided on; it is left as it is\n";
      continue;
    }
    auto Result = transform::apply(D.Keep, *F);
    if (!Result)
      return Result.takeError();
    if (!Result->Changed)
      return internalError(D.Keep.text() + " does nothing to " + D.Display +
                           " any more");
  }
  return Error::success();
}

Error requestDecisions(BuildRequest &Request) {
  if (Request.Decisions.empty())
    return Error::success();
  auto File = readDecisions(Request.Decisions);
  if (!File)
    return File.takeError();
  Request.Compile.Transform = [File = std::move(*File),
                               OS = Request.Diagnostics](Module &M) {
    return applyDecisions(M, File, OS);
  };
  return Error::success();
}

} // namespace reconverge::driver
