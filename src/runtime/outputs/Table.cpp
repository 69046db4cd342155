//===- runtime/outputs/Table.cpp - The calls that outputs need ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the shim sends here instead of to the runtime below. All of
// them end there, with the program's own arguments. The forms with _ptsz mean
// the thread's own stream by the null stream; Own says which form it is.
//
//===----------------------------------------------------------------------===//

#include "core/OutputBuffers.h"
#include "runtime/outputs/Watch.h"
#include "runtime/shim/Backend.h"

#include <cstdio>
#include <cstdlib>

namespace reconverge::outputs {

/// Calls the function \p Name of the runtime below.
template <typename... Args>
static cudaError_t below(const char *Name, Args... Values) {
  using Function = cudaError_t(Args...);
  return reinterpret_cast<Function *>(Watch::get().below(Name))(Values...);
}

static void registerFunction(void **Handle, const char *Stub, char *DeviceFun,
                             const char *DeviceName, int ThreadLimit,
                             uint3 *Tid, uint3 *Bid, dim3 *BlockDim,
                             dim3 *GridDim, int *WarpSize) {
  Watch::get().addKernel(Stub, DeviceName);
  reinterpret_cast<decltype(&registerFunction)>(Watch::get().below(
      "__cudaRegisterFunction"))(Handle, Stub, DeviceFun, DeviceName,
                                 ThreadLimit, Tid, Bid, BlockDim, GridDim,
                                 WarpSize);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Notes the launch of \p Stub if it returned no error.
static cudaError_t noted(cudaError_t Result, const void *Stub, void **Args) {
  if (!Result)
    Watch::get().launched(Stub, Args);
  return Result;
}

template <bool Own>
static cudaError_t launchKernel(const void *Stub, dim3 Grid, dim3 Block,
                                void **Args, size_t Shared,
                                cudaStream_t Stream) {
  return noted(below(Own ? "cudaLaunchKernel_ptsz" : "cudaLaunchKernel", Stub,
                     Grid, Block, Args, Shared, Stream),
               Stub, Args);
}

template <bool Own>
static cudaError_t launchKernelExC(const cudaLaunchConfig_t *Config,
                                   const void *Stub, void **Args) {
  return noted(below(Own ? "cudaLaunchKernelExC_ptsz" : "cudaLaunchKernelExC",
                     Config, Stub, Args),
               Stub, Args);
}

template <bool Own>
static cudaError_t launchCooperative(const void *Stub, dim3 Grid, dim3 Block,
                                     void **Args, size_t Shared,
                                     cudaStream_t Stream) {
  return noted(below(Own ? "cudaLaunchCooperativeKernel_ptsz"
                         : "cudaLaunchCooperativeKernel",
                     Stub, Grid, Block, Args, Shared, Stream),
               Stub, Args);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Notes the block at \p *Pointer if the call returned no error.
static cudaError_t noted(cudaError_t Result, void *const *Pointer,
                         uint64_t Bytes) {
  if (!Result)
    Watch::get().add(*Pointer, Bytes);
  return Result;
}

static cudaError_t malloc(void **Pointer, size_t Bytes) {
  return noted(below("cudaMalloc", Pointer, Bytes), Pointer, Bytes);
}

static cudaError_t mallocManaged(void **Pointer, size_t Bytes, unsigned Flags) {
  return noted(below("cudaMallocManaged", Pointer, Bytes, Flags), Pointer,
               Bytes);
}

static cudaError_t mallocPitch(void **Pointer, size_t *Pitch, size_t Width,
                               size_t Height) {
  const cudaError_t E = below("cudaMallocPitch", Pointer, Pitch, Width, Height);
  return noted(E, Pointer, E ? 0 : *Pitch * Height);
}

static cudaError_t malloc3D(cudaPitchedPtr *Out, cudaExtent Extent) {
  const cudaError_t E = below("cudaMalloc3D", Out, Extent);
  return E ? E : noted(E, &Out->ptr, Out->pitch * Extent.height * Extent.depth);
}

template <bool Own>
static cudaError_t mallocAsync(void **Pointer, size_t Bytes,
                               cudaStream_t Stream) {
  return noted(below(Own ? "cudaMallocAsync_ptsz" : "cudaMallocAsync", Pointer,
                     Bytes, Stream),
               Pointer, Bytes);
}

template <bool Own>
static cudaError_t mallocFromPoolAsync(void **Pointer, size_t Bytes,
                                       cudaMemPool_t Pool,
                                       cudaStream_t Stream) {
  return noted(
      below(Own ? "cudaMallocFromPoolAsync_ptsz" : "cudaMallocFromPoolAsync",
            Pointer, Bytes, Pool, Stream),
      Pointer, Bytes);
}

static cudaError_t mallocHost(void **Pointer, size_t Bytes) {
  return noted(below("cudaMallocHost", Pointer, Bytes), Pointer, Bytes);
}

static cudaError_t hostAlloc(void **Pointer, size_t Bytes, unsigned Flags) {
  return noted(below("cudaHostAlloc", Pointer, Bytes, Flags), Pointer, Bytes);
}

static cudaError_t free(void *Pointer) {
  Watch::get().beforeFree(Pointer);
  return below("cudaFree", Pointer);
}

static cudaError_t freeHost(void *Pointer) {
  Watch::get().beforeFree(Pointer);
  return below("cudaFreeHost", Pointer);
}

/// A free that is captured is none yet, and a capture allows no reading.
template <bool Own>
static cudaError_t freeAsync(void *Pointer, cudaStream_t Stream) {
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  (void)below(Own ? "cudaStreamIsCapturing_ptsz" : "cudaStreamIsCapturing",
              Stream, &Status);
  if (Status == cudaStreamCaptureStatusNone)
    Watch::get().beforeFree(Pointer);
  return below(Own ? "cudaFreeAsync_ptsz" : "cudaFreeAsync", Pointer, Stream);
}

static cudaError_t deviceReset() {
  Watch::get().beforeReset();
  return below("cudaDeviceReset");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Function>
static reconverge_backend_symbol entry(const char *Name, Function *F) {
  return {Name, reinterpret_cast<void *>(F)};
}

static const reconverge_backend_symbol *table(size_t &Count) {
#define RECONVERGE_PAIR(Name, F)                                               \
  entry(Name, F<false>), entry(Name "_ptsz", F<true>)
  static const reconverge_backend_symbol Symbols[] = {
      entry("__cudaRegisterFunction", registerFunction),
      RECONVERGE_PAIR("cudaLaunchKernel", launchKernel),
      RECONVERGE_PAIR("cudaLaunchKernelExC", launchKernelExC),
      RECONVERGE_PAIR("cudaLaunchCooperativeKernel", launchCooperative),
      entry("cudaMalloc", malloc),
      entry("cudaMallocManaged", mallocManaged),
      entry("cudaMallocPitch", mallocPitch),
      entry("cudaMalloc3D", malloc3D),
      RECONVERGE_PAIR("cudaMallocAsync", mallocAsync),
      RECONVERGE_PAIR("cudaMallocFromPoolAsync", mallocFromPoolAsync),
      entry("cudaMallocHost", mallocHost),
      entry("cudaHostAlloc", hostAlloc),
      entry("cudaFree", free),
      entry("cudaFreeHost", freeHost),
      RECONVERGE_PAIR("cudaFreeAsync", freeAsync),
      entry("cudaDeviceReset", deviceReset),
  };
#undef RECONVERGE_PAIR
  Count = sizeof(Symbols) / sizeof(*Symbols);
  return Symbols;
}

} // namespace reconverge::outputs

using namespace reconverge;

extern "C" __attribute__((visibility("default")))
const reconverge_backend_symbol *
reconverge_counting_backend(size_t *Count, void *(*Next)(const char *)) {
  const char *List = std::getenv(OutputsVariable);
  if (List && outputs::Watch::get().configure(List, Next))
    return outputs::table(*Count);
  std::fprintf(stderr, "reconverge: error: %s is no list of buffers\n",
               List ? List : OutputsVariable);
  return nullptr;
}
