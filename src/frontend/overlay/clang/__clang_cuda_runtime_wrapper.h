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
// clang 19 ignores __managed__; our pass makes it of an annotation
// (frontend/Managed.cpp).
//
// What nvcc brings and clang lacks comes last: surfaces, compare and exchange of
// 16 bits, atomics of 128 bits.
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

#include_next <__clang_cuda_runtime_wrapper.h>

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

#if __cplusplus >= 201103L
#include <__reconverge_surfaces.h>
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
extern "C" __device__ inline __attribute__((always_inline)) unsigned short
__usAtomicCAS(unsigned short *at, unsigned short compare,
              unsigned short value) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
               : "=h"(old)
               : "l"(at), "h"(compare), "h"(value)
               : "memory");
  return old;
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define RECONVERGE_ATOMICS(suffix, scope)                                      \
  template <typename T, typename = __reconverge_if_16_bytes<T>>                \
  __device__ inline T atomicCAS##suffix(T *at, T compare, T value) {           \
    unsigned long long c[2], v[2], o[2];                                       \
    __builtin_memcpy(c, &compare, 16);                                         \
    __builtin_memcpy(v, &value, 16);                                           \
    asm volatile("{ .reg .b128 c, v, o; mov.b128 c, {%3, %4}; "                \
                 "mov.b128 v, {%5, %6}; "                                      \
                 "atom.relaxed." scope ".cas.b128 o, [%2], c, v; "             \
                 "mov.b128 {%0, %1}, o; }"                                     \
                 : "=l"(o[0]), "=l"(o[1])                                      \
                 : "l"(at), "l"(c[0]), "l"(c[1]), "l"(v[0]), "l"(v[1])         \
                 : "memory");                                                  \
    __builtin_memcpy(&value, o, 16);                                           \
    return value;                                                              \
  }                                                                            \
  template <typename T, typename = __reconverge_if_16_bytes<T>>                \
  __device__ inline T atomicExch##suffix(T *at, T value) {                     \
    unsigned long long v[2], o[2];                                             \
    __builtin_memcpy(v, &value, 16);                                           \
    asm volatile("{ .reg .b128 v, o; mov.b128 v, {%3, %4}; "                   \
                 "atom.relaxed." scope ".exch.b128 o, [%2], v; "               \
                 "mov.b128 {%0, %1}, o; }"                                     \
                 : "=l"(o[0]), "=l"(o[1])                                      \
                 : "l"(at), "l"(v[0]), "l"(v[1])                               \
                 : "memory");                                                  \
    __builtin_memcpy(&value, o, 16);                                           \
    return value;                                                              \
  }
template <bool> struct __reconverge_if;
template <> struct __reconverge_if<true> {
  typedef void type;
};
template <typename T>
using __reconverge_if_16_bytes = typename __reconverge_if<
    sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T)>::type;
RECONVERGE_ATOMICS(, "gpu")
RECONVERGE_ATOMICS(_block, "cta")
RECONVERGE_ATOMICS(_system, "sys")
#undef RECONVERGE_ATOMICS
#endif

#endif
