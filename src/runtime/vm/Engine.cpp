//===- runtime/vm/Engine.cpp - The machine behind the calls ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that never launches a kernel pays for no machine. One that does:
//
//   launch -> machine, made at the first one -> counts into the collector
//          -> fault: said once on stderr, kept as the process's sticky error
//
// The profile is written when the process exits, by a handler that is
// registered as the backend is loaded: before any of the program's own exit
// handlers, hence run after them, so that launches from the program's static
// destructors still count. A process that ends by _exit or a signal leaves
// none, and the tool says so.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Engine.h"

#include "analysis/Names.h"
#include "core/Error.h"
#include "core/ProfileJson.h"
#include "runtime/profile/Process.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Findings.h"
#include "runtime/vm/Registry.h"
#include "warpvm/memory/DeviceMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// The device's clock
//===----------------------------------------------------------------------===//

/// Seconds for which the clock stood still.
static std::atomic<double> Stopped{0};

static double wallSeconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double deviceSeconds() {
  const ModelClock *Clock = Engine::get().modelClock();
  return Clock ? Clock->seconds() : wallSeconds() - Stopped.load();
}

StoppedClock::StoppedClock() : Begin(wallSeconds()) {}

StoppedClock::~StoppedClock() { Stopped.fetch_add(wallSeconds() - Begin); }

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

Engine &Engine::get() {
  static Engine &Only = *new Engine;
  return Only;
}

static void writeProfileAtExit() {
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  if (Error E = Engine::get().writeProfile())
    say("the profile was not written: " + toString(std::move(E)));
}

Error Engine::configure(BackendOptions NewOptions, MachineFactory NewMake) {
  Options = std::move(NewOptions);
  Options.Machine.ReadLate = !Options.needsCode();
  Make = std::move(NewMake);
  OwnProcess = getpid();
  if (!Options.Findings.empty()) {
    auto Log = FindingsLog::open(Options.Findings);
    if (!Log)
      return Log.takeError();
    FindingsLog::setCurrent(std::move(*Log));
    static const int Registered =
        std::atexit([] { FindingsLog::current()->end(); });
    (void)Registered; // a failure looks like a process that was killed
  }
  if (Options.Memory)
    warpvm::DeviceMemory::instance().setCapacity(Options.Memory);
  if (Options.Machine.Init && !warpvm::DeviceMemory::instance().trackWrites())
    return userError("RECONVERGE_VM: check=init needs as many addresses again "
                     "as device memory has, and the system has not that many",
                     "Allow the process more (ulimit -v), or leave init out.");
  if (!Options.needsCosts())
    return Error::success();
  Expected<analysis::MachineModel> Costs =
      analysis::MachineModel::load(Options.MachineFile);
  if (!Costs)
    return Costs.takeError();
  if (!Options.TrialPlan.empty())
    if (Error E = VmTrials::create(Options.TrialPlan, *Costs).moveInto(Tried))
      return E;
  if (Options.ModelClock) {
    if (!Costs->limits())
      return userError("RECONVERGE_VM: clock=model, and the machine file has "
                       "no limits",
                       "Let RECONVERGE_MACHINE name the file of a GPU.");
    Clock = std::make_unique<ModelClock>(*Costs);
  }
  if (Options.ProfilePath.empty())
    return Error::success();
  Counted = std::make_unique<Collector>(std::move(*Costs));
  Counted->writeOrders(Options.Orders);
  static const int Registered = std::atexit(writeProfileAtExit);
  (void)Registered; // a failure leaves no profile, which the tool reports
  return Error::success();
}

void Engine::reset() {
  Options = BackendOptions();
  Make = nullptr;
  TheMachine.reset();
  Counted.reset();
  Features = {};
  Tried.reset();
  Clock.reset();
  Refused.clear();
  Notes.clear();
  Overrunning.clear();
  SaidRaces.clear();
  Launched.clear();
}

Expected<warpvm::Machine *> Engine::machine() {
  if (!TheMachine) {
    assert(Make && "the backend is configured before the first launch");
    Expected<std::unique_ptr<warpvm::Machine>> New = Make(Options.Machine);
    if (!New)
      return New.takeError();
    TheMachine = std::move(*New);
  }
  return TheMachine.get();
}

