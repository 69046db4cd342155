//===- benchmarks/timer/Timer.cpp - Time each kernel of a program ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library to preload into a program over a shared CUDA runtime, whoever
// built it: NVIDIA's runtime and our shim have the same functions, and this
// stands before either.
//
//   LD_PRELOAD=libReconvergeTimer.so RECONVERGE_TIMER=out.json
//   RECONVERGE_TIMER_REPEAT=8 ./program args
//
// Each launch is timed by itself, by events, on an otherwise idle device. To
// have more than one sample of it without running the program again, it is
// repeated from the same state:
//
//   1. wait for the device; copy what the kernel may write: all memory from
//      cudaMalloc and its kin, and the module's variables
//   2. once untimed, then REPEAT times timed: put the copy back, wait, launch
//      behind a gate (gate.h), so that the host's part is not in the time
//
// The last repetition leaves what the program would have seen without us. The
// caches are in the same condition before each: what was put back last is in
// them. Memory the host shares (managed) lies on the device after the untimed
// launch, so its migration is not in the times.
//
// The result, written when the program ends: of each kernel the number of
// launches and, for each repetition, the sum over its launches.
//
// Limitation: what a kernel writes to pinned host memory, arrays, or memory of
// the driver's API is not put back. Launches in stream capture are not timed;
// they are counted as "untimed".
//
//===----------------------------------------------------------------------===//

#include "../kernels/common/gate.h"

#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Kernel {
  std::string Name;
  unsigned Launches = 0, Untimed = 0;
  std::vector<double> Milliseconds; ///< of each repetition
};

struct Variable {
  const void *Host;
  size_t Bytes;
};

struct State {
  std::recursive_mutex Mutex;
  std::map<const void *, std::string> Names; ///< of a kernel's host stub
  std::map<cudaKernel_t, const void *> Stubs;
  std::map<std::string, size_t> Numbers; ///< name to position in Kernels
  std::vector<Kernel> Kernels;           ///< in the order of first launches
  std::map<void *, size_t> Allocations;
  std::vector<Variable> Variables;
  char *Copy = nullptr; ///< on the device
  size_t CopyBytes = 0;
  cudaEvent_t Start = nullptr, Stop = nullptr;
  unsigned Repeat = 1;
  std::string Output;

  State() {
    if (const char *Path = std::getenv("RECONVERGE_TIMER"))
      Output = Path;
    if (const char *Count = std::getenv("RECONVERGE_TIMER_REPEAT"))
      Repeat = unsigned(std::max(1, std::atoi(Count)));
  }
};

/// Never destroyed: programs launch from their own destructors.
State &state() {
  static State &The = *new State;
  return The;
}

[[noreturn]] void fail(const char *What, const char *Why) {
  std::fprintf(stderr, "timer: %s: %s\n", What, Why);
  std::_Exit(70);
}

