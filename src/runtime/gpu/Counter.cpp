//===- runtime/gpu/Counter.cpp - Launches that are counted ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the launch's own stream, so that no order of the program's changes:
//
//   cells = 0; areas = 0; config = where they are; event; launch; event;
//   cells, rows of sampled blocks and areas to the host; config = 0; wait
//
// Waiting makes launches run one after the other: counts are exact, times are
// those of a kernel alone on the device. A kernel that waits for something that
// the host does after the launch waits for ever.
//
// Of a large grid a sample of its thread blocks counts (BlockSample.h), and the
// sums are scaled to the grid. The profile notes of which kernels. Accesses to
// memory are counted in few of these (MemoryCount.cpp), not scaled, and in as
// few launches as block vectors: the first three, then at powers of two.
//
// A launch into a stream that is being captured runs later and perhaps often,
// when the graph is launched. It is left alone, and named: with the config all
// zero a kernel counts nothing.
//
// What the launch itself returns is the program's to see. An error of the
// kernel shows when we wait; the program's next call will have it too, so it is
// not reported by us.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Counter.h"

#include "core/ProfileJson.h"
#include "instrument/Decode.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/Hardware.h"
#include "runtime/gpu/StackLimit.h"
#include "runtime/profile/Process.h"
#include "runtime/profile/VectorSample.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace reconverge::gpu {

/// Of the cells: enough for the multiprocessors of today's GPUs.
static constexpr uint64_t MaxReplicas = 256;
/// The sum of a counter over a warp has 32 bits. In less time no thread can run
/// anything 2^27 times.
static constexpr double SafeSeconds = 0.5;

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

Counter &Counter::get() {
  static Counter &Only = *new Counter;
  return Only;
}

static void writeProfileAtExit() {
  if (Error E = Counter::get().writeProfile())
    Counter::get().say("the profile was not written: " +
                       toString(std::move(E)));
}

Error Counter::configure(Options O) {
  Settings = std::move(O);
  OwnProcess = getpid();
  if (Settings.ProfilePath.empty())
    return Error::success();
  auto Machine = analysis::MachineModel::load(Settings.MachineFile);
  if (!Machine)
    return Machine.takeError();
  Counted = std::make_unique<runtime::Collector>(std::move(*Machine));
  static const int Registered = std::atexit(writeProfileAtExit);
  (void)Registered; // a failure leaves no profile, which the tool reports
  return Error::success();
}

void Counter::say(const Twine &What) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  std::string Note = What.str();
  if (is_contained(Notes, Note))
    return;
  errs() << "reconverge: " + Note + "\n";
  Notes.push_back(std::move(Note));
}

/// Of which kernels not every thread block counted; empty: of none.
static std::string describeSparse(const std::map<std::string, uint64_t> &In) {
  std::string Text;
  for (const auto &[Kernel, Stride] : In)
    Text += (Text.empty() ? "" : ", ") + Kernel + " (1 of " +
            std::to_string(Stride) + ")";
  return Text.empty() ? Text
                      : "large launches are counted in a part of their thread "
                        "blocks and scaled: " +
                            Text + ". RECONVERGE_GPU=blocks=all counts all.";
}

