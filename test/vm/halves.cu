// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=isa=avx2 %t | FileCheck %s

// Half and bfloat16, bit by bit: each operation rounds once and keeps
// subnormals, whatever the host has. The reference rounds an exact sum or
// product, kept as an integer and a power of two.

#include "Inputs/check.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// A 16-bit format: bits of fraction, exponent of the least subnormal, largest
/// exponent of a normal number.
struct Format {
  int Fraction, Least, Largest;
};
static constexpr Format Half{10, -24, 15}, Bfloat{7, -133, 127};

static int exponentField(Format F, unsigned short Bits) {
  return (Bits & 0x7fff) >> F.Fraction;
}
static bool isSpecial(Format F, unsigned short Bits) {
  return exponentField(F, Bits) == (0x7fff >> F.Fraction);
}

/// Significand x 2^Exponent, exactly.
struct Number {
  __int128 Significand;
  int Exponent;
};

static Number valueOf(Format F, unsigned short Bits) {
  const int E = exponentField(F, Bits), One = 1 << F.Fraction;
  const int S = (Bits & (One - 1)) | (E ? One : 0);
  return {Bits & 0x8000 ? -S : S, F.Least + (E ? E - 1 : 0)};
}

/// The nearest number of the format, ties to even; \p Zero is the sign of a
/// sum that is exactly zero.
static unsigned short roundTo(Format F, Number X, unsigned short Zero) {
  if (X.Significand == 0)
    return Zero;
  const unsigned short Sign = X.Significand < 0 ? 0x8000 : 0;
  unsigned __int128 S = X.Significand < 0 ? -X.Significand : X.Significand;
  int Length = 0;
  while (Length < 128 && (S >> Length) != 0)
    ++Length;
  const int Unit =
      std::max(F.Least, X.Exponent + Length - 1 - F.Fraction); // of the result
  const int Cut = Unit - X.Exponent;
  if (Cut > 126)
    return Sign;
  if (Cut <= 0) {
    S <<= -Cut;
  } else {
    const unsigned __int128 Rest = S & (((unsigned __int128)1 << Cut) - 1);
    const unsigned __int128 Tie = (unsigned __int128)1 << (Cut - 1);
    S >>= Cut;
    S += Rest > Tie || (Rest == Tie && (S & 1));
  }
  // A significand of one bit more carries into the exponent by itself.
  const int Infinity = 0x7fff >> F.Fraction << F.Fraction;
  const int Bits = int(S) + ((Unit - F.Least) << F.Fraction);
  return Sign | (Bits > Infinity ? Infinity : Bits);
}

static Number sum(Number A, Number B) {
  if (A.Significand == 0)
    return B;
  if (B.Significand == 0)
    return A;
  if (A.Exponent < B.Exponent)
    std::swap(A, B);
  // Far apart, the smaller one is but a hint to the rounding.
  if (A.Exponent - B.Exponent > 90) {
    B.Significand = B.Significand < 0 ? -1 : 1;
    B.Exponent = A.Exponent - 90;
  }
  return {(A.Significand << (A.Exponent - B.Exponent)) + B.Significand,
          B.Exponent};
}
static Number product(Number A, Number B) {
  return {A.Significand * B.Significand, A.Exponent + B.Exponent};
}

enum Operation { Add, Multiply, Fma, Min, Max, Fma2, Operations };
static const char *const Names[] = {"add", "multiply", "fma",
                                    "min", "max",      "fma of pairs"};

template <typename T> __device__ unsigned short bits(T X) {
  unsigned short B;
  memcpy(&B, &X, 2);
  return B;
}

template <typename T, typename Two>
__global__ void compute(const unsigned short *In, unsigned short *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  T X, Y, Z;
  memcpy(&X, In + I, 2);
  memcpy(&Y, In + N + I, 2);
  memcpy(&Z, In + 2 * N + I, 2);
  Out[Add * N + I] = bits(X + Y);
  Out[Multiply * N + I] = bits(X * Y);
  Out[Fma * N + I] = bits(__hfma(X, Y, Z));
  Out[Min * N + I] = bits(__hmin(X, Y));
  Out[Max * N + I] = bits(__hmax(X, Y));
  const Two P(Z, X), Q(X, Y), R(Y, Z);
  Out[Fma2 * N + I] = bits(__hfma2(P, Q, R).y); // x y + z again
}

