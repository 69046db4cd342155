// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t > %t.32
// RUN: FileCheck %s < %t.32
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks,warp=64 %t | cmp - %t.32
// CHECK: {{^}}checksum f16 near one: 32f8f9b46aa1afa1{{$}}
// CHECK-NEXT: {{^}}checksum f16 normal: 3f843c91e91cf9ef{{$}}
// CHECK-NEXT: {{^}}checksum f16 subnormal: 1160ad698b8a2797{{$}}
// CHECK-NEXT: {{^}}checksum f16 with infinities and NaN: 548ab41485f78a95{{$}}
// CHECK-NEXT: {{^}}checksum bf16 near one: f4ae31482649fefd{{$}}
// CHECK-NEXT: {{^}}checksum bf16 normal: 190b2c64f6cf6be2{{$}}
// CHECK-NEXT: {{^}}checksum bf16 subnormal: 697456fb45c609ed{{$}}
// CHECK-NEXT: {{^}}checksum bf16 with infinities and NaN: 3acee3158f992f5d{{$}}
// CHECK-NEXT: {{^}}0 wrong of 8192{{$}}

// Products of chains of matrices by mma.m16n8k16 in inline PTX, two warps a
// block. Whole numbers are judged against the host. Of sums that are inexact a
// checksum of all bits is printed, a line for each kind of numbers: the lines
// above are an H100's, of nvcc's build and of ours for it.

#include "Inputs/check.h"
#include <cstdint>
#include <cstring>

constexpr int M = 16, N = 8, K = 16, Steps = 3, Warps = 32, Threads = 64;

/// The product of one warp: D = A[2] B[2] + (A[1] B[1] + (A[0] B[0] + C)).
struct Chain {
  uint16_t A[Steps][M][K], B[Steps][K][N];
  float C[M][N], D[M][N];
};

template <bool Half>
static __device__ void product(float (&D)[4], const uint32_t (&A)[4],
                               const uint32_t (&B)[2]) {
  if constexpr (Half)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
        : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
        : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
}

