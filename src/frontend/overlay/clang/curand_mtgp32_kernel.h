//===- curand_mtgp32_kernel.h - curand's, when it is wanted ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang's wrapper includes curand's header of this name before any line of a
// CUDA source, because it declares blockDim and threadIdx for the host, with
// types that are not clang's. Here that is put right when a program includes
// it, and the wrapper gets nothing.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_IN_WRAPPER
#pragma push_macro("dim3")
#pragma push_macro("uint3")
#define dim3 __cuda_builtin_blockDim_t
#define uint3 __cuda_builtin_threadIdx_t
#include_next <curand_mtgp32_kernel.h>
#pragma pop_macro("dim3")
#pragma pop_macro("uint3")
#endif
