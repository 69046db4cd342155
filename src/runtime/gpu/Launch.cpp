//===- runtime/gpu/Launch.cpp - Our part of the CUDA runtime --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the shim sends here instead of to the runtime below. All
// of them end there.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Launch.h"

#include "core/Error.h"
#include "runtime/gpu/Counter.h"
#include "runtime/gpu/Cudart.h"

#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace reconverge::gpu {

static void **registerFatBinary(void *Wrapper) {
  Counter &C = Counter::get();
  return registerImage(Wrapper, C.options(),
                       [&](const Twine &What) { C.say(What); });
}

static void registerFunction(void **Handle, const char *Stub, char *DeviceFun,
                             const char *DeviceName, int ThreadLimit,
                             uint3 *Tid, uint3 *Bid, dim3 *BlockDim,
                             dim3 *GridDim, int *WarpSize) {
  registerKernel(Handle, Stub, DeviceName, Counter::get().options());
  cudart().RegisterFunction(Handle, Stub, DeviceFun, DeviceName, ThreadLimit,
                            Tid, Bid, BlockDim, GridDim, WarpSize);
}

static cudaError_t counted(const void *Stub, dim3 Grid, dim3 Block, void **Args,
                           size_t Shared, cudaStream_t Stream,
                           function_ref<cudaError_t()> Launch) {
  const CountedKernel *K = findKernel(Stub);
  if (!K)
    return Launch();
  LaunchShape Shape;
  Shape.Grid = {Grid.x, Grid.y, Grid.z};
  Shape.Block = {Block.x, Block.y, Block.z};
  Shape.DynamicShared = Shared;
  return Counter::get().launch(*K, Shape, Stub, Args, Stream, Launch);
}

/// The forms with _ptsz mean the thread's own stream by the null stream.
static cudaStream_t ownStream(cudaStream_t Stream) {
  return Stream ? Stream : cudaStreamPerThread;
}

static cudaError_t launchKernel(const void *Stub, dim3 Grid, dim3 Block,
                                void **Args, size_t Shared,
                                cudaStream_t Stream) {
  return counted(Stub, Grid, Block, Args, Shared, Stream, [&] {
    return cudart().LaunchKernel(Stub, Grid, Block, Args, Shared, Stream);
  });
}

static cudaError_t launchKernelPtsz(const void *Stub, dim3 Grid, dim3 Block,
                                    void **Args, size_t Shared,
                                    cudaStream_t Stream) {
  return counted(Stub, Grid, Block, Args, Shared, ownStream(Stream), [&] {
    return cudart().LaunchKernelPtsz(Stub, Grid, Block, Args, Shared, Stream);
  });
}

static cudaError_t launchKernelExC(const cudaLaunchConfig_t *Config,
                                   const void *Stub, void **Args) {
  auto Launch = [&] { return cudart().LaunchKernelExC(Config, Stub, Args); };
  return Config ? counted(Stub, Config->gridDim, Config->blockDim, Args,
                          Config->dynamicSmemBytes, Config->stream, Launch)
                : Launch();
}

static cudaError_t launchKernelExCPtsz(const cudaLaunchConfig_t *Config,
                                       const void *Stub, void **Args) {
  auto Launch = [&] {
    return cudart().LaunchKernelExCPtsz(Config, Stub, Args);
  };
  return Config ? counted(Stub, Config->gridDim, Config->blockDim, Args,
                          Config->dynamicSmemBytes, ownStream(Config->stream),
                          Launch)
                : Launch();
}

/// Probes may take registers that a grid needs to be on the device as a whole.
static void nameCooperative(const void *Stub) {
  if (const CountedKernel *K = findKernel(Stub))
    Counter::get().say(demangle(K->Code->getName()) +
                       " is not counted: its launch is a cooperative one");
}

static cudaError_t launchCooperativeKernel(const void *Stub, dim3 Grid,
                                           dim3 Block, void **Args,
                                           size_t Shared, cudaStream_t Stream) {
  nameCooperative(Stub);
  return cudart().LaunchCooperativeKernel(Stub, Grid, Block, Args, Shared,
                                          Stream);
}

static cudaError_t launchCooperativeKernelPtsz(const void *Stub, dim3 Grid,
                                               dim3 Block, void **Args,
                                               size_t Shared,
                                               cudaStream_t Stream) {
  nameCooperative(Stub);
  return cudart().LaunchCooperativeKernelPtsz(Stub, Grid, Block, Args, Shared,
                                              Stream);
}

template <typename Function>
static reconverge_backend_symbol entry(const char *Name, Function *F) {
  return {Name, reinterpret_cast<void *>(F)};
}

ArrayRef<reconverge_backend_symbol> countingTable() {
  static const reconverge_backend_symbol Symbols[] = {
      entry("__cudaRegisterFatBinary", registerFatBinary),
      entry("__cudaRegisterFunction", registerFunction),
      entry("__cudaUnregisterFatBinary", unregisterImage),
      entry("cudaLaunchKernel", launchKernel),
      entry("cudaLaunchKernel_ptsz", launchKernelPtsz),
      entry("cudaLaunchKernelExC", launchKernelExC),
      entry("cudaLaunchKernelExC_ptsz", launchKernelExCPtsz),
      entry("cudaLaunchCooperativeKernel", launchCooperativeKernel),
      entry("cudaLaunchCooperativeKernel_ptsz", launchCooperativeKernelPtsz),
  };
  return Symbols;
}

} // namespace reconverge::gpu