static void keepOnce(std::vector<std::string> &List, const Twine &Text) {
  std::string Sentence = Text.str();
  if (!is_contained(List, Sentence))
    List.push_back(std::move(Sentence));
}

void Engine::refuse(const Twine &Why, StringRef Kernel) {
  sayUnsupported(Why, Kernel);
  if (Counted)
    keepOnce(Refused, Why);
}

void Engine::note(const Twine &What) {
  sayOnce(What);
  if (Counted)
    keepOnce(Notes, What);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static cudaError_t codeOf(warpvm::FaultKind Kind) {
  switch (Kind) {
  case warpvm::FaultKind::IllegalAddress:
    return cudaErrorIllegalAddress;
  case warpvm::FaultKind::Misaligned:
    return cudaErrorMisalignedAddress;
  case warpvm::FaultKind::Assert:
    return cudaErrorAssert;
  case warpvm::FaultKind::IllegalInstruction:
    return cudaErrorIllegalInstruction;
  case warpvm::FaultKind::Deadlock:
  case warpvm::FaultKind::StepLimit:
    return cudaErrorLaunchTimeout;
  case warpvm::FaultKind::OutOfMemory:
    return cudaErrorLaunchOutOfResources;
  case warpvm::FaultKind::BarrierDivergence:
  case warpvm::FaultKind::Trap:
    return cudaErrorLaunchFailure;
  }
  llvm_unreachable("a fault has a code");
}

/// Says of \p F, once, that it went past an allocation and was let go on.
void Engine::noteOverruns(const DeviceFunction &F) {
  const auto Past = warpvm::DeviceMemory::instance().closeSlack();
  if (Past.empty() || !Overrunning.insert(F.Name).second)
    return;
  if (FindingsLog *Log = FindingsLog::current()) {
    Finding Over;
    Over.Harmless = true;
    Over.Kernel = analysis::displayName(F.Name);
    Over.Text = "an access past the end of " + warpvm::nameOf(Past.front()) +
                ", which a GPU lets pass: its pages are larger; "
                "--check=bounds says where";
    return Log->add(std::move(Over));
  }
  note("kernel " + demangle(F.Name) + ": an access past the end of " +
       warpvm::nameOf(Past.front()) +
       ", which a GPU lets pass: its pages are larger. The kernel went on, "
       "in memory that is nobody's\n  profile --check says where; "
       "RECONVERGE_VM=guard=on makes it a fault.");
}

/// Says each of \p Found of which the places are new.
void Engine::noteRaces(const DeviceFunction &F, const RaceFindings &Found) {
  auto WholePath = [](const std::string &Path) { return Path; };
  RaceFindings &Said = SaidRaces[F.Name];
  for (const Race &R : Found.Races) {
    const size_t Before = Said.Races.size();
    RaceFindings One;
    One.Races.push_back(R);
    addTo(Said, std::move(One), /*Launch=*/0);
    if (Said.Races.size() == Before)
      continue;
    if (FindingsLog *Log = FindingsLog::current())
      Log->add(findingOf(R, analysis::displayName(F.Name)));
    else
      note("kernel " + demangle(F.Name) + ": a race: " + textOf(R, WholePath));
  }
}

/// Says what ended no launch, to a test or on stderr.
void Engine::noteFindings(std::vector<Finding> Found) {
  for (Finding &What : Found) {
    if (FindingsLog *Log = FindingsLog::current()) {
      Log->add(std::move(What));
      continue;
    }
    const FindingPlace &At = What.Places.front();
    auto Index = [](const std::array<uint32_t, 3> &I) {
      return ("(" + Twine(I[0]) + "," + Twine(I[1]) + "," + Twine(I[2]) + ")")
          .str();
    };
    note("kernel " + What.Kernel + ": " + What.Text + "\n  " +
         (At.Where.empty() ? std::string()
                           : "at " + At.Where.front().File + ":" +
                                 std::to_string(At.Where.front().Line) + ", ") +
         "in block " + Index(*At.Block) + ", thread " + Index(*At.Thread));
  }
}

cudaError_t Engine::launch(DeviceFunction &F, const LaunchShape &Shape,
                           void **Args, cudaStream_t Stream) {
  Expected<warpvm::Machine *> Machine = machine();
  if (!Machine) {
    refuse(toString(Machine.takeError()));
    return cudaErrorInitializationError;
  }
  std::unique_ptr<LaunchRecord> Record;
  LaunchCounts Counts;
  if (Counted)
    Record = Counted->begin(F.Code->function(), F.Home->Code->hash(), Shape,
                            Stream == cudaStreamLegacy ? nullptr : Stream);
  RaceFindings Races;
  std::vector<Finding> Noted;
  auto Natural = [&] {
    warpvm::LaunchOptions How;
    How.Counts = Options.Machine.Counters ? &Counts : nullptr;
    How.Observer = Record && Options.Vectors ? Record->observer() : nullptr;
    How.Races = Options.Races ? &Races : nullptr;
    How.Notes = &Noted;
    return (*Machine)->launch(*F.Code, Shape, Args, How);
  };
  FindingsLog *const Log = FindingsLog::current();
  if (Log)
    Log->launch(F.Name);
  const uint64_t Number = Record ? Record->number() : ++Launched[F.Name];
  OrderTrials Orders;
  const bool Shuffles = Options.Shuffle.Orders && isShuffledLaunch(Number);
  const RepeatedLaunch Again{**Machine, *F.Home->Code, *F.Code, Shape, Args};
  auto Run = [&]() -> Error {
    if (Tried)
      return Tried->launch(Again, Natural, Counts);
    if (Shuffles)
      return launchInAllOrders(
          Again, Number, Options.Shuffle, Natural,
          [&](const Twine &Why) { note(Why); }, Orders);
    return Natural();
  };
  if (Options.Features && Record && Record->sample())
    if (Error E = Features.read(Again, *Record->sample()))
      note("kernel " + demangle(F.Name) +
           ": no estimate of its threads: " + toString(std::move(E)));
  Error Failure = Run();
  noteOverruns(F);
  noteFindings(std::move(Noted));
  if (Log && (Orders.Differing || Orders.FaultyRuns))
    for (Finding &Found : findingsOf(Orders, analysis::displayName(F.Name)))
      Log->add(std::move(Found));
  if (!Failure) {
    if (Clock)
      Clock->add(F, Shape, Counts);
    if (Record) {
      Record->Orders = std::move(Orders);
      Record->Races = std::move(Races);
      Counted->finish(std::move(Record), Counts);
    } else {
      noteRaces(F, Races);
    }
    return cudaSuccess;
  }
  noteRaces(F, Races); // what a launch that failed counted is dropped
  return noteFailure(F, std::move(Failure));
}

/// Says the kernel's own fault, or the construct that the VM does not run, and
/// returns what the launch is to return.
cudaError_t Engine::noteFailure(const DeviceFunction &F, Error Failure) {
  FindingsLog *const Log = FindingsLog::current();
  const std::string Kernel = analysis::displayName(F.Name);
  cudaError_t Code = cudaErrorNotSupported;
  bool Fault = false;
  handleAllErrors(
      std::move(Failure),
      [&](const warpvm::FaultError &E) {
        Code = codeOf(E.kind());
        Fault = E.kind() != warpvm::FaultKind::OutOfMemory;
        if (!Fault)
          refuse(E.message(), Kernel);
        else if (Log)
          Log->add(findingOf(E, Kernel));
        else
          note(E.message());
      },
      [&](const ErrorInfoBase &E) { refuse(E.message(), Kernel); });
  if (!Fault)
    return Code;
  setStickyError(Code);
  recorded(Code);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// The profile
//===----------------------------------------------------------------------===//

Error Engine::writeProfile() {
  if (!Counted || getpid() != OwnProcess)
    return Error::success();
  Profile P = Counted->take();
  nameProgram(P);
  P.Backend = "vm";
  P.Device = DeviceName;
  if (TheMachine)
    P.Device += ", " + TheMachine->describe();
  P.Policy = policyName(Options);
  append_range(P.Notes, Notes);
  if (Options.Herd.any())
    P.Notes.push_back("warps were herded (" + P.Policy +
                      "): what the program computed is something else");
  append_range(P.Notes, *Options.Herd.Done);
  P.Refused = Refused;
  return reconverge::writeProfile(P, Options.ProfilePath);
}

} // namespace reconverge::runtime