Error Counter::writeProfile() {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (!Counted || getpid() != OwnProcess)
    return Error::success();
  Profile P = Counted->take();
  runtime::nameProgram(P);
  P.Backend = "gpu";
  P.Device = Device;
  append_range(P.Notes, Notes);
  if (std::string Note = describeSparse(Sparse); !Note.empty())
    P.Notes.push_back(std::move(Note));
  if (!Device.empty())
    P.Notes.push_back(describeCounterAccess());
  return reconverge::writeProfile(P, Settings.ProfilePath);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cudaError_t Counter::grow(void *&Memory, size_t &Has, size_t Bytes) {
  if (Bytes <= Has)
    return cudaSuccess;
  if (Memory)
    if (cudaError_t E = cudart().Free(Memory))
      return E;
  Memory = nullptr;
  Has = 0;
  if (cudaError_t E = cudart().Malloc(&Memory, Bytes))
    return E;
  Has = Bytes;
  return cudaSuccess;
}

/// The calling thread's device.
cudaError_t Counter::prepare(DeviceMemory *&Memory) {
  int Ordinal = 0;
  if (cudaError_t E = cudart().GetDevice(&Ordinal))
    return E;
  Memory = &Devices[Ordinal];
  if (Memory->Start)
    return cudaSuccess;
  if (Device.empty())
    Device = describeDevice();
  if (cudaError_t E = cudart().EventCreate(&Memory->Start))
    return E;
  return cudart().EventCreate(&Memory->Stop);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

LaunchCells LaunchCells::of(const CountedKernel &K, const LaunchShape &Shape,
                            uint64_t Least) {
  const uint64_t Blocks = Shape.blocks();
  return {K.Home->Probes->cells(*K.Code),
          bit_ceil(std::clamp<uint64_t>(Blocks, 1, MaxReplicas)),
          instrument::BlockSample::of(Blocks, Least)};
}

instrument::ProbeConfig LaunchCells::config(void *Device) const {
  instrument::ProbeConfig Config;
  Config.Counters = uint64_t(Device);
  Config.ReplicaMask = Replicas - 1;
  Config.Cells = SetSize;
  Config.SampleBits = Who.Bits;
  Config.Tail = Who.Tail;
  return Config;
}

LaunchCounts countsOf(const CountedKernel &K, ArrayRef<uint64_t> Cells,
                      const LaunchShape &Shape,
                      const instrument::BlockSample &Who) {
  const instrument::ModuleProbes &Probes = *K.Home->Probes;
  const unsigned SetSize = Probes.cells(*K.Code);
  std::vector<uint64_t> Sums(2 * SetSize);
  if (SetSize) {
    const size_t Tail = Cells.size() - Sums.size();
    for (auto [I, N] : enumerate(Cells))
      Sums[I % Sums.size()] += I < Tail ? N * Who.stride() : N;
  }

  LaunchCounts Counts;
  Counts.Blocks.resize(K.Blocks);
  Counts.Branches.resize(K.Branches);
  const instrument::ThreadSets Threads = instrument::threadsOf(Shape);
  for (auto [N, F] : enumerate(K.Functions)) {
    const instrument::ProbePlan &Plan = Probes.plan(*F);
    std::vector<uint64_t> Mine;
    for (unsigned Set = 0; Set != 2; ++Set)
      append_range(Mine, ArrayRef(Sums).slice(Set * SetSize + Probes.offset(*F),
                                              Plan.cells()));
    instrument::FunctionCounts Here = instrument::decode(Plan, Mine, Threads);
    if (F == K.Code)
      Counts.DivergentWarps = Here.DivergentWarps;
    for (size_t B = 0; B != Plan.Code.size(); ++B) {
      if (unsigned At = K.BlockAt[N][B]; At != CountedKernel::NoPosition) {
        BlockCounts &To = Counts.Blocks[At];
        To.Warps += Here.Blocks[B].Warps;
        To.Lanes += Here.Blocks[B].Lanes;
        To.PartialIdle += Here.Blocks[B].PartialIdle;
        To.ExitedIdle += Here.Blocks[B].ExitedIdle;
      }
      if (unsigned At = K.BranchAt[N][B]; At != CountedKernel::NoPosition) {
        BranchCounts &To = Counts.Branches[At];
        To.Warps += Here.Branches[B].Warps;
        To.Splits += Here.Branches[B].Splits;
        To.LanesTo.resize(Here.Branches[B].LanesTo.size());
        for (auto [Sum, More] : zip(To.LanesTo, Here.Branches[B].LanesTo))
          Sum += More;
      }
    }
  }
  Counts.Warps =
      Threads.Whole / 32 + (Threads.Tail ? Threads.Partial / Threads.Tail : 0);
  return Counts;
}

//===----------------------------------------------------------------------===//
// Block vectors
//===----------------------------------------------------------------------===//

Counter::Sample Counter::sampleOf(const CountedKernel &K,
                                  const LaunchShape &Shape,
                                  runtime::VectorSample &Vectors) {
  Sample S;
  const uint64_t Blocks = Shape.blocks();
  S.Threads = Shape.blockThreads();
  if (K.Functions.size() > 1) {
    say(demangle(K.Code->getName()) +
        ": calls functions that are not inlined; no block vectors");
    return S;
  }
  S.Stride = Vectors.stride();
  S.Words = K.Home->Probes->plan(*K.Code).Words;
  // Kernels compute the number of their block with 32 bits.
  if (!isUInt<32>(Blocks) || !isUInt<32>(S.Stride))
    return S;
  for (uint64_t First = 0; First < Blocks; First += S.Stride)
    S.Blocks.push_back(uint32_t(Vectors.sampledFrom(First)));
  // The last stratum's may lie beyond the grid.
  if (!S.Blocks.empty() && S.Blocks.back() >= Blocks)
    S.Blocks.pop_back();
  return S;
}

/// [sampled block][word][thread], to one row of counts a thread.
void Counter::record(const CountedKernel &K, const Sample &S,
                     ArrayRef<uint32_t> Rows, runtime::VectorSample &Vectors) {
  const instrument::ProbePlan &Plan = K.Home->Probes->plan(*K.Code);
  const std::vector<unsigned> &BlockAt = K.BlockAt.front();
  std::vector<uint32_t> Words(S.Words), Last;
  std::vector<uint64_t> Runs;
  for (auto [N, Block] : enumerate(S.Blocks)) {
    ArrayRef<uint32_t> Mine =
        Rows.slice(N * S.Words * S.Threads, S.Words * S.Threads);
    std::vector<uint32_t> Matrix(S.Threads * K.Blocks);
    // Of blocks that all lanes of a warp run: as often as the busiest of them.
    std::vector<uint64_t> Together(BlockAt.size()), Longest(BlockAt.size());
    for (size_t T = 0; T != S.Threads; ++T) {
      for (size_t W = 0; W != S.Words; ++W)
        Words[W] = Mine[W * S.Threads + T];
      // Neighbours are mostly alike.
      if (Runs.empty() || Words != Last) {
        Runs = instrument::decodeThread(Plan, Words);
        Last = Words;
      }
      if (T % 32 == 0)
        std::fill(Longest.begin(), Longest.end(), 0);
      for (size_t B = 0; B != BlockAt.size(); ++B) {
        if (Runs[B] > Longest[B]) {
          Together[B] += Runs[B] - Longest[B];
          Longest[B] = Runs[B];
        }
        if (BlockAt[B] != CountedKernel::NoPosition)
          Matrix[T * K.Blocks + BlockAt[B]] += uint32_t(Runs[B]);
      }
    }
    auto Sum = [&](instrument::ProbeCounter C) {
      uint64_t Total = 0;
      for (size_t T = 0; T != S.Threads; ++T) {
        Words[C.Word] = Mine[C.Word * S.Threads + T];
        Total += instrument::read(Plan, Words, C);
      }
      return Total;
    };
    std::vector<uint64_t> AsRun(K.Blocks);
    for (auto [B, Warps] :
         enumerate(instrument::warpsOfBlocks(Plan, Sum, Together)))
      if (BlockAt[B] != CountedKernel::NoPosition)
        AsRun[BlockAt[B]] += Warps;
    Vectors.record(Block, unsigned(S.Threads), Matrix, AsRun);
  }
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

static bool isCaptured(cudaStream_t Stream) {
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  return cudart().StreamIsCapturing(Stream, &Status) != cudaSuccess ||
         Status != cudaStreamCaptureStatusNone;
}

/// Makes room on the device and tells the kernel where it is; of a launch
/// without cells, nothing.
cudaError_t Counter::sendConfig(const CountedKernel &K,
                                const LaunchCells &Where,
                                const MemoryAreas &Accesses, const Sample &S,
                                DeviceMemory &Memory, cudaStream_t Stream) {
  const Cudart &C = cudart();
  void *Address = nullptr;
  if (cudaError_t E = C.GetSymbolAddress(&Address, &K.Home->Config))
    return E;
  auto Clear = [&](void *&Where, size_t &Has, size_t Bytes) {
    if (!Bytes)
      return cudaSuccess;
    cudaError_t E = grow(Where, Has, Bytes);
    return E ? E : C.MemsetAsync(Where, 0, Bytes, Stream);
  };
  if (cudaError_t E = Clear(Memory.Cells, Memory.CellBytes, Where.count() * 8))
    return E;
  if (cudaError_t E =
          Clear(Memory.Areas, Memory.AreaBytes, Accesses.count() * 8))
    return E;
  instrument::ProbeConfig Config = Where.config(Memory.Cells);
  if (Accesses.count())
    Accesses.tell(Config, Memory.Areas);
  if (S.rowBytes()) {
    if (cudaError_t E = grow(Memory.Rows, Memory.RowBytes, S.rowBytes()))
      return E;
    // One more, for a stratum whose block lies beyond the grid.
    std::vector<uint32_t> Table = S.Blocks;
    Table.push_back(~0u);
    if (cudaError_t E =
            grow(Memory.Sampled, Memory.SampledBytes, Table.size() * 4))
      return E;
    if (cudaError_t E =
            C.MemcpyAsync(Memory.Sampled, Table.data(), Table.size() * 4,
                          cudaMemcpyHostToDevice, Stream))
      return E;
    Config.Rows = uint64_t(Memory.Rows);
    Config.Sampled = uint64_t(Memory.Sampled);
    Config.Stride = S.Stride;
  }
  return C.MemcpyAsync(Address, &Config, sizeof(Config), cudaMemcpyHostToDevice,
                       Stream);
}

/// What the launch has left, and a kernel that counts nowhere again.
cudaError_t Counter::fetch(const CountedKernel &K, const DeviceMemory &Memory,
                           Left &To, cudaStream_t Stream) {
  const Cudart &C = cudart();
  void *Address = nullptr;
  if (cudaError_t E = C.GetSymbolAddress(&Address, &K.Home->Config))
    return E;
  auto Fetch = [&](auto &To, const void *From) {
    return To.empty()
               ? cudaSuccess
               : C.MemcpyAsync(To.data(), From, To.size() * sizeof(To.front()),
                               cudaMemcpyDeviceToHost, Stream);
  };
  if (cudaError_t E = Fetch(To.Cells, Memory.Cells))
    return E;
  if (cudaError_t E = Fetch(To.Rows, Memory.Rows))
    return E;
  if (cudaError_t E = Fetch(To.Areas, Memory.Areas))
    return E;
  return C.MemsetAsync(Address, 0, sizeof(instrument::ProbeConfig), Stream);
}

/// At a kernel's first launch: what its code without probes takes.
void Counter::findNeeds(const CountedKernel &K,
                        const runtime::LaunchRecord &Record) {
  if (Record.number() != 1 || K.PlainName.empty())
    return;
  cudaFuncAttributes Plain;
  if (cudart().FuncGetAttributes(&Plain, &K.PlainStub))
    (void)cudart().GetLastError(); // it is ours, and remains unknown
  else
    Counted->setNeeds(Record, unsigned(Plain.numRegs), Plain.sharedSizeBytes);
}

LaunchCounts Counter::countsOfLaunch(const CountedKernel &K,
                                     const LaunchShape &Shape,
                                     const LaunchCells &Where,
                                     const MemoryAreas &Accesses,
                                     const Left &From, float Milliseconds) {
  LaunchCounts Counts;
  if (Settings.Counters) {
    Counts = countsOf(K, From.Cells, Shape, Where.Who);
    Accesses.addTo(Counts, K, From.Areas);
    if (!From.Cells.empty() && Where.Who.Bits) {
      uint64_t &Most = Sparse[demangle(K.Code->getName())];
      Most = std::max(Most, Where.Who.stride());
    }
  } else {
    Counts.Blocks.resize(K.Blocks);
    Counts.Branches.resize(K.Branches);
  }
  Counts.Seconds = Milliseconds / 1000;
  if (Settings.Counters && Counts.Seconds > SafeSeconds)
    say(demangle(K.Code->getName()) +
        " ran for more than half a second in one launch: a loop that each "
        "thread runs more than 134217727 times would be miscounted");
  return Counts;
}

cudaError_t Counter::launch(const CountedKernel &K, const LaunchShape &Shape,
                            const void *Stub, void **Args, cudaStream_t Stream,
                            function_ref<cudaError_t()> Launch) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (!Counted)
    return Launch();
  const Cudart &C = cudart();
  auto GiveUp = [&](const Twine &Why) {
    say(demangle(K.Code->getName()) + " is not counted: " + Why);
    return Launch();
  };
  if (isCaptured(Stream))
    return GiveUp("its stream is being captured into a graph");

  // A launch that cannot be runs into the same error once more below.
  cudaFuncAttributes Loaded; // code is loaded now, not between the events
  (void)C.FuncGetAttributes(&Loaded, Stub);
  DeviceMemory *Memory = nullptr;
  if (cudaError_t E = prepare(Memory))
    return GiveUp(C.GetErrorString(E));

  auto Record = Counted->begin(*K.Code, K.Home->Hash, Shape,
                               Stream == cudaStreamLegacy ? nullptr : Stream);
  findNeeds(K, *Record);
  const LaunchCells Where = LaunchCells::of(K, Shape, Settings.Blocks);
  Sample S;
  runtime::VectorSample *Vectors =
      Settings.Counters && Settings.Vectors ? Record->sample() : nullptr;
  if (Vectors) {
    S = sampleOf(K, Shape, *Vectors);
    if (cudaError_t E = readFeatures(K, Shape, Args, *Memory, Stream, *Vectors))
      return GiveUp(C.GetErrorString(E));
  }
  Left Data;
  Data.Cells.resize(Settings.Counters ? Where.count() : 0);
  Data.Rows.resize(S.rowBytes() / 4);
  MemoryAreas Accesses;
  if (Settings.Counters && runtime::isSampledLaunch(Record->number()))
    Accesses = MemoryAreas::of(K, Shape, Where.Who, Settings);
  Data.Areas.resize(Accesses.count());
  const bool HasCells = !Data.empty();
  if (HasCells)
    if (cudaError_t E = sendConfig(K, Where, Accesses, S, *Memory, Stream))
      return GiveUp(C.GetErrorString(E));

  const RaisedStack Room(HasCells ? K.AddedToFrames : 0);
  cudaError_t E = C.EventRecord(Memory->Start, Stream);
  auto Try = [&](cudaError_t Result) { E = E ? E : Result; };
  const cudaError_t Launched = Launch();
  if (Launched == cudaErrorLaunchOutOfResources)
    say(demangle(K.Code->getName()) +
        " cannot be launched: if it can without a profile, probes take the "
        "registers; RECONVERGE_GPU=registers=64 fits any block");
  Try(Launched);
  Try(C.EventRecord(Memory->Stop, Stream));
  if (HasCells)
    Try(fetch(K, *Memory, Data, Stream));
  Try(C.StreamSynchronize(Stream));
  float Milliseconds = 0;
  Try(C.EventElapsedTime(&Milliseconds, Memory->Start, Memory->Stop));
  if (E)
    return Launched;
  const LaunchCounts Counts =
      countsOfLaunch(K, Shape, Where, Accesses, Data, Milliseconds);
  if (Vectors)
    record(K, S, Data.Rows, *Vectors);
  Counted->finish(std::move(Record), Counts);
  return Launched;
}

} // namespace reconverge::gpu
