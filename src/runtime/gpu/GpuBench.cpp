//===- runtime/gpu/GpuBench.cpp - One launch on a GPU, tried --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How trials (trial/Protocol.cpp) run code on a GPU. The runs are:
//
// 1. Watched. A candidate that takes too long is logged as a hang; the process
//    is ended, because a running kernel cannot be stopped in any other way.
// 2. Expendable. A fault makes the CUDA context unusable: the fault is logged
//    and the process ends as well (TrialsEnded). `reconverge` then runs the
//    program again without that candidate. If a CUDA call of the bench fails,
//    the candidates that are left are logged as untried and the process ends;
//    no candidate is blamed.
//
// The device chooses the order of threads; so the original runs more often
// where that matters, up to 40 times.
//
// restoreBefore() writes only the areas that some compared run has changed.
// Timed and counting runs are not compared; they are taken to change the same
// areas.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/GpuBench.h"

#include "analysis/Numbering.h"
#include "launch/CudaPlace.h"
#include "model/Demand.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/OutputCapture.h"
#include "runtime/gpu/StreamGate.h"
#include "runtime/gpu/UnreadError.h"
#include "runtime/gpu/Watch.h"
#include "runtime/trial/Protocol.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace llvm;
using reconverge::runtime::NextPage;
using reconverge::runtime::RunEnd;
using reconverge::runtime::RunOptions;
using reconverge::runtime::TriedCandidate;

