//===- runtime/vm/DriverStreams.cpp - Work, as CUDA's driver has it -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, graphs and kernels are the same objects for driver and
// runtime. A kernel has no module here: its handle is what cudaGetFuncBySymbol
// or cudaGetKernel gives.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Driver.h"

#include "runtime/vm/Api.h"

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CUresult api::cuStreamCreate(CUstream *Out, unsigned Flags) {
  return contextCall(
      [&] { return api::cudaStreamCreateWithFlags(Out, Flags); });
}

CUresult api::cuStreamCreateWithPriority(CUstream *Out, unsigned Flags,
                                         int Priority) {
  return contextCall(
      [&] { return api::cudaStreamCreateWithPriority(Out, Flags, Priority); });
}

CUresult api::cuStreamDestroy(CUstream Stream) {
  return contextCall([&] { return api::cudaStreamDestroy(Stream); });
}

CUresult api::cuStreamSynchronize(CUstream Stream) {
  return contextCall([&] { return api::cudaStreamSynchronize(Stream); });
}

CUresult api::cuStreamQuery(CUstream Stream) {
  return contextCall([&] { return api::cudaStreamQuery(Stream); });
}

CUresult api::cuStreamWaitEvent(CUstream Stream, CUevent Event,
                                unsigned Flags) {
  return contextCall(
      [&] { return api::cudaStreamWaitEvent(Stream, Event, Flags); });
}

CUresult api::cuStreamGetFlags(CUstream Stream, unsigned *Flags) {
  return contextCall([&] { return api::cudaStreamGetFlags(Stream, Flags); });
}

CUresult api::cuStreamGetPriority(CUstream Stream, int *Priority) {
  return contextCall(
      [&] { return api::cudaStreamGetPriority(Stream, Priority); });
}

CUresult api::cuStreamGetId(CUstream Stream, unsigned long long *Id) {
  return contextCall([&] { return api::cudaStreamGetId(Stream, Id); });
}

CUresult api::cuStreamGetCtx(CUstream Stream, CUcontext *Out) {
  return contextCall([&]() -> cudaError_t {
    unsigned Flags = 0;
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = currentContext();
    return api::cudaStreamGetFlags(Stream, &Flags); // if it is a stream
  });
}

CUresult api::cuStreamAddCallback(CUstream Stream, CUstreamCallback Callback,
                                  void *Data, unsigned Flags) {
  return contextCall([&] {
    return api::cudaStreamAddCallback(
        Stream, reinterpret_cast<cudaStreamCallback_t>(Callback), Data, Flags);
  });
}

CUresult api::cuStreamAttachMemAsync(CUstream Stream, CUdeviceptr Address,
                                     size_t Length, unsigned Flags) {
  return contextCall([&] {
    return api::cudaStreamAttachMemAsync(Stream, pointerTo(Address), Length,
                                         Flags);
  });
}

CUresult api::cuLaunchHostFunc(CUstream Stream, CUhostFn Function, void *Data) {
  return contextCall(
      [&] { return api::cudaLaunchHostFunc(Stream, Function, Data); });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

CUresult api::cuStreamBeginCapture(CUstream Stream, CUstreamCaptureMode Mode) {
  return contextCall([&] {
    return api::cudaStreamBeginCapture(Stream, cudaStreamCaptureMode(Mode));
  });
}

CUresult api::cuStreamEndCapture(CUstream Stream, CUgraph *Out) {
  return contextCall([&] { return api::cudaStreamEndCapture(Stream, Out); });
}

CUresult api::cuStreamIsCapturing(CUstream Stream,
                                  CUstreamCaptureStatus *Status) {
  return contextCall([&] {
    return api::cudaStreamIsCapturing(
        Stream, reinterpret_cast<cudaStreamCaptureStatus *>(Status));
  });
}

CUresult api::cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *Mode) {
  return driverCall([&] {
    return api::cudaThreadExchangeStreamCaptureMode(
        reinterpret_cast<cudaStreamCaptureMode *>(Mode));
  });
}

