//===- __reconverge_functions.h - Functions that clang 19 lacks -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc declares before any line of a CUDA source and clang does not: on
// the host the functions of CUDA's math_functions.h and DPX's (clang gives them
// to the device alone), on the device loads and stores with cache operators and
// a few more. And what clang declares otherwise than nvcc: shuffles. All that
// the C library has comes by its headers.
//
// Every name is reserved: a user's macros are defined before this is read.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_FUNCTIONS_H
#define RECONVERGE_OVERLAY_FUNCTIONS_H

#include <math.h>
#include <time.h>

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

#define RECONVERGE_HOST static __inline__ __attribute__((host))

#define RECONVERGE_MIN_MAX(result, first, second)                              \
  RECONVERGE_HOST result min(const first __a, const second __b) {              \
    return result(__a) < result(__b) ? result(__a) : result(__b);              \
  }                                                                            \
  RECONVERGE_HOST result max(const first __a, const second __b) {              \
    return result(__a) > result(__b) ? result(__a) : result(__b);              \
  }
#define RECONVERGE_INTEGERS(signed_type, unsigned_type)                        \
  RECONVERGE_MIN_MAX(signed_type, signed_type, signed_type)                    \
  RECONVERGE_MIN_MAX(unsigned_type, unsigned_type, unsigned_type)              \
  RECONVERGE_MIN_MAX(unsigned_type, signed_type, unsigned_type)                \
  RECONVERGE_MIN_MAX(unsigned_type, unsigned_type, signed_type)
typedef unsigned long __reconverge_ulong;
typedef long long __reconverge_llong;
typedef unsigned long long __reconverge_ullong;
RECONVERGE_INTEGERS(int, unsigned)
RECONVERGE_INTEGERS(long, __reconverge_ulong)
RECONVERGE_INTEGERS(__reconverge_llong, __reconverge_ullong)
#undef RECONVERGE_INTEGERS
#undef RECONVERGE_MIN_MAX

// These take the number where the other operand is none.
#define RECONVERGE_MIN_MAX(result, first, second, by)                          \
  RECONVERGE_HOST result min(const first __a, const second __b) {              \
    return __builtin_fmin##by(__a, __b);                                       \
  }                                                                            \
  RECONVERGE_HOST result max(const first __a, const second __b) {              \
    return __builtin_fmax##by(__a, __b);                                       \
  }
RECONVERGE_MIN_MAX(float, float, float, f)
RECONVERGE_MIN_MAX(double, double, double, )
RECONVERGE_MIN_MAX(double, float, double, )
RECONVERGE_MIN_MAX(double, double, float, )
#undef RECONVERGE_MIN_MAX

#define RECONVERGE_MIN_MAX(prefix, type)                                       \
  RECONVERGE_HOST type prefix##min(const type __a, const type __b) {           \
    return __b < __a ? __b : __a;                                              \
  }                                                                            \
  RECONVERGE_HOST type prefix##max(const type __a, const type __b) {           \
    return __a < __b ? __b : __a;                                              \
  }
RECONVERGE_MIN_MAX(u, unsigned)
RECONVERGE_MIN_MAX(ll, __reconverge_llong)
RECONVERGE_MIN_MAX(ull, __reconverge_ullong)
#undef RECONVERGE_MIN_MAX