template <typename T, typename Two>
static void check(const char *Name, Format F) {
  constexpr int N = 40000;
  auto *In = managed<unsigned short>(3 * N);
  auto *Out = managed<unsigned short>(Operations * N);
  const unsigned short One = (0x7fff >> F.Fraction) / 2 << F.Fraction;
  for (int I = 0; I < 3 * N; ++I)
    In[I] = next() >> 4;
  // Products next to a tie, with an addend far below: where rounding twice
  // shows. And zeros of both signs.
  for (int I = 0; I < N; I += 3) {
    In[I] = One + next() % (1 << F.Fraction);
    In[N + I] = One + next() % (1 << F.Fraction);
    In[2 * N + I] = (next() & 0x8000) | next() % One;
  }
  for (int I = 0; I < 4; ++I) {
    In[I] = I & 1 ? 0x8000 : 0;
    In[N + I] = I & 2 ? 0x8000 : 0;
  }
  compute<T, Two><<<(N + 127) / 128, 128>>>(In, Out, N);
  finish();
  for (int I = 0; I < N; ++I) {
    const unsigned short X = In[I], Y = In[N + I], Z = In[2 * N + I];
    if (isSpecial(F, X) || isSpecial(F, Y) || isSpecial(F, Z))
      continue;
    const Number A = valueOf(F, X), B = valueOf(F, Y), C = valueOf(F, Z);
    const Number XY = product(A, B),
                 Difference = sum(A, {-B.Significand, B.Exponent});
    const unsigned short Sign = (X ^ Y) & 0x8000;
    const bool Below = Difference.Significand < 0 ||
                       (Difference.Significand == 0 && (X & 0x8000));
    unsigned short Want[Operations];
    Want[Add] = roundTo(F, sum(A, B), X & Y & 0x8000);
    Want[Multiply] = roundTo(F, XY, Sign);
    Want[Fma] = roundTo(F, sum(XY, C), Sign & Z & 0x8000);
    Want[Min] = Below ? X : Y;
    Want[Max] = Below ? Y : X;
    Want[Fma2] = Want[Fma];
    for (int O = 0; O < Operations; ++O) {
      ++Checks;
      if (Out[O * N + I] != Want[O] && ++Wrong <= 10)
        std::printf("%s %s %04x %04x %04x: %04x, not %04x\n", Name, Names[O], X,
                    Y, Z, Out[O * N + I], Want[O]);
    }
  }
}

template <typename T> __global__ void conversions(const double *In, T *Out) {
  const int T0 = threadIdx.x;
  Out[2 * T0] = T(In[T0]);
  Out[2 * T0 + 1] = T(float(In[T0]));
}

// Doubles just beside a tie that a float cannot tell from it; among normal
// numbers, and between zero and the least subnormal.
template <typename T> static void checkConversions(const char *Name, Format F) {
  double *In = managed<double>(32);
  T *Out = managed<T>(64);
  const double Least = std::ldexp(1, F.Least);
  for (int I = 0; I < 32; ++I) {
    const double Up = I < 24 ? 1 + std::ldexp(1, -F.Fraction) : Least;
    const double Down = I < 24 ? 1 : 0;
    In[I] = (Up + Down) / 2 * (1 + (I % 3 - 1) * 0x1p-50);
  }
  conversions<<<1, 32>>>(In, Out);
  finish();
  for (int I = 0; I < 32; ++I) {
    const double Up = I < 24 ? 1 + std::ldexp(1, -F.Fraction) : Least;
    const double Down = I < 24 ? 1 : 0;
    expect(Name, 2 * I, float(Out[2 * I]), I % 3 == 2 ? Up : Down);
    expect(Name, 2 * I + 1, float(Out[2 * I + 1]), Down);
  }
}

template <typename T> __global__ void sums(T *Out, float X) {
  atomicAdd(Out, T(X));
}
__global__ void sumsOfPairs(__half2 *H, __nv_bfloat162 *B) {
  atomicAdd(H, __floats2half2_rn(1, 2));
  atomicAdd(B, __floats2bfloat162_rn(1, 0.5f));
}
__global__ void exchanges(unsigned short *At) {
  unsigned short Old = *At, Seen;
  do {
    Seen = Old;
    Old = atomicCAS(At, Seen, (unsigned short)(Seen + 3));
  } while (Old != Seen);
}

// CHECK: 0 wrong of
int main() {
  check<__half, __half2>("half", Half);
  check<__nv_bfloat16, __nv_bfloat162>("bfloat16", Bfloat);
  checkConversions<__half>("half", Half);
  checkConversions<__nv_bfloat16>("bfloat16", Bfloat);

  __half *H = managed<__half>(8);
  auto *B = managed<__nv_bfloat16>(8);
  auto *S = managed<unsigned short>(1);
  sums<<<2, 64>>>(H, 0.5f);
  sums<<<2, 64>>>(B, 0.5f);
  sumsOfPairs<<<2, 64>>>(reinterpret_cast<__half2 *>(H + 2),
                         reinterpret_cast<__nv_bfloat162 *>(B + 2));
  exchanges<<<2, 64>>>(S);
  finish();
  const float Sums[] = {64, 0, 128, 256}, BfloatSums[] = {64, 0, 128, 64};
  for (int I = 0; I < 4; ++I) {
    expect("half sum", I, float(H[I]), Sums[I]);
    expect("bfloat16 sum", I, float(B[I]), BfloatSums[I]);
  }
  expect("exchange of 16 bits", 0, *S, 384);
  return summary();
}
