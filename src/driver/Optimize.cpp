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
// get the same input again and their output is thrown away. Those with trials
// are expendable (TrialRuns.cpp).
//
// Where the first run was on a GPU, nvcc's and clang's code are candidates of
// every kernel, and the final program is what nvcc would have linked: NVIDIA's
// runtime and code for a GPU, nothing of ours. On the warp VM there are no
// times.
//
//===----------------------------------------------------------------------===//

#include "driver/Optimize.h"

#include "analysis/Numbering.h"
#include "core/ContainerIO.h"
#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/Trials.h"
#include "driver/Build.h"
#include "driver/Decide.h"
#include "driver/ForeignImages.h"
#include "driver/Profile.h"
#include "driver/TrialRuns.h"
#include "driver/WholeTime.h"
#include "frontend/CompileUnit.h"
#include "frontend/DevicePipeline.h"
#include "frontend/ForeignCode.h"
#include "frontend/Remedied.h"
#include "model/Model.h"
#include "report/Decisions.h"
#include "transform/remedies/Remedies.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::driver {

/// Share of a kernel's issue slots that divergence must waste before a remedy
/// is tried on it.
static constexpr double LeastWaste = 0.005;
/// Share of a branch's warps that must split for melding to look at it.
static constexpr double LeastSplits = 0.02;

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
  const RunCost Run = model::costOf(P);
  for (auto [K, C] : zip(P.Kernels, Run.Kernels)) {
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

/// For melding: the branches with two sides that hardly split warps, which it
/// is to leave alone.
static std::string skippedBy(const KernelProfile &K) {
  std::string Text;
  for (auto [Info, Counts] : zip(K.Info.Branches, K.Branches))
    if ((Info.Kind == BranchKind::IfElse || Info.Kind == BranchKind::Switch) &&
        double(Counts.Splits) < LeastSplits * double(Counts.Warps))
      Text += (Text.empty() ? "skip=" : ";skip=") + std::to_string(Info.Id);
  return Text;
}

/// For remapping: the shared memory that launches add to the kernel's own.
static std::string sharedOf(const KernelProfile &K) {
  uint64_t Most = 0;
  for (const LaunchShape &S : K.Shapes)
    Most = std::max(Most, S.DynamicShared);
  return Most ? "shared=" + std::to_string(Most) : "";
}

/// Others' code where there is any, and the remedies where they can gain.
static TrialRequest requestFor(const HotKernel &K,
                               ArrayRef<ForeignImage> Images) {
  TrialRequest R{
      K.Counted->Info.Name, K.Counted->Info.Module, {}, K.Counted->Launches};
  for (ForeignCompiler By : ForeignCompilers)
    if (any_of(Images, [&](const ForeignImage &I) {
          return I.By == By && I.Module == R.Module;
        }))
      R.Candidates.push_back({nameOf(By), ""});
  if (K.Waste < LeastWaste)
    return R;
  const std::string Skipped = skippedBy(*K.Counted),
                    Shared = sharedOf(*K.Counted);
  for (Candidate &C : transform::candidates()) {
    const std::string Seen = C.Remedy == "meld"    ? Skipped
                             : C.Remedy == "remap" ? Shared
                                                   : "";
    if (!Seen.empty())
      C.Parameters += (C.Parameters.empty() ? "" : ";") + Seen;
    R.Candidates.push_back(std::move(C));
  }
  return R;
}

/// What to try, all but where to log it.
static Expected<TrialPlan> planFor(const OptimizeRequest &Request,
                                   const Session &Program, bool OnGpu,
                                   ArrayRef<HotKernel> Kernels,
                                   raw_ostream &OS) {
  TrialPlan Plan;
  Plan.Launches = Request.Launches;
  StringSet<> Modules;
  for (const HotKernel &K : Kernels)
    Modules.insert(K.Counted->Info.Module);
  if (OnGpu)
    if (Error E = foreignImages(Request.Build, Modules, Program.folder(), OS)
                      .moveInto(Plan.Images))
      return std::move(E);
  for (const HotKernel &K : Kernels)
    Plan.Kernels.push_back(requestFor(K, Plan.Images));
  return Plan;
}

/// Seconds that one run by \p Plan may take, if one without took \p Once: each
/// tried launch runs once for each order and candidate; on a GPU, candidates
/// are compiled and timed as well.
static double limitFor(const TrialPlan &Plan, double Once, bool OnGpu) {
  size_t Candidates = 0;
  for (const TrialRequest &R : Plan.Kernels)
    Candidates += R.Candidates.size();
  const double Again = double(2 + Plan.Orders + transform::candidates().size());
  return 60 + 10 * Once * Again +
         (OnGpu ? 2 * Plan.Seconds + 10 * double(Candidates) : 0);
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
    File.Kernels.push_back(decide(R, K.Counted->Info.Display, Events, Options));
    if (R.Candidates.empty())
      File.Kernels.back().Why = "hardly any divergence";
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

/// Builds Request.Program as \p Decisions, which is in its file, says.
static Error buildFinal(const OptimizeRequest &Request, const Session &Program,
                        const RunMode &Mode, bool OnGpu,
                        DecisionFile &Decisions, raw_ostream &OS) {
  BuildRequest Final = Request.Build;
  Final.Output = Request.Program;
  Final.Decisions = Request.Decisions;
  Final.Diagnostics = &OS;
  if (!OnGpu)
    return build(Final);
  Expected<bool> Plain = isForNvidia(Request.Build);
  if (!Plain)
    return Plain.takeError();
  if (!*Plain) {
    OS << "reconverge: note: an input was compiled for our runtime, so the "
          "program needs it\n";
    Final.Compile.Gpu = true;
    return build(Final);
  }
  useRuntime(Final, frontend::CudaRuntime::Nvidia);
  if (Error E = build(Final))
    return E;
  if (frontend::interruption())
    return Error::success();
  if (Error E = timeWhole(Final, Program, Mode, Decisions, OS))
    return E;
  return writeDecisions(Decisions, Request.Decisions);
}

/// The whole, but for what a signal leaves.
static Expected<int> tryAndKeep(const OptimizeRequest &Request,
                                raw_ostream &OS) {
  for (const std::string &Output : {Request.Program, Request.Decisions})
    if (Error E = checkFolderOf(Output))
      return std::move(E);
  auto Program = Session::create(Request);
  if (!Program)
    return Program.takeError();
  RunMode Mode;
  Mode.IsExpendable = true;
  bool HasInput = false;
  if (Error E = keepInput(Program->file("input"), HasInput))
    return std::move(E);
  if (HasInput)
    Mode.Input = Program->file("input");

  auto First = countRun(Request, *Program, Mode);
  if (!First)
    return First.takeError();
  if (!First->End.ok() || !First->Counted) {
    if (!frontend::interruption())
      OS << "reconverge: note: " << Request.Build.Inputs.front() << ' '
         << endOf(First->End) << "; nothing was tried\n";
    return First->End.status();
  }
  if (Error E = checkAnyRan(*First->Counted, Request.Build.Inputs.front()))
    return std::move(E);
  const double Once = First->End.Seconds;
  const bool OnGpu = First->Counted->Backend == "gpu";
  const std::vector<HotKernel> Kernels = byHeat(*First->Counted);
  auto Plan = planFor(Request, *Program, OnGpu, Kernels, OS);
  if (!Plan)
    return Plan.takeError();
  if (frontend::interruption())
    return 0;

  if (!HasInput)
    Mode.Input = "/dev/null";
  Mode.Output = "/dev/null";
  Mode.Errors = "/dev/null";
  RunMode Trying = Mode;
  // "auto" would take a program without machine code for one of the VM's.
  if (Request.Device == "auto")
    Trying.Device = OnGpu ? "gpu" : "cpu";
  Trying.Trials = Program->file("trials.json");
  Trying.TimeLimit = limitFor(*Plan, Once, OnGpu);
  Plan->Log = Program->file("trials.log");
  auto Events = runTrials(
      *Plan,
      [&](const TrialPlan &Now) -> Expected<frontend::ProcessResult> {
        if (Error E = writeTrialPlan(Now, Trying.Trials))
          return std::move(E);
        return Program->run(Trying);
      },
      OS);
  if (!Events)
    return Events.takeError();
  if (frontend::interruption())
    return 0;

  DecideOptions Options;
  Options.AllowReorder = Request.AllowReorder;
  Options.NeedsTimes = OnGpu;
  DecisionFile Decisions =
      decideAll(*First->Counted, Kernels, Plan->Kernels, *Events, Options);
  if (Error E = writeDecisions(Decisions, Request.Decisions))
    return std::move(E);
  // Before the build: where that fails, what was tried is still worth showing.
  report::printDecisions(Decisions, OS, terminalFor(OS));
  if (Request.Program.empty() || frontend::interruption())
    return 0;
  Mode.TimeLimit = 60 + 10 * Once;
  Mode.Device = Trying.Device;
  if (Error E = buildFinal(Request, *Program, Mode, OnGpu, Decisions, OS))
    return std::move(E);
  report::printWhole(Decisions.Whole, OS, terminalFor(OS));
  return 0;
}

Expected<int> optimize(const OptimizeRequest &Request, raw_ostream &OS) {
  Expected<int> Status = tryAndKeep(Request, OS);
  const int Signal = frontend::interruption();
  if (!Signal)
    return Status;
  if (!Status) // what a tool said when the signal ended it, too
    consumeError(Status.takeError());
  OS << "reconverge: interrupted\n";
  return 128 + Signal;
}

//===----------------------------------------------------------------------===//
// Building by decisions
//===----------------------------------------------------------------------===//

/// Has other compilers make the code of some kernels, or, where two compilers'
/// code cannot be one module, leaves all to us.
static void leaveToOthers(Module &M,
                          const MapVector<Function *, ForeignCompiler> &Kernels,
                          raw_ostream *OS) {
  if (Kernels.empty())
    return;
  const bool IsMixed = any_of(M, [&](Function &F) {
    auto Own = Kernels.find(&F);
    return !F.isDeclaration() && analysis::isKernel(F) &&
           (Own == Kernels.end() || Own->second != Kernels.front().second);
  });
  const GlobalVariable *Apart =
      IsMixed ? frontend::unsharedVariable(M) : nullptr;
  if (!Apart) {
    for (auto [F, By] : Kernels)
      frontend::markFor(*F, By);
    return;
  }
  if (OS)
    *OS << "reconverge: note: " << M.getSourceFileName() << ": variable '"
        << demangle(Apart->getName())
        << "' is unknown to the host, so kernels by two compilers would not "
           "share it; where another's code was kept, ours is built\n";
}

/// The launches that a remedy is kept for: as large as those it was tried on.
static frontend::LaunchBounds boundsOf(const Decision &D) {
  frontend::LaunchBounds Bounds;
  for (const LaunchShape &S : D.Shapes) {
    Bounds.Threads = std::max(Bounds.Threads,
                              uint64_t(S.Block[0]) * S.Block[1] * S.Block[2]);
    Bounds.Shared = std::max(Bounds.Shared, S.DynamicShared);
  }
  return Bounds;
}

/// Applies to the kernels of \p M what \p File keeps for them.
static Error applyDecisions(Module &M, const DecisionFile &File,
                            raw_ostream *OS) {
  SmallVector<char, 0> Bitcode = frontend::writeBitcode(M);
  const std::string Hash = bitcodeHash({Bitcode.data(), Bitcode.size()});
  MapVector<Function *, ForeignCompiler> ForOthers;
  for (const Decision &D : File.Kernels) {
    Function *F = M.getFunction(D.Kernel);
    if (!F || F->isDeclaration() || D.Keep == Candidate())
      continue;
    if (D.Module != Hash) {
      if (OS)
        *OS << "reconverge: note: " << D.Display
            << " has changed since it was decided on; it is left as it is\n";
      continue;
    }
    if (std::optional<ForeignCompiler> By = D.Keep.foreign()) {
      ForOthers.insert({F, *By});
      continue;
    }
    auto Result =
        transform::apply(D.Keep, frontend::copyForRemedy(*F, boundsOf(D)));
    if (!Result)
      return Result.takeError();
    if (!Result->Changed)
      return internalError(D.Keep.text() + " does nothing to " + D.Display +
                           " any more");
  }
  leaveToOthers(M, ForOthers, OS);
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
