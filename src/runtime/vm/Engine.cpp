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

#include "core/Error.h"
#include "core/ProfileJson.h"
#include "runtime/profile/Process.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Errors.h"
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
  Make = std::move(NewMake);
  OwnProcess = getpid();
  if (Options.Memory)
    warpvm::DeviceMemory::instance().setCapacity(Options.Memory);
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

void Engine::refuse(const Twine &Why) {
  sayOnce(Why);
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
    if (Said.Races.size() != Before)
      note("kernel " + demangle(F.Name) + ": a race: " + textOf(R, WholePath));
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
  auto Natural = [&] {
    warpvm::LaunchOptions How;
    How.Counts = Options.Machine.Counters ? &Counts : nullptr;
    How.Observer = Record && Options.Vectors ? Record->observer() : nullptr;
    How.Races = Options.Races ? &Races : nullptr;
    return (*Machine)->launch(*F.Code, Shape, Args, How);
  };
  const bool Shuffles =
      Record && Options.Shuffle.Orders && isShuffledLaunch(Record->number());
  const RepeatedLaunch Again{**Machine, *F.Home->Code, *F.Code, Shape, Args};
  auto Run = [&]() -> Error {
    if (Tried)
      return Tried->launch(Again, Natural, Counts);
    if (Shuffles)
      return launchInAllOrders(
          Again, Record->number(), Options.Shuffle, Natural,
          [&](const Twine &Why) { note(Why); }, Record->Orders);
    return Natural();
  };
  if (Options.Features && Record && Record->sample())
    if (Error E = Features.read(Again, *Record->sample()))
      note("kernel " + demangle(F.Name) +
           ": no estimate of its threads: " + toString(std::move(E)));
  Error Failure = Run();
  noteOverruns(F);
  if (!Failure) {
    if (Clock)
      Clock->add(F, Shape, Counts);
    if (Record) {
      Record->Races = std::move(Races);
      Counted->finish(std::move(Record), Counts);
    } else {
      noteRaces(F, Races);
    }
    return cudaSuccess;
  }
  noteRaces(F, Races); // what a launch that failed counted is dropped
  // The kernel's own fault, or a construct that the VM does not run.
  cudaError_t Code = cudaErrorNotSupported;
  bool Fault = false;
  std::string Message;
  handleAllErrors(
      std::move(Failure),
      [&](const warpvm::FaultError &E) {
        Code = codeOf(E.kind());
        Fault = E.kind() != warpvm::FaultKind::OutOfMemory;
        Message = E.message();
      },
      [&](const ErrorInfoBase &E) { Message = E.message(); });
  if (!Fault) {
    refuse(Message);
    return Code;
  }
  note(Message);
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