CUresult api::cuGraphInstantiateWithFlags(CUgraphExec *Out, CUgraph Graph,
                                          unsigned long long Flags) {
  return contextCall(
      [&] { return api::cudaGraphInstantiateWithFlags(Out, Graph, Flags); });
}

CUresult api::cuGraphLaunch(CUgraphExec Graph, CUstream Stream) {
  return contextCall([&] { return api::cudaGraphLaunch(Graph, Stream); });
}

CUresult api::cuGraphExecDestroy(CUgraphExec Graph) {
  return contextCall([&] { return api::cudaGraphExecDestroy(Graph); });
}

CUresult api::cuGraphDestroy(CUgraph Graph) {
  return contextCall([&] { return api::cudaGraphDestroy(Graph); });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult api::cuEventCreate(CUevent *Out, unsigned Flags) {
  return contextCall([&] { return api::cudaEventCreateWithFlags(Out, Flags); });
}

CUresult api::cuEventRecord(CUevent Event, CUstream Stream) {
  return contextCall([&] { return api::cudaEventRecord(Event, Stream); });
}

CUresult api::cuEventRecordWithFlags(CUevent Event, CUstream Stream,
                                     unsigned Flags) {
  return contextCall(
      [&] { return api::cudaEventRecordWithFlags(Event, Stream, Flags); });
}

CUresult api::cuEventQuery(CUevent Event) {
  return contextCall([&] { return api::cudaEventQuery(Event); });
}

CUresult api::cuEventSynchronize(CUevent Event) {
  return contextCall([&] { return api::cudaEventSynchronize(Event); });
}

CUresult api::cuEventDestroy(CUevent Event) {
  return contextCall([&] { return api::cudaEventDestroy(Event); });
}

CUresult api::cuEventElapsedTime(float *Milliseconds, CUevent Begin,
                                 CUevent End) {
  return contextCall(
      [&] { return api::cudaEventElapsedTime(Milliseconds, Begin, End); });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Launches by \p Launch what a driver's call says.
template <typename Body>
static CUresult launchBy(CUfunction Kernel, void **Extra, Body &&Launch) {
  return contextCall([&]() -> cudaError_t {
    if (!Kernel)
      return cudaErrorInvalidResourceHandle;
    if (Extra)
      return unsupported("a launch with its arguments in `extra`");
    return Launch();
  });
}

CUresult api::cuLaunchKernel(CUfunction Kernel, unsigned GridX, unsigned GridY,
                             unsigned GridZ, unsigned BlockX, unsigned BlockY,
                             unsigned BlockZ, unsigned SharedMem,
                             CUstream Stream, void **Args, void **Extra) {
  return launchBy(Kernel, Extra, [&] {
    return api::cudaLaunchKernel(Kernel, dim3(GridX, GridY, GridZ),
                                 dim3(BlockX, BlockY, BlockZ), Args, SharedMem,
                                 Stream);
  });
}

CUresult api::cuLaunchCooperativeKernel(CUfunction Kernel, unsigned GridX,
                                        unsigned GridY, unsigned GridZ,
                                        unsigned BlockX, unsigned BlockY,
                                        unsigned BlockZ, unsigned SharedMem,
                                        CUstream Stream, void **Args) {
  return launchBy(Kernel, nullptr, [&] {
    return api::cudaLaunchCooperativeKernel(Kernel, dim3(GridX, GridY, GridZ),
                                            dim3(BlockX, BlockY, BlockZ), Args,
                                            SharedMem, Stream);
  });
}

CUresult api::cuLaunchKernelEx(const CUlaunchConfig *Config, CUfunction Kernel,
                               void **Args, void **Extra) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute) &&
                    offsetof(CUlaunchAttribute, value) ==
                        offsetof(cudaLaunchAttribute, val),
                "the driver's attributes are the runtime's");
  return launchBy(Kernel, Extra, [&]() -> cudaError_t {
    if (!Config)
      return cudaErrorInvalidValue;
    cudaLaunchConfig_t C = {};
    C.gridDim = dim3(Config->gridDimX, Config->gridDimY, Config->gridDimZ);
    C.blockDim = dim3(Config->blockDimX, Config->blockDimY, Config->blockDimZ);
    C.dynamicSmemBytes = Config->sharedMemBytes;
    C.stream = Config->hStream;
    C.attrs = reinterpret_cast<cudaLaunchAttribute *>(Config->attrs);
    C.numAttrs = Config->numAttrs;
    return api::cudaLaunchKernelExC(&C, Kernel, Args);
  });
}

