//===- __reconverge_atomics.h - Atomics that clang 19 lacks ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc's __nv_atomic_* (CUDA 12.8 and later), and what its atomicCAS and
// atomicExch can do beyond 64 bits and below 32. All are inline PTX; order and
// scope are literals (nvcc insists), so of each switch one arm remains. An
// access that is sequentially consistent is a fence.sc before one that acquires
// (a store: before a relaxed one), as nvcc has it.
//
// Every name is reserved: a user's macros are defined before this is read.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_ATOMICS_H
#define RECONVERGE_OVERLAY_ATOMICS_H

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

#define RECONVERGE_DEVICE                                                      \
  static __inline__ __attribute__((always_inline, device))

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define RECONVERGE_CLUSTER ".cluster"
#else
#define RECONVERGE_CLUSTER ".gpu"
#endif

/// One of access(".cta"), ..., by the variable __scope.
#define RECONVERGE_IN_SCOPE(access, order)                                     \
  switch (__scope) {                                                           \
  case __NV_THREAD_SCOPE_THREAD:                                               \
  case __NV_THREAD_SCOPE_BLOCK:                                                \
    access(order ".cta");                                                      \
    break;                                                                     \
  case __NV_THREAD_SCOPE_CLUSTER:                                              \
    access(order RECONVERGE_CLUSTER);                                          \
    break;                                                                     \
  case __NV_THREAD_SCOPE_DEVICE:                                               \
    access(order ".gpu");                                                      \
    break;                                                                     \
  default:                                                                     \
    access(order ".sys");                                                      \
  }

/// The same by __order as well, for what reads and writes.
#define RECONVERGE_ORDERED(access)                                             \
  if (__order == __NV_ATOMIC_SEQ_CST)                                          \
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __scope);                    \
  switch (__order) {                                                           \
  case __NV_ATOMIC_RELAXED:                                                    \
    RECONVERGE_IN_SCOPE(access, ".relaxed")                                    \
    break;                                                                     \
  case __NV_ATOMIC_RELEASE:                                                    \
    RECONVERGE_IN_SCOPE(access, ".release")                                    \
    break;                                                                     \
  case __NV_ATOMIC_ACQ_REL:                                                    \
    RECONVERGE_IN_SCOPE(access, ".acq_rel")                                    \
    break;                                                                     \
  default:                                                                     \
    RECONVERGE_IN_SCOPE(access, ".acquire")                                    \
  }

RECONVERGE_DEVICE void
__nv_atomic_thread_fence(int __order, int __scope = __NV_THREAD_SCOPE_SYSTEM) {
#define RECONVERGE_FENCE(words) asm volatile("fence" words ";" ::: "memory")
  if (__order == __NV_ATOMIC_SEQ_CST)
    RECONVERGE_IN_SCOPE(RECONVERGE_FENCE, ".sc")
  else if (__order != __NV_ATOMIC_RELAXED)
    RECONVERGE_IN_SCOPE(RECONVERGE_FENCE, ".acq_rel")
#undef RECONVERGE_FENCE
}

//===----------------------------------------------------------------------===//
// Values as bits
//===----------------------------------------------------------------------===//

template <typename __T> struct __reconverge_same {
  typedef __T type;
};
template <bool> struct __reconverge_if;
template <> struct __reconverge_if<true> {
  typedef void type;
};

/// The four accesses to values of a size, as PTX. __Reg is what an asm takes.
template <unsigned __Bytes> struct __reconverge_bits;

#define RECONVERGE_LOAD(words)                                                 \
  asm volatile("ld" words RECONVERGE_BITS " %0, [%1];"                         \
               : "=" RECONVERGE_REG(__old)                                     \
               : "l"(__at)                                                     \
               : "memory")
#define RECONVERGE_STORE(words)                                                \
  asm volatile("st" words RECONVERGE_BITS " [%0], %1;" ::"l"(__at),            \
               RECONVERGE_REG(__value)                                         \
               : "memory")
#define RECONVERGE_EXCHANGE(words)                                             \
  asm volatile("atom" words ".exch" RECONVERGE_BITS " %0, [%1], %2;"           \
               : "=" RECONVERGE_REG(__old)                                     \
               : "l"(__at), RECONVERGE_REG(__value)                            \
               : "memory")