#define RECONVERGE_FLOAT(name)                                                 \
  RECONVERGE_HOST float name(const float __a) { return name##f(__a); }
RECONVERGE_FLOAT(exp10)
RECONVERGE_FLOAT(erfinv)
RECONVERGE_FLOAT(j0)
RECONVERGE_FLOAT(j1)
RECONVERGE_FLOAT(y0)
RECONVERGE_FLOAT(y1)
#undef RECONVERGE_FLOAT
RECONVERGE_HOST float jn(const int __n, const float __a) {
  return jnf(__n, __a);
}
RECONVERGE_HOST float yn(const int __n, const float __a) {
  return ynf(__n, __a);
}
RECONVERGE_HOST void sincos(const float __a, float *const __sine,
                            float *const __cosine) {
  sincosf(__a, __sine, __cosine);
}
RECONVERGE_HOST double copysign(const double __a, const float __b) {
  return __builtin_copysign(__a, __b);
}
RECONVERGE_HOST double copysign(const float __a, const double __b) {
  return __builtin_copysign(__a, __b);
}
RECONVERGE_HOST unsigned short __nv_bswap16(unsigned short __a) {
  return __builtin_bswap16(__a);
}
RECONVERGE_HOST unsigned __nv_bswap32(unsigned __a) {
  return __builtin_bswap32(__a);
}
RECONVERGE_HOST unsigned long long __nv_bswap64(unsigned long long __a) {
  return __builtin_bswap64(__a);
}
#undef RECONVERGE_HOST

// DPX: the toolkit's functions are for both sides, and clang has read them for
// the device alone.
#pragma push_macro("__device__")
#pragma push_macro("__CUDA_ARCH__")
#undef __device__
#define __device__
#undef __CUDA_ARCH__
#undef __CUDA_AND_AT_LEAST_SM_70__
#undef __CUDA_AND_AT_LEAST_SM_75__
#undef __DEVICE_FUNCTIONS_HPP__
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include <crt/device_functions.hpp>
#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__device__")

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

// Loads and stores with cache operators; what else is in there clang has.
#undef __SM_32_INTRINSICS_HPP__
#define __ldg __reconverge_ldg
#define __funnelshift_l __reconverge_funnelshift_l
#define __funnelshift_lc __reconverge_funnelshift_lc
#define __funnelshift_r __reconverge_funnelshift_r
#define __funnelshift_rc __reconverge_funnelshift_rc
#include <sm_32_intrinsics.hpp>
#undef __ldg
#undef __funnelshift_l
#undef __funnelshift_lc
#undef __funnelshift_r
#undef __funnelshift_rc

#define RECONVERGE_DEVICE                                                      \
  static __inline__ __attribute__((always_inline, device))

// clang declares these and leaves it at that.
__attribute__((device)) inline double nan(const char *__tag) {
  return __nv_nan((const signed char *)__tag);
}
__attribute__((device)) inline float nanf(const char *__tag) {
  return __nv_nanf((const signed char *)__tag);
}
RECONVERGE_DEVICE float __tanhf(float __a) {
  float __b;
  asm("tanh.approx.f32 %0, %1;" : "=f"(__b) : "f"(__a));
  return __b;
}
#undef RECONVERGE_DEVICE

// A lane may hand a shuffle a value that nobody set, if no lane reads it: the
// lanes but 0 after `if (lane == 0) value = atomicAdd(...)`, say. To clang an
// argument is defined, so it would take the condition to hold on all lanes.
// These declare clang's functions once more.
#define RECONVERGE_SHUFFLE(name, value, offset)                                \
  __attribute__((device)) value name(unsigned __mask,                          \
                                     value __a __attribute__((maybe_undef)),   \
                                     offset __offset, int __width);
#define RECONVERGE_SHUFFLES(value)                                             \
  RECONVERGE_SHUFFLE(__shfl_sync, value, int)                                  \
  RECONVERGE_SHUFFLE(__shfl_up_sync, value, unsigned)                          \
  RECONVERGE_SHUFFLE(__shfl_down_sync, value, unsigned)                        \
  RECONVERGE_SHUFFLE(__shfl_xor_sync, value, int)
RECONVERGE_SHUFFLES(int)
RECONVERGE_SHUFFLES(unsigned)
RECONVERGE_SHUFFLES(long)
RECONVERGE_SHUFFLES(__reconverge_ulong)
RECONVERGE_SHUFFLES(__reconverge_llong)
RECONVERGE_SHUFFLES(__reconverge_ullong)
RECONVERGE_SHUFFLES(float)
RECONVERGE_SHUFFLES(double)
#undef RECONVERGE_SHUFFLES
#undef RECONVERGE_SHUFFLE

#endif