/// Of \p A, what \p Attribute asks for.
static cudaError_t attributeOf(const cudaFuncAttributes &A,
                               CUfunction_attribute Attribute, int &Out) {
  switch (Attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    Out = A.maxThreadsPerBlock;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    Out = int(A.sharedSizeBytes);
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    Out = int(A.constSizeBytes);
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    Out = int(A.localSizeBytes);
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    Out = A.numRegs;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    Out = A.ptxVersion;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    Out = A.binaryVersion;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    Out = A.cacheModeCA;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    Out = A.maxDynamicSharedSizeBytes;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    Out = A.preferredShmemCarveout;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    Out = A.clusterDimMustBeSet;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    Out = A.requiredClusterWidth;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    Out = A.requiredClusterHeight;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    Out = A.requiredClusterDepth;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    Out = A.nonPortableClusterSizeAllowed;
    return cudaSuccess;
  default:
    Out = 0; // a hint
    return Attribute < CU_FUNC_ATTRIBUTE_MAX ? cudaSuccess
                                             : cudaErrorInvalidValue;
  }
}

CUresult api::cuFuncGetAttribute(int *Out, CUfunction_attribute Attribute,
                                 CUfunction Kernel) {
  return contextCall([&]() -> cudaError_t {
    cudaFuncAttributes A;
    if (!Out)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = api::cudaFuncGetAttributes(&A, Kernel))
      return Failed;
    return attributeOf(A, Attribute, *Out);
  });
}

CUresult api::cuFuncSetAttribute(CUfunction Kernel,
                                 CUfunction_attribute Attribute, int Value) {
  return contextCall([&] {
    return api::cudaFuncSetAttribute(Kernel, cudaFuncAttribute(Attribute),
                                     Value);
  });
}

CUresult api::cuFuncSetCacheConfig(CUfunction Kernel, CUfunc_cache Preference) {
  return contextCall([&] {
    return api::cudaFuncSetCacheConfig(Kernel, cudaFuncCache(Preference));
  });
}

#if CUDA_VERSION >= 13000
CUresult api::cuFuncGetName(const char **Name, CUfunction Kernel) {
  return contextCall([&] { return api::cudaFuncGetName(Name, Kernel); });
}

CUresult api::cuFuncGetParamInfo(CUfunction Kernel, size_t Index,
                                 size_t *Offset, size_t *Size) {
  return contextCall(
      [&] { return api::cudaFuncGetParamInfo(Kernel, Index, Offset, Size); });
}
#endif

CUresult api::cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks,
                                                          CUfunction Kernel,
                                                          int Threads,
                                                          size_t Dynamic) {
  return contextCall([&] {
    return api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(Blocks, Kernel,
                                                              Threads, Dynamic);
  });
}

CUresult api::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, CUfunction Kernel, int Threads, size_t Dynamic,
    unsigned Flags) {
  return contextCall([&] {
    return api::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        Blocks, Kernel, Threads, Dynamic, Flags);
  });
}

CUresult api::cuOccupancyAvailableDynamicSMemPerBlock(size_t *Bytes,
                                                      CUfunction Kernel,
                                                      int Blocks, int Threads) {
  return contextCall([&] {
    return api::cudaOccupancyAvailableDynamicSMemPerBlock(Bytes, Kernel, Blocks,
                                                          Threads);
  });
}

} // namespace reconverge::runtime
