//===- __reconverge_surfaces.h - Surface functions for clang --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang 19 knows the toolkit's texture functions and not those of surfaces.
// These are the same functions by PTX's suld.b and sust.b, which move bytes
// whatever they mean: the size of a type picks the instruction.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_SURFACES_H
#define RECONVERGE_OVERLAY_SURFACES_H
#define __SURFACE_INDIRECT_FUNCTIONS_H__ // the toolkit's, for nvcc alone

#include "surface_types.h"

namespace __reconverge_surface {

// word: what a register holds of a value of so many bytes.
template <int Bytes> struct __word;
template <> struct __word<1> { typedef unsigned short type; };
template <> struct __word<2> { typedef unsigned short type; };
template <> struct __word<4> { typedef unsigned type; };
template <> struct __word<8> { typedef unsigned long long type; };
template <> struct __word<16> { typedef ulonglong2 type; };

#define __RECONVERGE_PLACE                                                     \
  [s] "l"(s), [x] "r"(x), [y] "r"(y), [z] "r"(z) : "memory"
#define __RECONVERGE_ONE(geometry, bits, mode, at, constraint)                 \
  static __device__ inline void load_##mode(                                   \
      word &w, cudaSurfaceObject_t s, int x, int y, int z) {                   \
    asm volatile("suld.b." geometry "." bits "." #mode " {%0}, [%[s], " at     \
                 "];"                                                          \
                 : "=" constraint(w)                                           \
                 : __RECONVERGE_PLACE);                                        \
  }                                                                            \
  static __device__ inline void store_##mode(                                  \
      const word &w, cudaSurfaceObject_t s, int x, int y, int z) {             \
    asm volatile("sust.b." geometry "." bits "." #mode " [%[s], " at           \
                 "], {%0};"                                                    \
                 :                                                             \
                 : constraint(w), __RECONVERGE_PLACE);                         \
  }
#define __RECONVERGE_TWO(geometry, mode, at)                                   \
  static __device__ inline void load_##mode(                                   \
      word &w, cudaSurfaceObject_t s, int x, int y, int z) {                   \
    asm volatile("suld.b." geometry ".v2.b64." #mode " {%0, %1}, [%[s], " at   \
                 "];"                                                          \
                 : "=l"(w.x), "=l"(w.y)                                        \
                 : __RECONVERGE_PLACE);                                        \
  }                                                                            \
  static __device__ inline void store_##mode(                                  \
      const word &w, cudaSurfaceObject_t s, int x, int y, int z) {             \
    asm volatile("sust.b." geometry ".v2.b64." #mode " [%[s], " at             \
                 "], {%0, %1};"                                                \
                 :                                                             \
                 : "l"(w.x), "l"(w.y), __RECONVERGE_PLACE);                    \
  }
#define __RECONVERGE_SIZE(name, geometry, bytes, bits, at, constraint)         \
  template <> struct name<bytes> {                                             \
    typedef __word<bytes>::type word;                                          \
    __RECONVERGE_ONE(geometry, bits, trap, at, constraint)                     \
    __RECONVERGE_ONE(geometry, bits, clamp, at, constraint)                    \
    __RECONVERGE_ONE(geometry, bits, zero, at, constraint)                     \
  };
#define __RECONVERGE_GEOMETRY(name, geometry, at)                              \
  template <int Bytes> struct name;                                            \
  __RECONVERGE_SIZE(name, geometry, 1, "b8", at, "h")                          \
  __RECONVERGE_SIZE(name, geometry, 2, "b16", at, "h")                         \
  __RECONVERGE_SIZE(name, geometry, 4, "b32", at, "r")                         \
  __RECONVERGE_SIZE(name, geometry, 8, "b64", at, "l")                         \
  template <> struct name<16> {                                                \
    typedef ulonglong2 word;                                                   \
    __RECONVERGE_TWO(geometry, trap, at)                                       \
    __RECONVERGE_TWO(geometry, clamp, at)                                      \
    __RECONVERGE_TWO(geometry, zero, at)                                       \
  };

