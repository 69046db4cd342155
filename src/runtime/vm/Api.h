//===- runtime/vm/Api.h - The CUDA runtime's functions, ours ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares, in namespace api, one function for each line of Table.def, with the
// very type that the toolkit's header gives it. A definition that does not
// match ("cudaError_t api::cudaFree(int)") does not compile.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_VM_API_H
#define RECONVERGE_RUNTIME_VM_API_H

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace reconverge::runtime::api {

// Some are deprecated by the toolkit and still called by programs.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#define RECONVERGE_API(Name) decltype(::Name) Name;
#define RECONVERGE_COMPILER_API(Name)
#include "runtime/vm/Table.def"
#undef RECONVERGE_API
#undef RECONVERGE_COMPILER_API
#pragma clang diagnostic pop

// What compilers emit calls to; in no header that a host compiler may include.
void **__cudaRegisterFatBinary(void *Wrapper);
void __cudaRegisterFatBinaryEnd(void **Handle);
void __cudaUnregisterFatBinary(void **Handle);
char __cudaInitModule(void **Handle);
void __cudaRegisterFunction(void **Handle, const char *Stub, char *DeviceFun,
                            const char *DeviceName, int ThreadLimit, uint3 *Tid,
                            uint3 *Bid, dim3 *BlockDim, dim3 *GridDim,
                            int *WarpSize);
void __cudaRegisterVar(void **Handle, char *HostVar, char *DeviceAddress,
                       const char *DeviceName, int Extern, size_t Size,
                       int Constant, int Global);
void __cudaRegisterManagedVar(void **Handle, void **HostVar,
                              char *DeviceAddress, const char *DeviceName,
                              int Extern, size_t Size, int Constant,
                              int Global);
unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block, size_t SharedMem,
                                     struct CUstream_st *Stream);
cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block,
                                       size_t *SharedMem, void *Stream);
#if CUDART_VERSION >= 13000
cudaError_t __cudaGetKernel(cudaKernel_t *Kernel, const void *Stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t Kernel, dim3 Grid, dim3 Block,
                               void **Args, size_t SharedMem,
                               cudaStream_t Stream);
#endif

} // namespace reconverge::runtime::api

#endif