template <bool Half> __global__ void multiply(Chain *Chains, int Count) {
  Chain &X = Chains[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  const int G = threadIdx.x % 32 / 4, T = threadIdx.x % 4 * 2;
  auto Pair = [](uint16_t Low, uint16_t High) {
    return uint32_t(Low) | uint32_t(High) << 16;
  };
  float D[4];
  for (int I = 0; I < 4; ++I)
    D[I] = X.C[G + I / 2 * 8][T + I % 2];
  for (int S = 0; S < Count; ++S) {
    uint32_t A[4], B[2];
    for (int R = 0; R < 4; ++R) {
      const uint16_t *From = &X.A[S][G + R % 2 * 8][T + R / 2 * 8];
      A[R] = Pair(From[0], From[1]);
    }
    for (int R = 0; R < 2; ++R)
      B[R] = Pair(X.B[S][T + R * 8][G], X.B[S][T + R * 8 + 1][G]);
    product<Half>(D, A, B);
  }
  for (int I = 0; I < 4; ++I)
    X.D[G + I / 2 * 8][T + I % 2] = D[I];
}

/// A small whole number in 16 bits.
static uint16_t encode(bool Half, int X) {
  const float F = float(X);
  uint32_t Word;
  std::memcpy(&Word, &F, 4);
  if (!Half)
    return uint16_t(Word >> 16);
  const uint32_t Sign = Word >> 16 & 0x8000, Rest = Word & 0x7fffffff;
  return uint16_t(Rest ? Sign | ((Rest - (112u << 23)) >> 13) : Sign);
}

static Chain *Chains;

static void run(bool Half) {
  if (Half)
    multiply<true><<<Warps * 32 / Threads, Threads>>>(Chains, Steps);
  else
    multiply<false><<<Warps * 32 / Threads, Threads>>>(Chains, Steps);
  finish();
}

template <typename A, typename B, typename C>
static void fill(A OfA, B OfB, C OfC) {
  for (int W = 0; W < Warps; ++W) {
    for (uint16_t &X :
         reinterpret_cast<uint16_t(&)[Steps * M * K]>(Chains[W].A))
      X = OfA();
    for (uint16_t &X :
         reinterpret_cast<uint16_t(&)[Steps * K * N]>(Chains[W].B))
      X = OfB();
    for (float &X : reinterpret_cast<float(&)[M * N]>(Chains[W].C))
      X = OfC();
  }
}

static void wholeNumbers(bool Half) {
  static int A[Warps][Steps][M][K], B[Warps][Steps][K][N], C[Warps][M][N];
  int *NextA = &A[0][0][0][0], *NextB = &B[0][0][0][0], *NextC = &C[0][0][0];
  auto Draw = [](int *&To) { return *To++ = int(next() % 33) - 16; };
  fill([&] { return encode(Half, Draw(NextA)); },
       [&] { return encode(Half, Draw(NextB)); },
       [&] { return float(Draw(NextC)); });
  run(Half);
  for (int W = 0; W < Warps; ++W)
    for (int I = 0; I < M; ++I)
      for (int J = 0; J < N; ++J) {
        int Sum = C[W][I][J];
        for (int S = 0; S < Steps; ++S)
          for (int X = 0; X < K; ++X)
            Sum += A[W][S][I][X] * B[W][S][X][J];
        expect(Half ? "f16" : "bf16", (W * M + I) * N + J, Chains[W].D[I][J],
               float(Sum));
      }
}

/// Prints FNV-1a over the bits of all results.
static void checksum(bool Half, const char *Kind) {
  run(Half);
  uint64_t Hash = 0xcbf29ce484222325;
  for (int W = 0; W < Warps; ++W) {
    const auto *Bytes = reinterpret_cast<const unsigned char *>(Chains[W].D);
    for (size_t I = 0; I < sizeof Chains[W].D; ++I)
      Hash = (Hash ^ Bytes[I]) * 0x100000001b3;
  }
  std::printf("checksum %s %s: %016llx\n", Half ? "f16" : "bf16", Kind,
              static_cast<unsigned long long>(Hash));
}

/// A number whose exponent's field is from \p Least on, \p Range of them.
static uint16_t number(bool Half, unsigned Least, unsigned Range) {
  const unsigned Bits = next(), Fraction = Half ? 10 : 7;
  const unsigned Exponent = Least + next() % Range;
  return uint16_t((Bits & 1) << 15 | Exponent << Fraction |
                  (Bits >> 1 & ((1u << Fraction) - 1)));
}
static float accumulator(unsigned Least, unsigned Range) {
  const uint32_t Low = next(), High = next();
  const uint32_t Word =
      (High & 1) << 31 | (Least + (High >> 1) % Range) << 23 | (Low & 0x7fffff);
  float X;
  std::memcpy(&X, &Word, 4);
  return X;
}

static void inexact(bool Half) {
  const unsigned One = Half ? 15 : 127;
  auto Of = [&](unsigned Least, unsigned Range) {
    return [=] { return number(Half, Least, Range); };
  };
  fill(Of(One - 3, 4), Of(One - 3, 4), [] { return accumulator(125, 4); });
  checksum(Half, "near one");
  fill(Of(One - 13, 26), Of(One - 13, 26), [] { return accumulator(107, 40); });
  checksum(Half, "normal");
  fill(Of(0, 2), Of(One, 8), [] { return accumulator(0, 3); });
  checksum(Half, "subnormal");
  // Now and then an infinity or a NaN.
  const unsigned Top = Half ? 31 : 255;
  fill([&] { return number(Half, next() % 256 ? One : Top, 1); },
       [&] {
         return uint16_t(next() % 64 ? number(Half, One, 1)
                                     : Top << (Half ? 10 : 7));
       },
       [] { return accumulator(127, 1); });
  checksum(Half, "with infinities and NaN");
}

int main() {
  Chains = managed<Chain>(Warps);
  for (bool Half : {true, false}) {
    wholeNumbers(Half);
    inexact(Half);
  }
  return summary();
}