// A layer comes first.
__RECONVERGE_GEOMETRY(in_1d, "1d", "{%[x]}")
__RECONVERGE_GEOMETRY(in_2d, "2d", "{%[x], %[y]}")
__RECONVERGE_GEOMETRY(in_3d, "3d", "{%[x], %[y], %[z], %[z]}")
__RECONVERGE_GEOMETRY(in_layers_1d, "a1d", "{%[y], %[x]}")
__RECONVERGE_GEOMETRY(in_layers_2d, "a2d", "{%[z], %[x], %[y], %[y]}")

#undef __RECONVERGE_GEOMETRY
#undef __RECONVERGE_SIZE
#undef __RECONVERGE_TWO
#undef __RECONVERGE_ONE
#undef __RECONVERGE_PLACE

template <template <int> class Geometry, typename T>
__device__ inline void load(T *to, cudaSurfaceObject_t s, int x, int y, int z,
                            cudaSurfaceBoundaryMode mode) {
  typename Geometry<sizeof(T)>::word w;
  if (mode == cudaBoundaryModeZero)
    Geometry<sizeof(T)>::load_zero(w, s, x, y, z);
  else if (mode == cudaBoundaryModeClamp)
    Geometry<sizeof(T)>::load_clamp(w, s, x, y, z);
  else
    Geometry<sizeof(T)>::load_trap(w, s, x, y, z);
  __builtin_memcpy(to, &w, sizeof(T));
}

template <template <int> class Geometry, typename T>
__device__ inline void store(const T &from, cudaSurfaceObject_t s, int x, int y,
                             int z, cudaSurfaceBoundaryMode mode) {
  typename Geometry<sizeof(T)>::word w = {};
  __builtin_memcpy(&w, &from, sizeof(T));
  if (mode == cudaBoundaryModeZero)
    Geometry<sizeof(T)>::store_zero(w, s, x, y, z);
  else if (mode == cudaBoundaryModeClamp)
    Geometry<sizeof(T)>::store_clamp(w, s, x, y, z);
  else
    Geometry<sizeof(T)>::store_trap(w, s, x, y, z);
}

} // namespace __reconverge_surface

#define __RECONVERGE_STRIP(...) __VA_ARGS__
#define __RECONVERGE_SURFACE(name, geometry, declared, given)                  \
  template <typename T>                                                        \
  static __device__ inline void name##read(                                    \
      T *to, cudaSurfaceObject_t s, __RECONVERGE_STRIP declared,               \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                   \
    __reconverge_surface::load<__reconverge_surface::geometry>(                \
        to, s, __RECONVERGE_STRIP given, mode);                                \
  }                                                                            \
  template <typename T>                                                        \
  static __device__ inline T name##read(                                       \
      cudaSurfaceObject_t s, __RECONVERGE_STRIP declared,                      \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                   \
    T value;                                                                   \
    __reconverge_surface::load<__reconverge_surface::geometry>(                \
        &value, s, __RECONVERGE_STRIP given, mode);                            \
    return value;                                                              \
  }                                                                            \
  template <typename T>                                                        \
  static __device__ inline void name##write(                                   \
      T value, cudaSurfaceObject_t s, __RECONVERGE_STRIP declared,             \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                   \
    __reconverge_surface::store<__reconverge_surface::geometry>(               \
        value, s, __RECONVERGE_STRIP given, mode);                             \
  }
__RECONVERGE_SURFACE(surf1D, in_1d, (int x), (x, 0, 0))
__RECONVERGE_SURFACE(surf2D, in_2d, (int x, int y), (x, y, 0))
__RECONVERGE_SURFACE(surf3D, in_3d, (int x, int y, int z), (x, y, z))
__RECONVERGE_SURFACE(surf1DLayered, in_layers_1d, (int x, int layer),
                     (x, layer, 0))
__RECONVERGE_SURFACE(surf2DLayered, in_layers_2d, (int x, int y, int layer),
                     (x, y, layer))
#undef __RECONVERGE_SURFACE
#undef __RECONVERGE_STRIP

#endif
