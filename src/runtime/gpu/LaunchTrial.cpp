//===- runtime/gpu/LaunchTrial.cpp - One launch, tried --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   wait for the device; before := memory
//   run the original as the program does; after := memory
//   run it once more from before, or four times if the result varies or there
//   are atomics: bytes that vary depend on the order of threads
//   each candidate:  memory := before; run it; compare every byte with after
//   rounds:          each of those that were right, and the original, timed
//                    (LaunchTimes.cpp)
//   memory := after
//
// So the program goes on as if nothing had been tried. The runs are:
//
// 1. Watched. A candidate that takes too long is logged as a hang; its process
//    ends, for nothing else ends a kernel.
// 2. Expendable. A fault poisons the context for good: it is logged, and the
//    process ends as well (TrialsEnded). The driver starts another without that
//    candidate. So does a call of ours that fails halfway.
//
// An error of the program's own launch is the program's: nothing is tried, and
// it sees what it would see without us.
//
// Of a sum of floats by atomics a handful of runs shows a part of the spread
// only, and a right candidate may well come out beside it. So where the order
// matters and a candidate differs, the original runs again, up to 40 times, and
// the candidate is given another go. What is wrong stays wrong.
//
// Memory := before writes the areas that some run has changed; the others are
// as they were, or the comparison would have told.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/LaunchTrial.h"

#include "analysis/Numbering.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/SlotCount.h"
#include "runtime/gpu/StackLimit.h"
#include "runtime/gpu/StreamGate.h"
#include "runtime/gpu/Watch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>

using namespace llvm;