#define RECONVERGE_COMPARE(words)                                              \
  asm volatile("atom" words ".cas" RECONVERGE_BITS " %0, [%1], %2, %3;"        \
               : "=" RECONVERGE_REG(__old)                                     \
               : "l"(__at), RECONVERGE_REG(__compare), RECONVERGE_REG(__value) \
               : "memory")

#define RECONVERGE_LOAD_AND_STORE                                              \
  static RECONVERGE_DEVICE __Reg __load(void *__at, int __order,               \
                                        int __scope) {                         \
    __Reg __old;                                                               \
    if (__order == __NV_ATOMIC_SEQ_CST)                                        \
      __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __scope);                  \
    if (__order == __NV_ATOMIC_RELAXED)                                        \
      RECONVERGE_IN_SCOPE(RECONVERGE_LOAD, ".relaxed")                         \
    else                                                                       \
      RECONVERGE_IN_SCOPE(RECONVERGE_LOAD, ".acquire")                         \
    return __old;                                                              \
  }                                                                            \
  static RECONVERGE_DEVICE void __store(void *__at, __Reg __value,             \
                                        int __order, int __scope) {            \
    if (__order == __NV_ATOMIC_SEQ_CST)                                        \
      __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __scope);                  \
    if (__order == __NV_ATOMIC_RELEASE)                                        \
      RECONVERGE_IN_SCOPE(RECONVERGE_STORE, ".release")                        \
    else                                                                       \
      RECONVERGE_IN_SCOPE(RECONVERGE_STORE, ".relaxed")                        \
  }
#define RECONVERGE_EXCHANGES                                                   \
  static RECONVERGE_DEVICE __Reg __exchange(void *__at, __Reg __value,         \
                                            int __order, int __scope) {        \
    __Reg __old;                                                               \
    RECONVERGE_ORDERED(RECONVERGE_EXCHANGE)                                    \
    return __old;                                                              \
  }                                                                            \
  static RECONVERGE_DEVICE __Reg __compare_exchange(                           \
      void *__at, __Reg __compare, __Reg __value, int __order, int __scope) {  \
    __Reg __old;                                                               \
    RECONVERGE_ORDERED(RECONVERGE_COMPARE)                                     \
    return __old;                                                              \
  }

template <> struct __reconverge_bits<1> {
  typedef unsigned short __Reg;
#define RECONVERGE_BITS ".b8"
#define RECONVERGE_REG "h"
  RECONVERGE_LOAD_AND_STORE
#undef RECONVERGE_BITS
};
template <> struct __reconverge_bits<2> {
  typedef unsigned short __Reg;
#define RECONVERGE_BITS ".b16"
  RECONVERGE_LOAD_AND_STORE
#undef RECONVERGE_BITS
#undef RECONVERGE_REG
};
template <> struct __reconverge_bits<4> {
  typedef unsigned __Reg;
#define RECONVERGE_BITS ".b32"
#define RECONVERGE_REG "r"
  RECONVERGE_LOAD_AND_STORE
  RECONVERGE_EXCHANGES
#undef RECONVERGE_BITS
#undef RECONVERGE_REG
};
template <> struct __reconverge_bits<8> {
  typedef unsigned long long __Reg;
#define RECONVERGE_BITS ".b64"
#define RECONVERGE_REG "l"
  RECONVERGE_LOAD_AND_STORE
  RECONVERGE_EXCHANGES
#undef RECONVERGE_BITS
#undef RECONVERGE_REG
};

