//===- __clang_cuda_runtime_wrapper.h - clang's, mended -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang includes its header of this name before any line of a CUDA source. In
// clang 19 its __reduce_*_sync(mask, value) hand their arguments on in this
// order, but the builtins, like the instruction redux.sync, take the value
// first: the members would be given by the value, and the mask added up. While
// clang's header is read, and only then, the builtins change their order.
//
// A macro's own name in its replacement is not replaced again ([cpp.rescan]).
//
// clang 19 ignores __managed__ and __grid_constant__; our passes make them of
// annotations (frontend/Managed.cpp, frontend/GridConstants.cpp).
//
// What clang's header lacks of nvcc's follows. The user's sources then see the
// macros by which they know nvcc; CCCL has to go on taking the compiler for
// clang, so the two of its headers that ask are read before.
//
// clang reads the header of one of curand's generators as well, for the sake of
// those who include it; its names would meet the user's macros. It is read when
// they do (curand_mtgp32_kernel.h beside this file).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_CUDA_RUNTIME_WRAPPER_H
#define RECONVERGE_OVERLAY_CUDA_RUNTIME_WRAPPER_H

#if __clang_major__ == 19
#define __nvvm_redux_sync_add(mask, value) __nvvm_redux_sync_add(value, mask)
#define __nvvm_redux_sync_umin(mask, value) __nvvm_redux_sync_umin(value, mask)
#define __nvvm_redux_sync_umax(mask, value) __nvvm_redux_sync_umax(value, mask)
#define __nvvm_redux_sync_min(mask, value) __nvvm_redux_sync_min(value, mask)
#define __nvvm_redux_sync_max(mask, value) __nvvm_redux_sync_max(value, mask)
#define __nvvm_redux_sync_and(mask, value) __nvvm_redux_sync_and(value, mask)
#define __nvvm_redux_sync_or(mask, value) __nvvm_redux_sync_or(value, mask)
#define __nvvm_redux_sync_xor(mask, value) __nvvm_redux_sync_xor(value, mask)
#endif

// In what clang reads and nvcc does not, or not so, a user's macros would meet
// these names. (Others they meet under nvcc as well.)
#pragma push_macro("N")
#pragma push_macro("l")
#pragma push_macro("q")
#pragma push_macro("r")
#pragma push_macro("load")
#pragma push_macro("store")
#pragma push_macro("word")
#undef N
#undef l
#undef q
#undef r
#undef load
#undef store
#undef word
// With this macro the toolkit's header reads <functional>, before device code
// has functions to build on.
#pragma push_macro("__CUDACC_EXTENDED_LAMBDA__")
#undef __CUDACC_EXTENDED_LAMBDA__
#define RECONVERGE_IN_WRAPPER
#include_next <__clang_cuda_runtime_wrapper.h>
#undef RECONVERGE_IN_WRAPPER

#undef __nvvm_redux_sync_add
#undef __nvvm_redux_sync_umin
#undef __nvvm_redux_sync_umax
#undef __nvvm_redux_sync_min
#undef __nvvm_redux_sync_max
#undef __nvvm_redux_sync_and
#undef __nvvm_redux_sync_or
#undef __nvvm_redux_sync_xor

#undef __managed__
#define __managed__ __attribute__((device, annotate("reconverge.managed")))
#undef __grid_constant__
#ifdef __CUDA_ARCH__
#define __grid_constant__ __attribute__((annotate("reconverge.grid_constant")))
#else
#define __grid_constant__
#endif

// A GNU attribute by another name.
#undef __nv_pure__
#define __nv_pure__ __attribute__((pure))

// Closure types that nvcc wraps. clang takes every lambda as it is, and a
// header that asks wants to refuse what a wrapped one cannot do.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

#include "__reconverge_atomics.h"
#include "__reconverge_functions.h"
#include "__reconverge_new.h"
#if __cplusplus >= 201103L
#include "__reconverge_surfaces.h"
#endif

#if __has_include(<nv/target>)
#include <nv/target>
#endif
#if __has_include(<cuda/std/__cccl/compiler.h>)
#include <cuda/std/__cccl/compiler.h>
#elif __has_include(<cuda/std/detail/libcxx/include/__cccl/compiler.h>)
#include <cuda/std/detail/libcxx/include/__cccl/compiler.h>
#endif

#pragma pop_macro("__CUDACC_EXTENDED_LAMBDA__")
#ifdef __CUDACC_EXTENDED_LAMBDA__
#include <functional>
#include <utility>
#endif

#undef __CUDACC__
#define __CUDACC__ 1
#ifndef RECONVERGE_AS_CLANG // CMake's question (frontend/Clang.cpp)
#define __NVCC__ 1
#endif
#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1

#pragma pop_macro("N")
#pragma pop_macro("l")
#pragma pop_macro("q")
#pragma pop_macro("r")
#pragma pop_macro("load")
#pragma pop_macro("store")
#pragma pop_macro("word")

#endif