namespace reconverge::gpu {

double LaunchTrial::now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static std::string textOf(cudaError_t E) {
  return (Twine(cudart().GetErrorName(E)) + ": " + cudart().GetErrorString(E))
      .str();
}

//===----------------------------------------------------------------------===//
// What is said
//===----------------------------------------------------------------------===//

void LaunchTrial::log(TrialEvent::Kind What, const CandidateCode &C,
                      const Twine &Why) {
  TrialEvent E = Event;
  E.What = What;
  E.Tried = C.What;
  E.Why = Why.str();
  In.Log->add(E);
}

void LaunchTrial::strikeOff(TrialEvent::Kind What, CandidateCode &C,
                            const Twine &Why) {
  C.StruckOff = true;
  log(What, C, Why);
}

void LaunchTrial::leaveUntried(const Twine &Why) {
  for (const CandidateCode &C : K.Candidates)
    if (!C.StruckOff)
      log(TrialEvent::Untried, C, Why);
}

void LaunchTrial::endRun() { _exit(TrialsEnded); }

void LaunchTrial::must(cudaError_t E) {
  if (!E)
    return;
  leaveUntried("a trial could not go on: " + textOf(E));
  endRun();
}

//===----------------------------------------------------------------------===//
// Before the original runs
//===----------------------------------------------------------------------===//

LaunchTrial::LaunchTrial(Trials &In, TriedKernel &K, const LaunchShape &Shape,
                         cudaStream_t Stream, LaunchFunction Launch)
    : In(In), K(K), Stream(Stream), Launch(Launch), Begin(now()),
      Limit(In.Settings.HangSeconds) {
  Event.Kernel = K.Code->getName().str();
  Event.Module = K.Home->Hash;
  Event.Launch = K.Choice.launches();
  Event.Shape = Shape;
}

LaunchTrial::~LaunchTrial() {
  for (cudaEvent_t E : {Start, Stop})
    if (E)
      (void)cudart().EventDestroy(E); // an error of it is no one's
  In.Spent += now() - Begin;
}

/// Why this launch is not tried; empty if it is.
std::string LaunchTrial::findHindrance() {
  const Cudart &C = cudart();
  if (!K.Untried.empty())
    return K.Untried;
  if (cudaError_t E = C.PeekAtLastError())
    return "the program has not read an earlier error yet: " + textOf(E);
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  if (In.Captures || C.StreamIsCapturing(Stream, &Status) != cudaSuccess ||
      Status != cudaStreamCaptureStatusNone) {
    (void)C.GetLastError(); // ours, of the question
    return "a stream is being captured into a graph";
  }
  if (!In.Memory.isOnOneDevice())
    return "the program has memory on more than one GPU";
  if (In.Spent >= In.Plan.Seconds)
    return ("trials have taken the " + Twine(uint64_t(In.Plan.Seconds)) +
            " s that they may take in a run")
        .str();
  return "";
}

Error LaunchTrial::prepare() {
  const Cudart &C = cudart();
  // Code is loaded now, and not while the original is timed.
  cudaFuncAttributes Loaded;
  if (cudaError_t E = C.FuncGetAttributes(&Loaded, K.Stub))
    return createStringError(textOf(E));
  if (Error E = In.Compare.load(In.Settings))
    return E;
  In.noteFirstUse();
  Areas = In.Memory.areas();
  append_range(Areas, In.Images.areas());
  Written.resize(unsigned(Areas.size()));
  size_t Free = 0, Total = 0;
  if (cudaError_t E = C.MemGetInfo(&Free, &Total))
    return createStringError(textOf(E));
  if (unexplained(Total - Free))
    Unknown =
        (Twine(unexplained(Total - Free) >> 20) +
         " MiB of device memory were not allocated by the program through "
         "the CUDA runtime and cannot be compared")
            .str();
  const uint64_t Budget = In.Plan.Budget ? In.Plan.Budget : Free / 3;
  if (2 * MemoryCopy::bytesFor(Areas) > Budget)
    return createStringError("copies of device memory would take more than " +
                             Twine(Budget >> 20) + " MiB");
  Before = std::make_unique<MemoryCopy>(Areas);
  After = std::make_unique<MemoryCopy>(Areas);
  if (cudaError_t E = After->reserve())
    return createStringError("copies of device memory: " + textOf(E));
  if (cudaError_t E = Before->take())
    return createStringError("copies of device memory: " + textOf(E));
  for (cudaEvent_t *E : {&Start, &Stop})
    if (cudaError_t Failed = C.EventCreate(E))
      return createStringError(textOf(Failed));
  return Error::success();
}

/// Of \p Used bytes of device memory.
uint64_t LaunchTrial::unexplained(uint64_t Used) {
  const Cudart &C = cudart();
  int Device = 0, Processors = 0, Threads = 0;
  if (C.GetDevice(&Device) ||
      C.DeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount,
                           Device) ||
      C.DeviceGetAttribute(&Threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                           Device))
    return 0;
  return unexplainedBytes(
      Used, In.UsedAtFirst, In.Memory.deviceBytes() + In.Images.variableBytes(),
      std::max(In.Images.localBytes(), RaisedStack::highest()) *
          uint64_t(Processors) * uint64_t(Threads));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LaunchTrial::End LaunchTrial::runCode(const void *Stub, bool Gated) {
  const Cudart &C = cudart();
  End E;
  const double From = now();
  std::optional<StreamGate> Gate;
  if (Gated)
    Gate.emplace(Stream);
  (void)C.EventRecord(Start, Stream); // what fails shows below
  E.Launched = Launch(Stub);
  if (E.Launched)
    return E;
  (void)C.EventRecord(Stop, Stream);
  Gate.reset();
  E.Ran = C.DeviceSynchronize();
  E.Seconds = now() - From;
  if (!E.Ran)
    E.Ran = C.EventElapsedTime(&E.Milliseconds, Start, Stop);
  return E;
}

LaunchTrial::End LaunchTrial::runAgain(CandidateCode *C, bool Gated,
                                       const void *Stub) {
  must(Before->restore(Written, Stream));
  if (C)
    must(copyVariables(*C, /*ToTheirs=*/true));
  Watch Patience(Limit, [this, C] {
    std::string Why;
    raw_string_ostream(Why)
        << "no end within " << format("%.3g", Limit) << " s";
    if (C)
      strikeOff(TrialEvent::Hang, *C, Why);
    else
      leaveUntried("the original, run again: " + Why);
    endRun();
  });
  return runCode(Stub ? Stub : C ? &C->Stub : K.Stub, Gated);
}

bool LaunchTrial::mayVary() const { return K.Atomics || Spread.bytes(); }

/// Runs the original \p Times more, in what orders the device chooses; once
/// only if nothing says that the order matters.
void LaunchTrial::runOriginal(unsigned Times) {
  for (unsigned I = 0; I != Times && Unknown.empty(); ++I) {
    if (I && !mayVary())
      break;
    ++Runs;
    const End E = runAgain(nullptr, /*Gated=*/false);
    must(E.Launched);
    must(E.Ran);
    Limit = std::max(Limit, 20 * E.Seconds);
    must(After->differences(In.Compare, [&](size_t Number, uint64_t Offset,
                                            ArrayRef<uint8_t> Natural,
                                            ArrayRef<uint8_t> Other) {
      Written.set(unsigned(Number));
      const Area &A = Areas[Number];
      Spread.add({A.Base, Offset, [&] { return A.Name; }}, Natural, Other);
      Unknown = runtime::whyUnstable(Spread, extent());
      return Unknown.empty() ? MemoryCopy::Next::Page : MemoryCopy::Next::Area;
    }));
  }
}

/// Seconds for each launch that is tried.
double LaunchTrial::share() const {
  return In.Plan.Seconds / double(std::max<uint64_t>(
                               In.Plan.Launches * In.Plan.Kernels.size(), 1));
}

uint64_t LaunchTrial::extent() const {
  uint64_t Sum = 0;
  for (const Area &A : Areas)
    Sum += A.Bytes;
  return Sum;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Why \p C has no code that can run here; empty if it has.
std::string LaunchTrial::whyNotLoaded(const CandidateCode &C) {
  const Cudart &Rt = cudart();
  if (!C.Refuse.empty())
    return C.Refuse;
  const std::optional<ForeignCompiler> By = C.What.foreign();
  const std::string Theirs = By ? nameOf(*By) + std::string("'s code") : "";
  std::string Why;
  cudaFuncAttributes Attributes;
  if (cudaError_t E = Rt.FuncGetAttributes(&Attributes, &C.Stub))
    Why = (By ? Theirs + " has no such kernel: "
              : "its code cannot be loaded: ") +
          textOf(E);
  for (const DeviceVariable &V : In.Images.variables(*K.Home)) {
    void *Address = nullptr;
    if (!By || !Why.empty() || !is_contained(K.Variables, V.Name))
      continue;
    if (V.Managed || Rt.GetSymbolAddress(&Address, &V.Twins[*By]))
      Why = Theirs + " has no variable '" + demangle(V.Name) +
            "' that ours can be copied to";
  }
  (void)Rt.GetLastError(); // ours; it was none when the trial began
  return Why;
}

/// What variables hold, from our code's to another compiler's if \p C is that,
/// or back.
cudaError_t LaunchTrial::copyVariables(const CandidateCode &C, bool ToTheirs) {
  const Cudart &Rt = cudart();
  const std::optional<ForeignCompiler> By = C.What.foreign();
  if (!By)
    return cudaSuccess;
  for (const DeviceVariable &V : In.Images.variables(*K.Home)) {
    void *Ours = nullptr, *Theirs = nullptr;
    if (V.Managed || (V.Constant && !ToTheirs))
      continue;
    if (Rt.GetSymbolAddress(&Theirs, &V.Twins[*By])) {
      (void)Rt.GetLastError(); // no kernel of theirs uses it
      continue;
    }
    if (cudaError_t E = Rt.GetSymbolAddress(&Ours, V.Symbol))
      return E;
    if (cudaError_t E =
            Rt.MemcpyAsync(ToTheirs ? Theirs : Ours, ToTheirs ? Ours : Theirs,
                           V.Bytes, cudaMemcpyDefault, Stream))
      return E;
  }
  return cudaSuccess;
}

/// Whether \p C ran to its end; logs it if it did not, and ends the run if the
/// device is lost.
bool LaunchTrial::endedWell(CandidateCode &C, const End &E) {
  if (!E.Launched && !E.Ran)
    return true;
  const Cudart &Rt = cudart();
  cudaError_t Fault = E.Ran;
  if (E.Launched) {
    (void)Rt.GetLastError();
    Fault = Rt.DeviceSynchronize();
    if (!Fault) {
      strikeOff(TrialEvent::Refused, C,
                "it cannot be launched: " + textOf(E.Launched));
      return false;
    }
  }
  strikeOff(Fault == cudaErrorLaunchTimeout ? TrialEvent::Hang
                                            : TrialEvent::Fault,
            C, textOf(Fault));
  endRun();
}

void LaunchTrial::tryOne(CandidateCode &C) {
  log(TrialEvent::Begin, C, "");
  TrialEvent E = Event;
  E.What = TrialEvent::End;
  E.Tried = C.What;
  const double From = now();
  for (;;) {
    if (!endedWell(C, runAgain(&C, /*Gated=*/false)))
      return;
    E.Compared = compare(C);
    constexpr unsigned MostRuns = 40, More = 8;
    if (E.Compared.Kind != VerdictKind::Differs || !mayVary() ||
        Runs >= MostRuns || now() - From > share())
      break;
    runOriginal(More);
  }
  if (E.Compared.Kind == VerdictKind::Identical ||
      E.Compared.Kind == VerdictKind::UpToOrder ||
      (E.Compared.First.Ulps && !C.What.changesCode())) {
    Right.push_back(&C);
    if (!Slots && C.Counting.Kernel)
      Slots = slotsOf(K.Counting, nullptr);
    if (Slots.value_or(0) > 0)
      E.VariantSlots = slotsOf(C.Counting, &C);
    if (E.VariantSlots > 0)
      E.OriginalSlots = *Slots;
  }
  In.Log->add(E);
}

/// Issue slots of \p Code, the original's or that of \p C; 0: not counted.
double LaunchTrial::slotsOf(const CountingCode &Code, CandidateCode *C) {
  const Cudart &Rt = cudart();
  if (!Code.Kernel)
    return 0;
  SlotCount Count(Code, Event.Shape, In.Settings.Blocks);
  if (Count.begin()) {
    (void)Rt.GetLastError(); // no memory left for it: no prediction
    return 0;
  }
  const End E = runAgain(C, /*Gated=*/false, &Code.Stub);
  if (E.Launched) { // probes take registers
    (void)Rt.GetLastError();
    return 0;
  }
  must(E.Ran);
  double Sum = 0;
  must(Count.end(Sum));
  return Sum;
}

/// Memory as \p C has left it with what the original left.
Verdict LaunchTrial::compare(const CandidateCode &C) {
  must(copyVariables(C, /*ToTheirs=*/false));
  must(cudart().DeviceSynchronize());
  runtime::Comparison Compared(*K.Code, Spread);
  must(After->differences(In.Compare, [&](size_t Number, uint64_t Offset,
                                          ArrayRef<uint8_t> Original,
                                          ArrayRef<uint8_t> Variant) {
    Written.set(unsigned(Number));
    const Area &A = Areas[Number];
    Compared.add({A.Base, Offset, [&] { return A.Name; }}, Original, Variant);
    return Compared.isSettled() ? MemoryCopy::Next::Area
                                : MemoryCopy::Next::Page;
  }));
  return Compared.verdict(extent(), Unknown);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

cudaError_t LaunchTrial::run(StringRef Given) {
  const Cudart &C = cudart();
  const std::string Why = Given.empty() ? findHindrance() : Given.str();
  if (!Why.empty()) {
    leaveUntried(Why);
    return Launch(K.Stub);
  }
  if (C.DeviceSynchronize()) // of an earlier launch; the program will see it
    return Launch(K.Stub);
  bool IsAnyLeft = false;
  for (CandidateCode &Candidate : K.Candidates) {
    if (Candidate.StruckOff)
      continue;
    if (std::string Refusal = whyNotLoaded(Candidate); !Refusal.empty())
      strikeOff(TrialEvent::Refused, Candidate, Refusal);
    else
      IsAnyLeft = true;
  }
  if (!IsAnyLeft)
    return Launch(K.Stub);
  if (Error E = prepare()) {
    leaveUntried(toString(std::move(E)));
    (void)C.GetLastError(); // ours: there was none before
    Before.reset();
    After.reset();
    return Launch(K.Stub);
  }
  // For candidates and copies with probes alike; the original has it too.
  const RaisedStack Room(addedToFrames(analysis::functionsOf(*K.Code)));
  const End Natural = runCode(K.Stub, /*Gated=*/false);
  if (Natural.Launched == cudaErrorMemoryAllocation) {
    // Our copies may take what its local memory needs.
    leaveUntried("there is no memory for it beside copies of all memory");
    (void)C.GetLastError();
    Before.reset();
    After.reset();
    return Launch(K.Stub);
  }
  if (Natural.Launched || Natural.Ran)
    return Natural.Launched;
  must(After->take());
  must(Before->differences(
      In.Compare,
      [&](size_t Number, uint64_t, ArrayRef<uint8_t>, ArrayRef<uint8_t>) {
        Written.set(unsigned(Number));
        return MemoryCopy::Next::Area;
      }));
  Limit = std::max(Limit, 20 * Natural.Seconds);
  runOriginal(std::max(In.Plan.Orders, 1u));
  for (CandidateCode &Candidate : K.Candidates)
    if (!Candidate.StruckOff)
      tryOne(Candidate);
  timeRounds();
  must(After->restore(Written, Stream));
  must(C.DeviceSynchronize());
  return Natural.Launched;
}

} // namespace reconverge::gpu