struct __reconverge_pair {
  unsigned long long __low, __high;
};
template <> struct __reconverge_bits<16> {
  typedef __reconverge_pair __Reg;
#undef RECONVERGE_LOAD
#undef RECONVERGE_STORE
#undef RECONVERGE_EXCHANGE
#undef RECONVERGE_COMPARE
#define RECONVERGE_LOAD(words)                                                 \
  asm volatile("{ .reg .b128 o; ld" words ".b128 o, [%2]; "                    \
               "mov.b128 {%0, %1}, o; }"                                       \
               : "=l"(__old.__low), "=l"(__old.__high)                         \
               : "l"(__at)                                                     \
               : "memory")
#define RECONVERGE_STORE(words)                                                \
  asm volatile("{ .reg .b128 v; mov.b128 v, {%1, %2}; "                        \
               "st" words ".b128 [%0], v; }" ::"l"(__at),                      \
               "l"(__value.__low), "l"(__value.__high)                         \
               : "memory")
#define RECONVERGE_EXCHANGE(words)                                             \
  asm volatile("{ .reg .b128 v, o; mov.b128 v, {%3, %4}; "                     \
               "atom" words ".exch.b128 o, [%2], v; mov.b128 {%0, %1}, o; }"   \
               : "=l"(__old.__low), "=l"(__old.__high)                         \
               : "l"(__at), "l"(__value.__low), "l"(__value.__high)            \
               : "memory")
#define RECONVERGE_COMPARE(words)                                              \
  asm volatile("{ .reg .b128 c, v, o; mov.b128 c, {%3, %4}; "                  \
               "mov.b128 v, {%5, %6}; "                                        \
               "atom" words ".cas.b128 o, [%2], c, v; "                        \
               "mov.b128 {%0, %1}, o; }"                                       \
               : "=l"(__old.__low), "=l"(__old.__high)                         \
               : "l"(__at), "l"(__compare.__low), "l"(__compare.__high),       \
                 "l"(__value.__low), "l"(__value.__high)                       \
               : "memory")
  RECONVERGE_LOAD_AND_STORE
  RECONVERGE_EXCHANGES
};

template <typename __T>
RECONVERGE_DEVICE bool __reconverge_equal(__T __a, __T __b) {
  return __a == __b;
}
RECONVERGE_DEVICE bool __reconverge_equal(__reconverge_pair __a,
                                          __reconverge_pair __b) {
  return __a.__low == __b.__low && __a.__high == __b.__high;
}
template <typename __T>
RECONVERGE_DEVICE typename __reconverge_bits<sizeof(__T)>::__Reg
__reconverge_bits_of(const __T &__value) {
  typename __reconverge_bits<sizeof(__T)>::__Reg __bits;
  __builtin_memcpy(&__bits, &__value, sizeof(__T));
  return __bits;
}
template <typename __T>
RECONVERGE_DEVICE __T
__reconverge_value_of(typename __reconverge_bits<sizeof(__T)>::__Reg __bits) {
  __T __value;
  __builtin_memcpy(&__value, &__bits, sizeof(__T));
  return __value;
}

//===----------------------------------------------------------------------===//
// nvcc's builtins: values, and values behind pointers
//===----------------------------------------------------------------------===//

#define RECONVERGE_SCOPE int __scope = __NV_THREAD_SCOPE_SYSTEM
#define RECONVERGE_VALUE typename __reconverge_same<__T>::type

template <typename __T>
RECONVERGE_DEVICE __T __nv_atomic_load_n(__T *__at, int __order,
                                         RECONVERGE_SCOPE) {
  return __reconverge_value_of<__T>(
      __reconverge_bits<sizeof(__T)>::__load(__at, __order, __scope));
}
template <typename __T>
RECONVERGE_DEVICE void __nv_atomic_load(__T *__at, RECONVERGE_VALUE *__into,
                                        int __order, RECONVERGE_SCOPE) {
  *__into = __nv_atomic_load_n(__at, __order, __scope);
}
template <typename __T>
RECONVERGE_DEVICE void __nv_atomic_store_n(__T *__at, RECONVERGE_VALUE __value,
                                           int __order, RECONVERGE_SCOPE) {
  __reconverge_bits<sizeof(__T)>::__store(
      __at, __reconverge_bits_of<__T>(__value), __order, __scope);
}
template <typename __T>
RECONVERGE_DEVICE void __nv_atomic_store(__T *__at, RECONVERGE_VALUE *__value,
                                         int __order, RECONVERGE_SCOPE) {
  __nv_atomic_store_n(__at, *__value, __order, __scope);
}
template <typename __T>
RECONVERGE_DEVICE __T __nv_atomic_exchange_n(__T *__at,
                                             RECONVERGE_VALUE __value,
                                             int __order, RECONVERGE_SCOPE) {
  return __reconverge_value_of<__T>(__reconverge_bits<sizeof(__T)>::__exchange(
      __at, __reconverge_bits_of<__T>(__value), __order, __scope));
}
template <typename __T>
RECONVERGE_DEVICE void
__nv_atomic_exchange(__T *__at, RECONVERGE_VALUE *__value,
                     RECONVERGE_VALUE *__into, int __order, RECONVERGE_SCOPE) {
  *__into = __nv_atomic_exchange_n(__at, *__value, __order, __scope);
}
template <typename __T>
RECONVERGE_DEVICE bool __nv_atomic_compare_exchange_n(
    __T *__at, RECONVERGE_VALUE *__expected, RECONVERGE_VALUE __desired,
    bool /*weak*/, int __order, int /*on failure*/, RECONVERGE_SCOPE) {
  typedef __reconverge_bits<sizeof(__T)> __bits;
  const auto __compare = __reconverge_bits_of<__T>(*__expected);
  const auto __old = __bits::__compare_exchange(
      __at, __compare, __reconverge_bits_of<__T>(__desired), __order, __scope);
  *__expected = __reconverge_value_of<__T>(__old);
  return __reconverge_equal(__old, __compare);
}
template <typename __T>
RECONVERGE_DEVICE bool __nv_atomic_compare_exchange(
    __T *__at, RECONVERGE_VALUE *__expected, RECONVERGE_VALUE *__desired,
    bool __weak, int __order, int __on_failure, RECONVERGE_SCOPE) {
  return __nv_atomic_compare_exchange_n(__at, __expected, *__desired, __weak,
                                        __order, __on_failure, __scope);
}

