//===- unittests/frontend/ptx/Vectors.h - Inputs of value tests -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs that the golden file's results belong to, made from the asm text
// alone, so that the program which asks a GPU (utils/ptx-golden.py) and the
// test which asks our lowering see the same ones. Plain C++: nvcc compiles it
// too.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_FRONTEND_PTX_VECTORS_H
#define RECONVERGE_UNITTESTS_FRONTEND_PTX_VECTORS_H

#include <cstdint>
#include <cstring>

namespace vectors {

/// Input tuples a case.
constexpr unsigned Tuples = 24;

inline uint64_t mix(uint64_t X) {
  X += 0x9e3779b97f4a7c15u;
  X = (X ^ (X >> 30)) * 0xbf58476d1ce4e5b9u;
  X = (X ^ (X >> 27)) * 0x94d049bb133111ebu;
  return X ^ (X >> 31);
}

inline uint64_t hash(const char *Text) {
  uint64_t H = 0xcbf29ce484222325u;
  for (; *Text; ++Text)
    H = (H ^ (unsigned char)*Text) * 0x100000001b3u;
  return H;
}

/// Values at which something changes: zeros, limits, denormals, infinities,
/// NaN, ties and overflow limits of half and of bfloat16.
inline uint64_t edge(unsigned Width, uint64_t Pick) {
  static const uint16_t Edge16[] = {
      0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
      0x3800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xffff, 0x7fff, 0x3f80,
      0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x007f, 31,     32};
  static const uint32_t Edge32[] = {
      0,          0x80000000, 1,          0xffffffff, 0x7fffffff, 0x00800000,
      0x007fffff, 0x80400000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000,
      0xc0200000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x477fe000,
      0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x387fe000, 0x4f000000,
      0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x3f808000, 0x3f818000,
      0x3c003c00, 0x7e007c00, 0xfc000001, 0x7f807fc0, 0x80000001, 255,
      0x3f7fffff, 0xff,       0x100,      0xffff8000};
  static const uint64_t Edge64[] = {0,
                                    1,
                                    0x8000000000000000u,
                                    0x7fffffffffffffffu,
                                    0xffffffffffffffffu,
                                    0x0010000000000000u,
                                    0x000fffffffffffffu,
                                    0x3ff0000000000000u,
                                    0xbff8000000000000u,
                                    0x4004000000000000u,
                                    0x7fefffffffffffffu,
                                    0x7ff0000000000000u,
                                    0xfff0000000000000u,
                                    0x7ff8000000000000u,
                                    0x41dfffffffe00000u,
                                    0x41efffffffe00000u,
                                    0xc1e0000000200000u,
                                    0x43e0000000000000u,
                                    0xc3e0000000000000u,
                                    0x43f0000000000000u,
                                    0x40effc0000000000u,
                                    0x40effdffffffffffu,
                                    0x40effe0000000000u,
                                    0x3e60000000000001u,
                                    0x47efffffe0000000u,
                                    0x47efffffefffffffu,
                                    0x380fffffffffffffu,
                                    0x36a0000000000000u,
                                    0x3ff0100000000001u,
                                    65504,
                                    65519,
                                    65520,
                                    0x00ffffff,
                                    0x01000001,
                                    0x0020000000000001u,
                                    0x0080800000000001u,
                                    0xff7f7fffffffffffu,
                                    0x7fff,
                                    0x8000,
                                    0x80,
                                    0xffffffffffffff7fu};
  if (Width == 16)
    return Edge16[Pick % (sizeof Edge16 / sizeof *Edge16)];
  if (Width == 32)
    return Edge32[Pick % (sizeof Edge32 / sizeof *Edge32)];
  return Edge64[Pick % (sizeof Edge64 / sizeof *Edge64)];
}

/// A number of ordinary size in the format of \p Width bits.
inline uint64_t ordinary(unsigned Width, uint64_t Random) {
  double V = double(int64_t(Random)) / double(uint64_t(1) << 63);
  V *= double(uint64_t(1) << (Random % 18));
  if (Width == 64) {
    uint64_t Bits;
    std::memcpy(&Bits, &V, 8);
    return Bits;
  }
  float F = float(V);
  uint32_t Bits;
  std::memcpy(&Bits, &F, 4);
  // The upper half of a float is a bfloat16; a half has its exponent rebased.
  if (Width == 32)
    return Bits;
  if (Random & 0x10000)
    return Bits >> 16;
  int Exponent = int((Bits >> 23) & 0xff) - 127 + 15;
  if (Exponent < 1 || Exponent > 30)
    Exponent = 15;
  return ((Bits >> 16) & 0x8000) | unsigned(Exponent) << 10 |
         ((Bits >> 13) & 0x3ff);
}

/// Bits of operand \p Operand in tuple \p Tuple of the case of hash \p Seed.
inline uint64_t input(uint64_t Seed, unsigned Operand, unsigned Tuple,
                      unsigned Width) {
  uint64_t R = mix(Seed ^ mix(Operand * 64 + Tuple));
  uint64_t Next = mix(R), Bits;
  switch (R % 8) {
  case 0:
  case 1:
  case 2:
    Bits = edge(Width, Next);
    break;
  case 3:
    Bits = Next % 70;
    break;
  case 4:
    Bits = ordinary(Width, Next);
    break;
  case 5:
    Bits = Width == 32 ? ordinary(16, Next) << 16 | ordinary(16, mix(Next))
                       : ordinary(Width, Next);
    break;
  case 6:
    Bits = Next >> (Next % 64);
    break;
  default:
    Bits = Next;
  }
  return Width == 64 ? Bits : Bits & ((uint64_t(1) << Width) - 1);
}

} // namespace vectors

#endif