namespace reconverge::gpu {

static std::string textOf(cudaError_t E) {
  return (Twine(cudart().GetErrorName(E)) + ": " + cudart().GetErrorString(E))
      .str();
}

void GpuBench::endRun() { _exit(TrialsEnded); }

void GpuBench::must(cudaError_t E) {
  if (!E)
    return;
  leaveUntried(*this, Log, "a trial could not go on: " + textOf(E));
  endRun();
}

void GpuBench::goOnAfter(const RunEnd &End) {
  if (End.How != RunEnd::Refused)
    endRun();
}

//===----------------------------------------------------------------------===//
// Before the original runs
//===----------------------------------------------------------------------===//

static TrialEvent commonOf(const GpuTriedKernel &K, const LaunchShape &Shape) {
  TrialEvent E;
  E.Kernel = K.Code->getName().str();
  E.Module = K.Home->Hash;
  E.Launch = K.Choice.launches();
  E.Shape = Shape;
  return E;
}

GpuBench::GpuBench(GpuTrials &In, GpuTriedKernel &K, const ProgramLaunch &L)
    : In(In), K(K), L(L), Log(*In.Log, commonOf(K, L.Shape)),
      Limit(In.Settings.HangSeconds) {}

GpuBench::~GpuBench() {
  for (cudaEvent_t E : {Start, Stop})
    if (E)
      (void)cudart().EventDestroy(E); // an error of it is no one's
  Side.destroy(launchCalls());
  In.Spent += Time.seconds();
}

/// Why this launch is not tried; empty if it is.
std::string GpuBench::findHindrance() {
  const Cudart &C = cudart();
  if (!K.Untried.empty())
    return K.Untried;
  if (cudaError_t E = setUnreadErrorAside())
    return "an earlier call has failed for good: " + textOf(E);
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  if (In.Captures || C.StreamIsCapturing(L.Stream, &Status) != cudaSuccess ||
      Status != cudaStreamCaptureStatusNone) {
    (void)C.GetLastError(); // ours, of the question
    return "a stream is being captured into a graph";
  }
  if (!In.Memory.isOnOneDevice())
    return "the program has memory on more than one GPU";
  if (In.Spent >= In.Plan.Seconds)
    return outOfTime(In.Plan.IsHurried, In.Built, In.Spent);
  return "";
}

Error GpuBench::takeBefore() {
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
    Unexplained =
        (Twine(unexplained(Total - Free) >> 20) +
         " MiB of device memory were taken since the program began, and not "
         "by it through the CUDA runtime: they cannot be compared. If another "
         "program on this GPU has taken them, try again without that")
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
uint64_t GpuBench::unexplained(uint64_t Used) {
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

/// Why \p C has no code that can run here; empty if it has.
std::string GpuBench::whyNotLoaded(const GpuCandidate &C) {
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

bool GpuBench::admit() {
  bool IsAnyLeft = false;
  for (GpuCandidate &C : K.Candidates) {
    if (C.StruckOff)
      continue;
    if (std::string Refusal = whyNotLoaded(C); !Refusal.empty())
      Log.strikeOff(TrialEvent::Refused, C, Refusal);
    else
      IsAnyLeft = true;
  }
  return IsAnyLeft;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t GpuBench::extent() const {
  uint64_t Sum = 0;
  for (const Area &A : Areas)
    Sum += A.Bytes;
  return Sum;
}

Error GpuBench::takeAfter() {
  must(After->take());
  must(Before->differences(
      In.Compare,
      [&](size_t Number, uint64_t, ArrayRef<uint8_t>, ArrayRef<uint8_t>) {
        Written.set(unsigned(Number));
        return MemoryCopy::Next::Area;
      }));
  return Error::success();
}

void GpuBench::restoreBefore() { must(Before->restore(Written, L.Stream)); }

void GpuBench::restoreAfter() {
  must(After->restore(Written, L.Stream));
  must(cudart().DeviceSynchronize());
  launch::trimPools(launchCalls()); // or the next trial could not explain it
}

void GpuBench::differences(runtime::PageVisitor Visit) {
  must(After->differences(In.Compare, [&](size_t Number, uint64_t Offset,
                                          ArrayRef<uint8_t> Original,
                                          ArrayRef<uint8_t> Now) {
    Written.set(unsigned(Number));
    const Area &A = Areas[Number];
    const NextPage Next =
        Visit({A.Base, Offset, [&] { return A.Name; }}, Original, Now);
    return Next == NextPage::Page ? MemoryCopy::Next::Page
                                  : MemoryCopy::Next::Area;
  }));
}

/// What variables hold, from our code's to another compiler's if \p C is that,
/// or back.
cudaError_t GpuBench::copyVariables(const GpuCandidate &C, bool ToTheirs) {
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
                           V.Bytes, cudaMemcpyDefault, L.Stream))
      return E;
  }
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

launch::CudaPlace GpuBench::placeOf(const GpuCandidate &C) {
  if (C.Launch->Ahead && !Side.Stream)
    (void)Side.create(launchCalls()); // or nothing runs beside the kernel
  return launch::CudaPlace(launchCalls(), *C.Launch, C.Handles.data(), L.Stream,
                           &Side);
}

/// Before a gate is closed, as it waits.
cudaError_t GpuBench::makeBefore(const GpuCandidate &C,
                                 launch::MadeBefore &Made, bool ForLater) {
  launch::CudaPlace On = placeOf(C);
  const auto End =
      launch::MadeBefore::make(Made, *C.Launch, L.Shape, L.Args, On, ForLater);
  if (!End)
    return cudaSuccess;
  const cudaError_t Launched = cudart().GetLastError();
  const cudaError_t Ran = cudart().DeviceSynchronize();
  if (!Ran)
    restoreBefore();
  return Ran || *End != launch::Ended::Failed ? Ran : Launched;
}

cudaError_t GpuBench::launchCandidate(const GpuCandidate &C,
                                      const launch::Steps &Which) {
  if (!C.Launch)
    return L.Launch(&C.Stub);
  if (!L.Args)
    return L.Launch(K.Stub);
  launch::CudaPlace On = placeOf(C);
  const launch::Ended End =
      launch::execute(*C.Launch, L.Shape, L.Args, On, Which);
  const cudaError_t Error = cudart().GetLastError(); // there was none before
  if (End == launch::Ended::Original)
    return L.Launch(K.Stub);
  return End == launch::Ended::Failed ? Error : cudaSuccess;
}

GpuBench::CudaEnd GpuBench::runCode(function_ref<cudaError_t()> Launch,
                                    bool Gated) {
  const Cudart &C = cudart();
  CudaEnd E;
  std::optional<OutputCapture> Output;
  if (K.MayPrint)
    Output.emplace();
  const runtime::Stopwatch Host;
  std::optional<StreamGate> Gate;
  if (Gated)
    Gate.emplace(L.Stream);
  (void)C.EventRecord(Start, L.Stream); // what fails shows below
  E.Launched = Launch();
  if (E.Launched)
    return E;
  (void)C.EventRecord(Stop, L.Stream);
  Gate.reset();
  E.Ran = C.DeviceSynchronize();
  E.Seconds = Host.seconds();
  if (!E.Ran)
    E.Ran = C.EventElapsedTime(&E.Milliseconds, Start, Stop);
  if (Output)
    E.Printed = Output->take();
  return E;
}

GpuBench::CudaEnd GpuBench::runWatched(GpuCandidate *C, bool Gated,
                                       const void *Stub, bool AsLater) {
  if (C)
    must(copyVariables(*C, /*ToTheirs=*/true));
  Watch Patience(Limit, [this, C] {
    std::string Why;
    raw_string_ostream(Why)
        << "no end within " << format("%.3g", Limit) << " s";
    if (C)
      Log.strikeOff(TrialEvent::Hang, *C, Why);
    else
      leaveUntried(*this, Log, "the original, run again: " + Why);
    endRun();
  });
  if (!C || Stub)
    return runCode([&] { return L.Launch(Stub ? Stub : K.Stub); }, Gated);
  launch::MadeBefore Made;
  if (C->Launch && L.Args)
    if (cudaError_t Failed = makeBefore(*C, Made, AsLater)) {
      CudaEnd End;
      End.Ran = Failed;
      return End;
    }
  const CudaEnd End =
      runCode([&] { return launchCandidate(*C, Made.steps()); }, Gated);
  if (C->Launch) {
    launch::CudaPlace On = placeOf(*C);
    Made.release(On);
  }
  return End;
}

/// How a candidate's run ended that CUDA says \p E of.
RunEnd GpuBench::endOf(const CudaEnd &E) {
  RunEnd End;
  End.Milliseconds = E.Milliseconds;
  End.Prints = !E.Printed.empty();
  if (!E.Launched && !E.Ran)
    return End;
  const Cudart &Rt = cudart();
  cudaError_t Fault = E.Ran;
  if (E.Launched) {
    (void)Rt.GetLastError();
    Fault = Rt.DeviceSynchronize();
  }
  if (!Fault) {
    End.How = RunEnd::Refused;
    End.Why = "it cannot be launched: " + textOf(E.Launched);
  } else {
    End.How = Fault == cudaErrorLaunchTimeout ? RunEnd::Hang : RunEnd::Fault;
    End.Why = textOf(Fault);
  }
  return End;
}

//===----------------------------------------------------------------------===//
// The original
//===----------------------------------------------------------------------===//

Expected<RunEnd> GpuBench::runNatural() {
  // For candidates and copies with probes alike; the original has it too.
  Room.emplace(addedToFrames(analysis::functionsOf(*K.Code)));
  const CudaEnd Natural =
      runCode([&] { return L.Launch(K.Stub); }, /*Gated=*/false);
  std::fwrite(Natural.Printed.data(), 1, Natural.Printed.size(), stdout);
  if (Natural.Launched == cudaErrorMemoryAllocation) {
    // Our copies may take what its local memory needs.
    runUntried();
    return createStringError(
        "there is no memory for it beside copies of all memory");
  }
  Result = Natural.Launched;
  Limit = std::max(Limit, 20 * Natural.Seconds);
  Shortest = Natural.Milliseconds;
  RunEnd End;
  End.Milliseconds = Natural.Milliseconds;
  End.Prints = !Natural.Printed.empty();
  if (Natural.Launched || Natural.Ran)
    End.How = RunEnd::Fault; // the program's own
  return End;
}

void GpuBench::runUntried() {
  (void)cudart().GetLastError(); // ours: there was none before
  Before.reset();
  After.reset();
  Result = L.Launch(K.Stub);
}

RunEnd GpuBench::runOriginal(const RunOptions &How) {
  const CudaEnd E =
      How.Timed ? runTimed(nullptr) : runWatched(nullptr, /*Gated=*/false);
  must(E.Launched);
  must(E.Ran);
  if (!How.Timed)
    Limit = std::max(Limit, 20 * E.Seconds);
  Shortest = std::min(Shortest, E.Milliseconds);
  RunEnd End;
  End.Milliseconds = E.Milliseconds;
  return End;
}

runtime::SpreadRule GpuBench::spread() const {
  return {std::max(In.Plan.Orders, 1u), /*Seeded=*/false};
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

SmallVector<TriedCandidate *> GpuBench::candidates() {
  SmallVector<TriedCandidate *> All;
  for (GpuCandidate &C : K.Candidates)
    All.push_back(&C);
  return All;
}

RunEnd GpuBench::run(TriedCandidate &Tried, const RunOptions &How) {
  auto &C = static_cast<GpuCandidate &>(Tried);
  RunEnd End = endOf(How.Timed ? runTimed(&C) : runWatched(&C, false));
  if (End.isWell() && !How.Timed) {
    must(copyVariables(C, /*ToTheirs=*/false));
    must(cudart().DeviceSynchronize());
  }
  return End;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

cudaError_t GpuBench::tryLaunch() {
  const std::string Why =
      L.Hindrance.empty() ? findHindrance() : L.Hindrance.str();
  if (!Why.empty()) {
    leaveUntried(*this, Log, Why);
    return L.Launch(K.Stub);
  }
  if (cudart().DeviceSynchronize()) // of an earlier launch; the program will
    return L.Launch(K.Stub);        // see it
  runtime::tryLaunch(*this, Log, In.Plan);
  return Result;
}

} // namespace reconverge::gpu