//===----------------------------------------------------------------------===//
// nvcc's builtins: arithmetic
//===----------------------------------------------------------------------===//

#define RECONVERGE_ARITHMETIC(op, ptx, value)                                  \
  RECONVERGE_DEVICE RECONVERGE_T __nv_atomic_fetch_##op(                       \
      RECONVERGE_T *__at, RECONVERGE_T __value, int __order,                   \
      RECONVERGE_SCOPE) {                                                      \
    RECONVERGE_T __old, __by = value;                                          \
    RECONVERGE_ORDERED(ptx)                                                    \
    return __old;                                                              \
  }                                                                            \
  RECONVERGE_DEVICE void __nv_atomic_##op(RECONVERGE_T *__at,                  \
                                          RECONVERGE_T __value, int __order,   \
                                          RECONVERGE_SCOPE) {                  \
    __nv_atomic_fetch_##op(__at, __value, __order, __scope);                   \
  }
#define RECONVERGE_UPDATE(words, op)                                           \
  asm volatile("atom" words op " %0, [%1], %2;"                                \
               : "=" RECONVERGE_REG(__old)                                     \
               : "l"(__at), RECONVERGE_REG(__by)                               \
               : "memory")
#define RECONVERGE_ADD(words) RECONVERGE_UPDATE(words, ".add" RECONVERGE_TYPE)
#define RECONVERGE_MIN(words) RECONVERGE_UPDATE(words, ".min" RECONVERGE_TYPE)
#define RECONVERGE_MAX(words) RECONVERGE_UPDATE(words, ".max" RECONVERGE_TYPE)
#define RECONVERGE_AND(words) RECONVERGE_UPDATE(words, ".and" RECONVERGE_BITS)
#define RECONVERGE_OR(words) RECONVERGE_UPDATE(words, ".or" RECONVERGE_BITS)
#define RECONVERGE_XOR(words) RECONVERGE_UPDATE(words, ".xor" RECONVERGE_BITS)

#define RECONVERGE_SUMS                                                        \
  RECONVERGE_ARITHMETIC(add, RECONVERGE_ADD, __value)                          \
  RECONVERGE_ARITHMETIC(sub, RECONVERGE_ADD, -__value)
#define RECONVERGE_CHOICES                                                     \
  RECONVERGE_ARITHMETIC(min, RECONVERGE_MIN, __value)                          \
  RECONVERGE_ARITHMETIC(max, RECONVERGE_MAX, __value)                          \
  RECONVERGE_ARITHMETIC(and, RECONVERGE_AND, __value)                          \
  RECONVERGE_ARITHMETIC(or, RECONVERGE_OR, __value)                            \
  RECONVERGE_ARITHMETIC(xor, RECONVERGE_XOR, __value)

