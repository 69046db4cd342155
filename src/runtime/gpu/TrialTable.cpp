//===- runtime/gpu/TrialTable.cpp - Our part of CUDA, for trials ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the shim sends here instead of to the runtime below. All
// of them end there, with the program's own arguments. What they do besides is
// to register code, to keep the books of memory, to try launches, and to wait
// while another thread's launch is tried.
//
// The forms with _ptsz and _ptds mean the thread's own stream by the null
// stream; Own says which form it is.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/TrialTable.h"

#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/Trials.h"
#include "runtime/gpu/UnreadError.h"

#include <mutex>

using namespace llvm;

namespace reconverge::gpu {

/// Calls the function \p Name of the runtime below, held.
template <typename Function, typename... Args>
static cudaError_t below(const char *Name, Args... Values) {
  std::shared_lock<std::shared_mutex> Shared(GpuTrials::get().Gate);
  return reinterpret_cast<Function>(findInCudart(Name))(Values...);
}
#define RECONVERGE_BELOW(Name, ...) below<decltype(&::Name)>(#Name, __VA_ARGS__)
#define RECONVERGE_BELOW_PTSZ(Name, ...)                                       \
  below<decltype(&::Name)>(Own ? #Name "_ptsz" : #Name, __VA_ARGS__)

template <typename Function> struct HeldCall;
template <typename... Args> struct HeldCall<cudaError_t (*)(Args...)> {
  template <auto Name> static cudaError_t call(Args... Values) {
    return below<cudaError_t (*)(Args...)>(Name(), Values...);
  }
};

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static void **registerFatBinary(void *Wrapper) {
  return GpuTrials::get().registerFatBinary(Wrapper);
}

static void registerFatBinaryEnd(void **Handle) {
  GpuTrials::get().Images.registerEnd(Handle);
}

static void unregisterFatBinary(void **Handle) {
  GpuTrials::get().Images.unregister(Handle);
}

static void registerFunction(void **Handle, const char *Stub, char *DeviceFun,
                             const char *DeviceName, int ThreadLimit,
                             uint3 *Tid, uint3 *Bid, dim3 *BlockDim,
                             dim3 *GridDim, int *WarpSize) {
  GpuTrials::get().Images.registerFunction(Handle, Stub, DeviceFun, DeviceName,
                                           ThreadLimit, Tid, Bid, BlockDim,
                                           GridDim, WarpSize);
}

static void registerVar(void **Handle, char *HostVar, char *Address,
                        const char *Name, int Extern, size_t Bytes,
                        int Constant, int Global) {
  cudart().RegisterVar(Handle, HostVar, Address, Name, Extern, Bytes, Constant,
                       Global);
  GpuTrials::get().Images.registerVariable(
      Handle, {HostVar, Name, Bytes, Constant != 0, nullptr});
}

static void registerManagedVar(void **Handle, void **HostVar, char *Address,
                               const char *Name, int Extern, size_t Bytes,
                               int Constant, int Global) {
  cudart().RegisterManagedVar(Handle, HostVar, Address, Name, Extern, Bytes,
                              Constant, Global);
  GpuTrials::get().Images.registerVariable(
      Handle, {HostVar, Name, Bytes, Constant != 0, HostVar});
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static cudaError_t tried(const void *Stub, dim3 Grid, dim3 Block, size_t Shared,
                         cudaStream_t Stream, bool Own, StringRef Hindrance,
                         LaunchFunction Launch, void **Args = nullptr) {
  LaunchShape Shape;
  Shape.Grid = {Grid.x, Grid.y, Grid.z};
  Shape.Block = {Block.x, Block.y, Block.z};
  Shape.DynamicShared = Shared;
  return GpuTrials::get().launch(
      Stub, {Shape, Own && !Stream ? cudaStreamPerThread : Stream, Launch, Args,
             Hindrance});
}

template <bool Own>
static cudaError_t launchKernel(const void *Stub, dim3 Grid, dim3 Block,
                                void **Args, size_t Shared,
                                cudaStream_t Stream) {
  auto *Launch = Own ? cudart().LaunchKernelPtsz : cudart().LaunchKernel;
  return tried(
      Stub, Grid, Block, Shared, Stream, Own, "",
      [&](const void *Code) {
        return Launch(Code, Grid, Block, Args, Shared, Stream);
      },
      Args);
}

template <bool Own>
static cudaError_t launchKernelExC(const cudaLaunchConfig_t *Config,
                                   const void *Stub, void **Args) {
  auto *Launch = Own ? cudart().LaunchKernelExCPtsz : cudart().LaunchKernelExC;
  if (!Config)
    return Launch(Config, Stub, Args);
  StringRef Hindrance;
  for (unsigned I = 0; Config->attrs && I < Config->numAttrs; ++I)
    if (Config->attrs[I].id == cudaLaunchAttributeCooperative &&
        Config->attrs[I].val.cooperative)
      Hindrance = runtime::CooperativeHindrance;
  return tried(Stub, Config->gridDim, Config->blockDim,
               Config->dynamicSmemBytes, Config->stream, Own, Hindrance,
               [&](const void *Code) { return Launch(Config, Code, Args); });
}

template <bool Own>
static cudaError_t launchCooperativeKernel(const void *Stub, dim3 Grid,
                                           dim3 Block, void **Args,
                                           size_t Shared, cudaStream_t Stream) {
  auto *Launch = Own ? cudart().LaunchCooperativeKernelPtsz
                     : cudart().LaunchCooperativeKernel;
  return tried(Stub, Grid, Block, Shared, Stream, Own,
               runtime::CooperativeHindrance, [&](const void *Code) {
                 return Launch(Code, Grid, Block, Args, Shared, Stream);
               });
}

/// What the program sets for a kernel holds for its candidates. One that cannot
/// have it shows when it is launched.
template <typename Function, typename... Args>
static cudaError_t setForAll(const char *Name, const void *Stub,
                             Args... Values) {
  const cudaError_t Result = below<Function>(Name, Stub, Values...);
  GpuTriedKernel *K = GpuTrials::get().Images.kernel(Stub);
  if (Result || !K)
    return Result;
  const bool WasClear = cudart().PeekAtLastError() == cudaSuccess;
  auto Also = [&](const char &Own, bool Exists) {
    if (Exists && below<Function>(Name, &Own, Values...) && WasClear)
      (void)cudart().GetLastError();
  };
  Also(K->Counting.Stub, K->Counting.Kernel != nullptr);
  for (GpuCandidate &C : K->Candidates) {
    Also(C.Stub, C.Refuse.empty());
    Also(C.Counting.Stub, C.Counting.Kernel != nullptr);
  }
  return Result;
}

static cudaError_t funcSetAttribute(const void *Stub, cudaFuncAttribute What,
                                    int Value) {
  using Function = cudaError_t (*)(const void *, cudaFuncAttribute, int);
  return setForAll<Function>("cudaFuncSetAttribute", Stub, What, Value);
}

static cudaError_t funcSetCacheConfig(const void *Stub, cudaFuncCache Config) {
  using Function = cudaError_t (*)(const void *, cudaFuncCache);
  return setForAll<Function>("cudaFuncSetCacheConfig", Stub, Config);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Notes what \p Call made if it returned no error.
static cudaError_t noted(cudaError_t Result, Allocations::Kind K,
                         StringRef Call, const void *Base, uint64_t Bytes) {
  int Device = 0;
  if (!Result && !cudart().GetDevice(&Device))
    GpuTrials::get().Memory.add(K, Call, Base, Bytes, Device);
  return Result;
}

static cudaError_t malloc(void **Pointer, size_t Bytes) {
  GpuTrials::get().noteFirstUse();
  using Function = cudaError_t (*)(void **, size_t);
  cudaError_t E = below<Function>("cudaMalloc", Pointer, Bytes);
  return noted(E, Allocations::Device, "cudaMalloc", E ? nullptr : *Pointer,
               Bytes);
}

static cudaError_t mallocManaged(void **Pointer, size_t Bytes, unsigned Flags) {
  GpuTrials::get().noteFirstUse();
  using Function = cudaError_t (*)(void **, size_t, unsigned);
  cudaError_t E = below<Function>("cudaMallocManaged", Pointer, Bytes, Flags);
  return noted(E, Allocations::Managed, "cudaMallocManaged",
               E ? nullptr : *Pointer, Bytes);
}

static cudaError_t mallocPitch(void **Pointer, size_t *Pitch, size_t Width,
                               size_t Height) {
  GpuTrials::get().noteFirstUse();
  using Function = cudaError_t (*)(void **, size_t *, size_t, size_t);
  cudaError_t E =
      below<Function>("cudaMallocPitch", Pointer, Pitch, Width, Height);
  return noted(E, Allocations::Device, "cudaMallocPitch",
               E ? nullptr : *Pointer, E ? 0 : *Pitch * Height);
}

static cudaError_t malloc3D(cudaPitchedPtr *Pointer, cudaExtent Extent) {
  GpuTrials::get().noteFirstUse();
  cudaError_t E = RECONVERGE_BELOW(cudaMalloc3D, Pointer, Extent);
  return noted(E, Allocations::Device, "cudaMalloc3D",
               E ? nullptr : Pointer->ptr,
               E ? 0 : Pointer->pitch * Extent.height * Extent.depth);
}

template <bool Own>
static cudaError_t mallocAsync(void **Pointer, size_t Bytes,
                               cudaStream_t Stream) {
  GpuTrials::get().noteFirstUse();
  using Function = cudaError_t (*)(void **, size_t, cudaStream_t);
  cudaError_t E = below<Function>(
      Own ? "cudaMallocAsync_ptsz" : "cudaMallocAsync", Pointer, Bytes, Stream);
  return noted(E, Allocations::Device, "cudaMallocAsync",
               E ? nullptr : *Pointer, Bytes);
}

template <bool Own>
static cudaError_t mallocFromPoolAsync(void **Pointer, size_t Bytes,
                                       cudaMemPool_t Pool,
                                       cudaStream_t Stream) {
  GpuTrials::get().noteFirstUse();
  using Function =
      cudaError_t (*)(void **, size_t, cudaMemPool_t, cudaStream_t);
  cudaError_t E = below<Function>(Own ? "cudaMallocFromPoolAsync_ptsz"
                                      : "cudaMallocFromPoolAsync",
                                  Pointer, Bytes, Pool, Stream);
  return noted(E, Allocations::Device, "cudaMallocAsync",
               E ? nullptr : *Pointer, Bytes);
}

static cudaError_t mallocHost(void **Pointer, size_t Bytes) {
  using Function = cudaError_t (*)(void **, size_t);
  cudaError_t E = below<Function>("cudaMallocHost", Pointer, Bytes);
  return noted(E, Allocations::Host, "cudaMallocHost", E ? nullptr : *Pointer,
               Bytes);
}

static cudaError_t hostAlloc(void **Pointer, size_t Bytes, unsigned Flags) {
  using Function = cudaError_t (*)(void **, size_t, unsigned);
  cudaError_t E = below<Function>("cudaHostAlloc", Pointer, Bytes, Flags);
  return noted(E, Allocations::Host, "cudaHostAlloc", E ? nullptr : *Pointer,
               Bytes);
}

static cudaError_t hostRegister(void *Pointer, size_t Bytes, unsigned Flags) {
  cudaError_t E = RECONVERGE_BELOW(cudaHostRegister, Pointer, Bytes, Flags);
  constexpr unsigned NotWritten =
      cudaHostRegisterReadOnly | cudaHostRegisterIoMemory;
  return Flags & NotWritten ? E
                            : noted(E, Allocations::Registered,
                                    "cudaHostRegister", Pointer, Bytes);
}

/// \p Name frees \p Pointer. Before the books forget it no trial may begin.
template <typename... Args>
static cudaError_t freed(const char *Name, void *Pointer, Args... More) {
  GpuTrials &T = GpuTrials::get();
  std::shared_lock<std::shared_mutex> Shared(T.Gate);
  using Function = cudaError_t (*)(void *, Args...);
  T.Memory.remove(Pointer); // another thread may be given it at once
  return reinterpret_cast<Function>(findInCudart(Name))(Pointer, More...);
}

static cudaError_t free(void *Pointer) { return freed("cudaFree", Pointer); }
static cudaError_t freeHost(void *Pointer) {
  return freed("cudaFreeHost", Pointer);
}
static cudaError_t hostUnregister(void *Pointer) {
  return freed("cudaHostUnregister", Pointer);
}
template <bool Own>
static cudaError_t freeAsync(void *Pointer, cudaStream_t Stream) {
  return freed(Own ? "cudaFreeAsync_ptsz" : "cudaFreeAsync", Pointer, Stream);
}

static cudaError_t deviceReset() {
  using Function = cudaError_t (*)();
  cudaError_t E = below<Function>("cudaDeviceReset");
  if (!E)
    GpuTrials::get().Memory.clear();
  return E;
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

template <bool Own>
static cudaError_t beginCapture(cudaStream_t Stream,
                                cudaStreamCaptureMode Mode) {
  cudaError_t E = RECONVERGE_BELOW_PTSZ(cudaStreamBeginCapture, Stream, Mode);
  if (!E)
    ++GpuTrials::get().Captures;
  return E;
}

#if CUDART_VERSION >= 12030
template <bool Own>
static cudaError_t beginCaptureToGraph(cudaStream_t Stream, cudaGraph_t Graph,
                                       const cudaGraphNode_t *Nodes,
                                       const cudaGraphEdgeData *Edges,
                                       size_t Count,
                                       cudaStreamCaptureMode Mode) {
  cudaError_t E = RECONVERGE_BELOW_PTSZ(cudaStreamBeginCaptureToGraph, Stream,
                                        Graph, Nodes, Edges, Count, Mode);
  if (!E)
    ++GpuTrials::get().Captures;
  return E;
}

#endif

template <bool Own>
static cudaError_t endCapture(cudaStream_t Stream, cudaGraph_t *Graph) {
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  (void)cudart().StreamIsCapturing(
      Own && !Stream ? cudaStreamPerThread : Stream, &Status);
  cudaError_t E = RECONVERGE_BELOW_PTSZ(cudaStreamEndCapture, Stream, Graph);
  if (Status != cudaStreamCaptureStatusNone)
    --GpuTrials::get().Captures;
  return E;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Function>
static reconverge_backend_symbol entry(const char *Name, Function *F) {
  return {Name, reinterpret_cast<void *>(F)};
}

ArrayRef<reconverge_backend_symbol> trialTable() {
#define RECONVERGE_PAIR(Name, F)                                               \
  entry(Name, F<false>), entry(Name "_ptsz", F<true>)
#define RECONVERGE_HELD_AS(Function, Name)                                     \
  entry(Name, HeldCall<decltype(&::Function)>::call<[] { return Name; }>),
#define RECONVERGE_HELD(Name) RECONVERGE_HELD_AS(Name, #Name)
#define RECONVERGE_HELD_PTSZ(Name)                                             \
  RECONVERGE_HELD_AS(Name, #Name) RECONVERGE_HELD_AS(Name, #Name "_ptsz")
#define RECONVERGE_HELD_PTDS(Name)                                             \
  RECONVERGE_HELD_AS(Name, #Name) RECONVERGE_HELD_AS(Name, #Name "_ptds")
  static const reconverge_backend_symbol Symbols[] = {
#include "runtime/gpu/HeldCalls.def"
      entry("__cudaRegisterFatBinary", registerFatBinary),
      entry("__cudaRegisterFatBinaryEnd", registerFatBinaryEnd),
      entry("__cudaUnregisterFatBinary", unregisterFatBinary),
      entry("__cudaRegisterFunction", registerFunction),
      entry("__cudaRegisterVar", registerVar),
      entry("__cudaRegisterManagedVar", registerManagedVar),
      RECONVERGE_PAIR("cudaLaunchKernel", launchKernel),
      RECONVERGE_PAIR("cudaLaunchKernelExC", launchKernelExC),
      RECONVERGE_PAIR("cudaLaunchCooperativeKernel", launchCooperativeKernel),
      entry("cudaGetLastError", getLastError),
      entry("cudaPeekAtLastError", peekAtLastError),
      entry("cudaFuncSetAttribute", funcSetAttribute),
      entry("cudaFuncSetCacheConfig", funcSetCacheConfig),
      entry("cudaMalloc", malloc),
      entry("cudaMallocManaged", mallocManaged),
      entry("cudaMallocPitch", mallocPitch),
      entry("cudaMalloc3D", malloc3D),
      RECONVERGE_PAIR("cudaMallocAsync", mallocAsync),
      RECONVERGE_PAIR("cudaMallocFromPoolAsync", mallocFromPoolAsync),
      entry("cudaMallocHost", mallocHost),
      entry("cudaHostAlloc", hostAlloc),
      entry("cudaHostRegister", hostRegister),
      entry("cudaHostUnregister", hostUnregister),
      entry("cudaFree", free),
      entry("cudaFreeHost", freeHost),
      RECONVERGE_PAIR("cudaFreeAsync", freeAsync),
      entry("cudaDeviceReset", deviceReset),
      RECONVERGE_PAIR("cudaStreamBeginCapture", beginCapture),
#if CUDART_VERSION >= 12030
      RECONVERGE_PAIR("cudaStreamBeginCaptureToGraph", beginCaptureToGraph),
#endif
      RECONVERGE_PAIR("cudaStreamEndCapture", endCapture),
  };
  return Symbols;
}

} // namespace reconverge::gpu
