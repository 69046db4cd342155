//===- runtime/gpu/Cudart.cpp - The CUDA runtime below us -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names go through a macro, so that where the toolkit's header renames a
// function (cudaGetDeviceProperties is cudaGetDeviceProperties_v2 with CUDA 12)
// the one is looked up whose structures we were compiled with.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Cudart.h"

namespace reconverge::gpu {

static Lookup Find;

void setCudart(Lookup NewFind) { Find = NewFind; }

void *findInCudart(const char *Name) { return Find(Name); }

#define RECONVERGE_TEXT_(X) #X
#define RECONVERGE_TEXT(X) RECONVERGE_TEXT_(X)

template <typename Function>
static void find(Function &Slot, const char *Name) {
  Slot = reinterpret_cast<Function>(Find(Name));
}

#define RECONVERGE_FIND(Slot, Name) find(C.Slot, RECONVERGE_TEXT(Name))

static Cudart findAll() {
  Cudart C = {};
  RECONVERGE_FIND(RegisterFatBinary, __cudaRegisterFatBinary);
  RECONVERGE_FIND(RegisterFunction, __cudaRegisterFunction);
  RECONVERGE_FIND(RegisterVar, __cudaRegisterVar);
  RECONVERGE_FIND(RegisterManagedVar, __cudaRegisterManagedVar);
  RECONVERGE_FIND(InitModule, __cudaInitModule);
  RECONVERGE_FIND(RegisterFatBinaryEnd, __cudaRegisterFatBinaryEnd);
  RECONVERGE_FIND(UnregisterFatBinary, __cudaUnregisterFatBinary);
  RECONVERGE_FIND(LaunchKernel, cudaLaunchKernel);
  RECONVERGE_FIND(LaunchKernelPtsz, cudaLaunchKernel_ptsz);
  RECONVERGE_FIND(LaunchKernelExC, cudaLaunchKernelExC);
  RECONVERGE_FIND(LaunchKernelExCPtsz, cudaLaunchKernelExC_ptsz);
  RECONVERGE_FIND(LaunchCooperativeKernel, cudaLaunchCooperativeKernel);
  RECONVERGE_FIND(LaunchCooperativeKernelPtsz,
                  cudaLaunchCooperativeKernel_ptsz);
  RECONVERGE_FIND(Malloc, cudaMalloc);
  RECONVERGE_FIND(Free, cudaFree);
  RECONVERGE_FIND(MemGetInfo, cudaMemGetInfo);
  RECONVERGE_FIND(Memcpy, cudaMemcpy);
  RECONVERGE_FIND(Memset, cudaMemset);
  RECONVERGE_FIND(MemsetAsync, cudaMemsetAsync);
  RECONVERGE_FIND(MemcpyAsync, cudaMemcpyAsync);
  RECONVERGE_FIND(GetSymbolAddress, cudaGetSymbolAddress);
  RECONVERGE_FIND(StreamIsCapturing, cudaStreamIsCapturing);
  RECONVERGE_FIND(StreamSynchronize, cudaStreamSynchronize);
  RECONVERGE_FIND(LaunchHostFunc, cudaLaunchHostFunc);
  RECONVERGE_FIND(DeviceSynchronize, cudaDeviceSynchronize);
  RECONVERGE_FIND(DeviceGetLimit, cudaDeviceGetLimit);
  RECONVERGE_FIND(DeviceSetLimit, cudaDeviceSetLimit);
  RECONVERGE_FIND(EventCreate, cudaEventCreate);
  RECONVERGE_FIND(EventDestroy, cudaEventDestroy);
  RECONVERGE_FIND(EventRecord, cudaEventRecord);
  RECONVERGE_FIND(EventElapsedTime, cudaEventElapsedTime);
  RECONVERGE_FIND(GetDevice, cudaGetDevice);
  RECONVERGE_FIND(GetDeviceCount, cudaGetDeviceCount);
  RECONVERGE_FIND(DeviceGetAttribute, cudaDeviceGetAttribute);
  RECONVERGE_FIND(GetDeviceProperties, cudaGetDeviceProperties);
  RECONVERGE_FIND(DriverGetVersion, cudaDriverGetVersion);
  RECONVERGE_FIND(FuncGetAttributes, cudaFuncGetAttributes);
  RECONVERGE_FIND(GetLastError, cudaGetLastError);
  RECONVERGE_FIND(PeekAtLastError, cudaPeekAtLastError);
  RECONVERGE_FIND(GetErrorName, cudaGetErrorName);
  RECONVERGE_FIND(GetErrorString, cudaGetErrorString);
  return C;
}

static launch::CudaCalls findLaunchCalls() {
  launch::CudaCalls C = {};
  RECONVERGE_FIND(GetDevice, cudaGetDevice);
  RECONVERGE_FIND(DeviceGetAttribute, cudaDeviceGetAttribute);
  RECONVERGE_FIND(ExchangeCaptureMode, cudaThreadExchangeStreamCaptureMode);
  RECONVERGE_FIND(MemPoolCreate, cudaMemPoolCreate);
  RECONVERGE_FIND(MemPoolSetAttribute, cudaMemPoolSetAttribute);
  RECONVERGE_FIND(MemPoolTrimTo, cudaMemPoolTrimTo);
  RECONVERGE_FIND(MallocFromPoolAsync, cudaMallocFromPoolAsync);
  RECONVERGE_FIND(FreeAsync, cudaFreeAsync);
  RECONVERGE_FIND(MemsetAsync, cudaMemsetAsync);
  RECONVERGE_FIND(MaxActiveBlocks,
                  cudaOccupancyMaxActiveBlocksPerMultiprocessor);
  RECONVERGE_FIND(LaunchKernel, cudaLaunchKernel);
  RECONVERGE_FIND(StreamPriorityRange, cudaDeviceGetStreamPriorityRange);
  RECONVERGE_FIND(StreamCreate, cudaStreamCreateWithPriority);
  RECONVERGE_FIND(StreamDestroy, cudaStreamDestroy);
  RECONVERGE_FIND(EventCreate, cudaEventCreateWithFlags);
  RECONVERGE_FIND(EventDestroy, cudaEventDestroy);
  RECONVERGE_FIND(EventRecord, cudaEventRecord);
  RECONVERGE_FIND(StreamWaitEvent, cudaStreamWaitEvent);
  return C;
}

#undef RECONVERGE_FIND

const Cudart &cudart() {
  static const Cudart Found = findAll();
  return Found;
}

const launch::CudaCalls &launchCalls() {
  static const launch::CudaCalls Found = findLaunchCalls();
  return Found;
}

} // namespace reconverge::gpu