#define RECONVERGE_REG "r"
#define RECONVERGE_BITS ".b32"
#define RECONVERGE_T int
#define RECONVERGE_TYPE ".s32"
RECONVERGE_SUMS RECONVERGE_CHOICES
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#define RECONVERGE_T unsigned
#define RECONVERGE_TYPE ".u32"
RECONVERGE_SUMS RECONVERGE_CHOICES
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#undef RECONVERGE_BITS
#undef RECONVERGE_REG
#define RECONVERGE_REG "l"
#define RECONVERGE_BITS ".b64"
#define RECONVERGE_T unsigned long
#define RECONVERGE_TYPE ".u64"
RECONVERGE_SUMS RECONVERGE_CHOICES
#undef RECONVERGE_T
#define RECONVERGE_T unsigned long long
RECONVERGE_SUMS RECONVERGE_CHOICES
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#define RECONVERGE_T long // no sums, as with nvcc
#define RECONVERGE_TYPE ".s64"
RECONVERGE_CHOICES
#undef RECONVERGE_T
#define RECONVERGE_T long long
RECONVERGE_CHOICES
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#undef RECONVERGE_BITS
#undef RECONVERGE_REG
#define RECONVERGE_REG "f"
#define RECONVERGE_T float
#define RECONVERGE_TYPE ".f32"
RECONVERGE_SUMS
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#undef RECONVERGE_REG
#define RECONVERGE_REG "d"
#define RECONVERGE_T double
#define RECONVERGE_TYPE ".f64"
RECONVERGE_SUMS
#undef RECONVERGE_T
#undef RECONVERGE_TYPE
#undef RECONVERGE_REG

//===----------------------------------------------------------------------===//
// Compare and exchange of 16 bits, and those of 128 bits
//===----------------------------------------------------------------------===//

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
extern "C" __device__ inline __attribute__((always_inline)) unsigned short
__usAtomicCAS(unsigned short *__at, unsigned short __compare,
              unsigned short __value) {
  unsigned short __old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
               : "=h"(__old)
               : "l"(__at), "h"(__compare), "h"(__value)
               : "memory");
  return __old;
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <typename __T>
using __reconverge_if_16_bytes =
    typename __reconverge_if<sizeof(__T) == 16 && alignof(__T) >= 16 &&
                             __is_trivially_copyable(__T)>::type;
#define RECONVERGE_ATOMICS(suffix, scope)                                      \
  template <typename __T, typename = __reconverge_if_16_bytes<__T>>            \
  RECONVERGE_DEVICE __T atomicCAS##suffix(__T *__at, __T __compare,            \
                                          __T __value) {                       \
    return __reconverge_value_of<__T>(                                         \
        __reconverge_bits<16>::__compare_exchange(                             \
            __at, __reconverge_bits_of(__compare),                             \
            __reconverge_bits_of(__value), __NV_ATOMIC_RELAXED, scope));       \
  }                                                                            \
  template <typename __T, typename = __reconverge_if_16_bytes<__T>>            \
  RECONVERGE_DEVICE __T atomicExch##suffix(__T *__at, __T __value) {           \
    return __nv_atomic_exchange_n(__at, __value, __NV_ATOMIC_RELAXED, scope);  \
  }
RECONVERGE_ATOMICS(, __NV_THREAD_SCOPE_DEVICE)
RECONVERGE_ATOMICS(_block, __NV_THREAD_SCOPE_BLOCK)
RECONVERGE_ATOMICS(_system, __NV_THREAD_SCOPE_SYSTEM)
#endif

#undef RECONVERGE_ADD
#undef RECONVERGE_AND
#undef RECONVERGE_ARITHMETIC
#undef RECONVERGE_ATOMICS
#undef RECONVERGE_CHOICES
#undef RECONVERGE_CLUSTER
#undef RECONVERGE_COMPARE
#undef RECONVERGE_DEVICE
#undef RECONVERGE_EXCHANGE
#undef RECONVERGE_EXCHANGES
#undef RECONVERGE_IN_SCOPE
#undef RECONVERGE_LOAD
#undef RECONVERGE_LOAD_AND_STORE
#undef RECONVERGE_MAX
#undef RECONVERGE_MIN
#undef RECONVERGE_OR
#undef RECONVERGE_ORDERED
#undef RECONVERGE_SCOPE
#undef RECONVERGE_STORE
#undef RECONVERGE_SUMS
#undef RECONVERGE_UPDATE
#undef RECONVERGE_VALUE
#undef RECONVERGE_XOR

#endif