/// The function of this name in the runtime behind us.
template <typename Function> Function real(const char *Name) {
  void *Symbol = dlsym(RTLD_NEXT, Name);
  if (!Symbol)
    fail(Name, "not in the CUDA runtime; is it linked statically?");
  return reinterpret_cast<Function>(Symbol);
}
#define REAL(Name)                                                             \
  ([]() {                                                                      \
    static auto Function = real<decltype(&::Name)>(#Name);                     \
    return Function;                                                           \
  }())

void check(cudaError_t Status, const char *What) {
  if (Status != cudaSuccess)
    fail(What, REAL(cudaGetErrorName)(Status));
}
#define CHECK(Name, ...) check(REAL(Name)(__VA_ARGS__), #Name)

//===----------------------------------------------------------------------===//
// What a launch may change
//===----------------------------------------------------------------------===//

struct Piece {
  char *Where;
  size_t Bytes;
};

std::vector<Piece> writableMemory(State &S) {
  std::vector<Piece> Pieces;
  for (auto [Where, Bytes] : S.Allocations)
    Pieces.push_back({static_cast<char *>(Where), Bytes});
  for (const Variable &V : S.Variables) {
    void *Where = nullptr;
    if (REAL(cudaGetSymbolAddress)(&Where, V.Host) == cudaSuccess)
      Pieces.push_back({static_cast<char *>(Where), V.Bytes});
    else // not in this program's code for the device
      REAL(cudaGetLastError)();
  }
  return Pieces;
}

/// Copies the pieces behind one another into the copy, or back.
void copy(State &S, const std::vector<Piece> &Pieces, bool Back) {
  size_t At = 0;
  for (const Piece &P : Pieces) {
    char *Saved = S.Copy + At;
    CHECK(cudaMemcpyAsync, Back ? P.Where : Saved, Back ? Saved : P.Where,
          P.Bytes, cudaMemcpyDefault, nullptr);
    At += (P.Bytes + 255) / 256 * 256;
  }
  CHECK(cudaDeviceSynchronize);
}

std::vector<Piece> save(State &S) {
  std::vector<Piece> Pieces = writableMemory(S);
  size_t Bytes = 0;
  for (const Piece &P : Pieces)
    Bytes += (P.Bytes + 255) / 256 * 256;
  if (Bytes > S.CopyBytes) {
    if (S.Copy)
      CHECK(cudaFree, S.Copy);
    void *Copy = nullptr;
    CHECK(cudaMalloc, &Copy, Bytes);
    S.Copy = static_cast<char *>(Copy);
    S.CopyBytes = Bytes;
  }
  copy(S, Pieces, /*Back=*/false);
  return Pieces;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Kernel &kernelOf(State &S, const void *Stub) {
  auto Known = S.Names.find(Stub);
  std::string Name = Known == S.Names.end() ? "unknown" : Known->second;
  auto [At, New] = S.Numbers.try_emplace(Name, S.Kernels.size());
  if (New) {
    S.Kernels.emplace_back().Name = Name;
    S.Kernels.back().Milliseconds.assign(S.Repeat, 0);
  }
  return S.Kernels[At->second];
}

template <typename Launch>
cudaError_t timed(const void *Stub, cudaStream_t Stream, Launch Go) {
  State &S = state();
  std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
  if (S.Output.empty())
    return Go();
  Kernel &K = kernelOf(S, Stub);
  ++K.Launches;
  cudaStreamCaptureStatus Capture = cudaStreamCaptureStatusNone;
  if (Stream)
    CHECK(cudaStreamIsCapturing, Stream, &Capture);
  if (Capture != cudaStreamCaptureStatusNone) {
    ++K.Untimed;
    return Go();
  }
  CHECK(cudaDeviceSynchronize);
  if (!S.Start) {
    CHECK(cudaEventCreate, &S.Start);
    CHECK(cudaEventCreate, &S.Stop);
  }
  std::vector<Piece> Pieces = save(S);
  if (cudaError_t Status = Go()) // the program's mistake, for the program
    return Status;
  CHECK(cudaDeviceSynchronize);
  for (double &Sum : K.Milliseconds) {
    copy(S, Pieces, /*Back=*/true);
    StreamGate Gate([&](cudaHostFn_t Wait, void *Data) {
      CHECK(cudaLaunchHostFunc, Stream, Wait, Data);
    });
    CHECK(cudaEventRecord, S.Start, Stream);
    check(Go(), "a repeated launch");
    CHECK(cudaEventRecord, S.Stop, Stream);
    Gate.open();
    CHECK(cudaEventSynchronize, S.Stop);
    float Time = 0;
    CHECK(cudaEventElapsedTime, &Time, S.Start, S.Stop);
    Sum += Time;
  }
  return cudaSuccess;
}

void writeResult() {
  State &S = state();
  if (S.Output.empty())
    return;
  std::FILE *Out = std::fopen(S.Output.c_str(), "w");
  if (!Out)
    return std::perror(S.Output.c_str());
  std::fprintf(Out, "{\"kernels\": [");
  const char *Separator = "";
  for (const Kernel &K : S.Kernels) {
    int Status = 0;
    char *Plain =
        abi::__cxa_demangle(K.Name.c_str(), nullptr, nullptr, &Status);
    std::fprintf(Out,
                 "%s\n {\"name\": \"%s\", \"display\": \"%s\", "
                 "\"launches\": %u, \"untimed\": %u, \"milliseconds\": [",
                 Separator, K.Name.c_str(), Plain ? Plain : K.Name.c_str(),
                 K.Launches, K.Untimed);
    std::free(Plain);
    for (size_t I = 0; I != K.Milliseconds.size(); ++I)
      std::fprintf(Out, "%s%.6f", I ? ", " : "", K.Milliseconds[I]);
    std::fprintf(Out, "]}");
    Separator = ",";
  }
  std::fprintf(Out, "\n]}\n");
  std::fclose(Out);
}

struct AtEnd {
  ~AtEnd() { writeResult(); }
} WriteAtEnd;

void addAllocation(void *Where, size_t Bytes) {
  State &S = state();
  std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
  S.Allocations[Where] = Bytes;
}
void dropAllocation(void *Where) {
  State &S = state();
  std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
  S.Allocations.erase(Where);
}

} // namespace

//===----------------------------------------------------------------------===//
// The functions that we stand before
//===----------------------------------------------------------------------===//

extern "C" {

void __cudaRegisterFunction(void **, const char *, char *, const char *, int,
                            uint3 *, uint3 *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int,
                       int);
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t,
                               cudaStream_t);

void __cudaRegisterFunction(void **Module, const char *Stub, char *DeviceFun,
                            const char *Name, int Limit, uint3 *Thread,
                            uint3 *Block, dim3 *BlockDim, dim3 *GridDim,
                            int *Warp) {
  {
    State &S = state();
    std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
    // A kernel with a remedy stands beside the original (docs/optimize.md).
    S.Names[Stub] = std::string(Name, strcspn(Name, "$"));
  }
  REAL(__cudaRegisterFunction)
  (Module, Stub, DeviceFun, Name, Limit, Thread, Block, BlockDim, GridDim,
   Warp);
}

void __cudaRegisterVar(void **Module, char *Host, char *Address,
                       const char *Name, int External, size_t Bytes,
                       int Constant, int Global) {
  if (!Constant) {
    State &S = state();
    std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
    S.Variables.push_back({Host, Bytes});
  }
  REAL(__cudaRegisterVar)
  (Module, Host, Address, Name, External, Bytes, Constant, Global);
}

cudaError_t __cudaGetKernel(cudaKernel_t *Handle, const void *Stub) {
  cudaError_t Status = REAL(__cudaGetKernel)(Handle, Stub);
  State &S = state();
  std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
  if (Status == cudaSuccess)
    S.Stubs[*Handle] = Stub;
  return Status;
}

cudaError_t cudaLaunchKernel(const void *Stub, dim3 Grid, dim3 Block,
                             void **Args, size_t Shared, cudaStream_t Stream) {
  return timed(Stub, Stream, [&] {
    return REAL(cudaLaunchKernel)(Stub, Grid, Block, Args, Shared, Stream);
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t Handle, dim3 Grid, dim3 Block,
                               void **Args, size_t Shared,
                               cudaStream_t Stream) {
  State &S = state();
  const void *Stub = nullptr;
  {
    std::lock_guard<std::recursive_mutex> Lock(S.Mutex);
    if (auto At = S.Stubs.find(Handle); At != S.Stubs.end())
      Stub = At->second;
  }
  return timed(Stub, Stream, [&] {
    return REAL(__cudaLaunchKernel)(Handle, Grid, Block, Args, Shared, Stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *Config,
                                const void *Stub, void **Args) {
  return timed(Stub, Config->stream,
               [&] { return REAL(cudaLaunchKernelExC)(Config, Stub, Args); });
}

cudaError_t cudaMalloc(void **Where, size_t Bytes) {
  cudaError_t Status = REAL(cudaMalloc)(Where, Bytes);
  if (Status == cudaSuccess && Bytes)
    addAllocation(*Where, Bytes);
  return Status;
}

cudaError_t cudaMallocManaged(void **Where, size_t Bytes, unsigned Flags) {
  cudaError_t Status = REAL(cudaMallocManaged)(Where, Bytes, Flags);
  if (Status == cudaSuccess && Bytes)
    addAllocation(*Where, Bytes);
  return Status;
}

cudaError_t cudaMallocPitch(void **Where, size_t *Pitch, size_t Width,
                            size_t Height) {
  cudaError_t Status = REAL(cudaMallocPitch)(Where, Pitch, Width, Height);
  if (Status == cudaSuccess && Width && Height)
    addAllocation(*Where, *Pitch * Height);
  return Status;
}

cudaError_t cudaMallocAsync(void **Where, size_t Bytes, cudaStream_t Stream) {
  cudaError_t Status = REAL(cudaMallocAsync)(Where, Bytes, Stream);
  if (Status == cudaSuccess && Bytes)
    addAllocation(*Where, Bytes);
  return Status;
}

cudaError_t cudaMallocFromPoolAsync(void **Where, size_t Bytes,
                                    cudaMemPool_t Pool, cudaStream_t Stream) {
  cudaError_t Status =
      REAL(cudaMallocFromPoolAsync)(Where, Bytes, Pool, Stream);
  if (Status == cudaSuccess && Bytes)
    addAllocation(*Where, Bytes);
  return Status;
}

cudaError_t cudaFree(void *Where) {
  dropAllocation(Where);
  return REAL(cudaFree)(Where);
}

cudaError_t cudaFreeAsync(void *Where, cudaStream_t Stream) {
  dropAllocation(Where);
  return REAL(cudaFreeAsync)(Where, Stream);
}

} // extern "C"
