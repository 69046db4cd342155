//===- runtime/gpu/Cudart.h - The CUDA runtime below us ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that we call ourselves. They are looked up where the shim says,
// not linked: this library sits between the program and a runtime of the
// program's choice, and calls of ours must not come back to us.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_GPU_CUDART_H
#define RECONVERGE_RUNTIME_GPU_CUDART_H

#include "launch/CudaPlace.h"

#include <cuda_runtime_api.h>

namespace reconverge::gpu {

/// Finds a function of the runtime below by its name; null if it lacks it.
using Lookup = void *(*)(const char *Name);
void setCudart(Lookup Find);
void *findInCudart(const char *Name);

struct Cudart {
  // What compilers emit calls to; in no header that a host compiler includes.
  void **(*RegisterFatBinary)(void *);
  void (*RegisterFunction)(void **, const char *, char *, const char *, int,
                           uint3 *, uint3 *, dim3 *, dim3 *, int *);
  void (*RegisterVar)(void **, char *, char *, const char *, int, size_t, int,
                      int);
  void (*RegisterManagedVar)(void **, void **, char *, const char *, int,
                             size_t, int, int);
  char (*InitModule)(void **);
  void (*RegisterFatBinaryEnd)(void **);
  void (*UnregisterFatBinary)(void **);

  decltype(&::cudaLaunchKernel) LaunchKernel, LaunchKernelPtsz;
  decltype(&::cudaLaunchKernelExC) LaunchKernelExC, LaunchKernelExCPtsz;
  decltype(&::cudaLaunchCooperativeKernel) LaunchCooperativeKernel,
      LaunchCooperativeKernelPtsz;
  decltype(&::cudaMalloc) Malloc = nullptr;
  cudaError_t (*Free)(void *);
  decltype(&::cudaMemGetInfo) MemGetInfo;
  decltype(&::cudaMemcpy) Memcpy;
  decltype(&::cudaMemset) Memset;
  decltype(&::cudaMemsetAsync) MemsetAsync;
  decltype(&::cudaMemcpyAsync) MemcpyAsync;
  cudaError_t (*GetSymbolAddress)(void **, const void *);
  decltype(&::cudaStreamIsCapturing) StreamIsCapturing;
  decltype(&::cudaStreamSynchronize) StreamSynchronize;
  decltype(&::cudaLaunchHostFunc) LaunchHostFunc;
  decltype(&::cudaDeviceSynchronize) DeviceSynchronize;
  decltype(&::cudaDeviceGetLimit) DeviceGetLimit;
  decltype(&::cudaDeviceSetLimit) DeviceSetLimit;
  cudaError_t (*EventCreate)(cudaEvent_t *);
  decltype(&::cudaEventDestroy) EventDestroy;
  decltype(&::cudaEventRecord) EventRecord;
  decltype(&::cudaEventElapsedTime) EventElapsedTime;
  decltype(&::cudaGetDevice) GetDevice;
  decltype(&::cudaGetDeviceCount) GetDeviceCount;
  decltype(&::cudaDeviceGetAttribute) DeviceGetAttribute;
  cudaError_t (*GetDeviceProperties)(cudaDeviceProp *, int);
  decltype(&::cudaDriverGetVersion) DriverGetVersion;
  cudaError_t (*FuncGetAttributes)(cudaFuncAttributes *, const void *);
  decltype(&::cudaGetLastError) GetLastError;
  decltype(&::cudaPeekAtLastError) PeekAtLastError;
  decltype(&::cudaGetErrorName) GetErrorName;
  decltype(&::cudaGetErrorString) GetErrorString;
};

/// Looked up at first use, after setCudart().
const Cudart &cudart();
/// Those that launches by recipes need.
const launch::CudaCalls &launchCalls();

} // namespace reconverge::gpu

#endif
