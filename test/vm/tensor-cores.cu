// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,warp=64,check=on,seed=3 %t | FileCheck %s
// CHECK: 0 wrong of 15360

// Products of matrices by mma and wmma, and the loads, stores and transposes
// that go with them. Whole numbers give exact results; random ones those of an
// H100 where its way is known, and else stay within 2^-20 of the sum of the
// magnitudes. nvcc compiles this file as well.

#include "Inputs/check.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mma.h>

using namespace nvcuda;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

enum Format { F16, BF16, TF32, F32, F64, S8, U8, U4, E4M3, S32 };

static int bitsOf(Format F) {
  return F == U4                          ? 4
         : F == S8 || F == U8 || F == E4M3 ? 8
         : F == F16 || F == BF16          ? 16
         : F == F64                       ? 64
                                          : 32;
}

static float fromE4M3(int Bits) {
  const int E = Bits >> 3 & 15, M = Bits & 7;
  const float X = E ? ldexpf(8 + M, E - 10) : ldexpf(M, -9);
  return Bits & 128 ? -X : X;
}

/// The bits of \p X, which the format holds exactly.
static uint64_t encode(Format F, double X) {
  float Single = float(X);
  uint32_t Word;
  memcpy(&Word, &Single, 4);
  uint64_t Long;
  memcpy(&Long, &X, 8);
  switch (F) {
  case F16: {
    const __half H = __float2half(Single);
    unsigned short Bits;
    memcpy(&Bits, &H, 2);
    return Bits;
  }
  case BF16:
    return Word >> 16;
  case TF32:
  case F32:
    return Word;
  case F64:
    return Long;
  case E4M3:
    for (int Bits = 0; Bits < 256; ++Bits)
      if (Bits != 127 && Bits != 255 && fromE4M3(Bits) == Single)
        return Bits;
    return 127;
  default:
    return uint64_t(int64_t(X)) & ((1ull << bitsOf(F)) - 1);
  }
}

static double decode(Format F, uint64_t Bits) {
  if (F == F64) {
    double X;
    memcpy(&X, &Bits, 8);
    return X;
  }
  uint32_t Word = uint32_t(Bits);
  if (F == S32)
    return int32_t(Word);
  if (F == F16) {
    const unsigned short Short = Word;
    __half H;
    memcpy(&H, &Short, 2);
    return __half2float(H);
  }
  float X;
  memcpy(&X, &Word, 4);
  return X;
}

/// A number of the format: small and whole, or any.
static double draw(Format F, bool Whole) {
  const int N = next() % 16;
  if (F == U4 || F == U8)
    return N;
  if (Whole || F == S8 || F == S32 || F == E4M3)
    return N - 8;
  // 8 random bits of fraction, which all formats hold, over 12 binades.
  return ldexp(double(next() % 256) - 128, int(next() % 12) - 12);
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

struct Shape {
  int M, N, K;
};

/// Element \p I of lane \p Lane of a fragment: PTX ISA, "Matrix Fragments for
/// mma". \p Each elements lie in a register.
struct Place {
  int Row, Column;
};
static Place placeInA(Shape S, int Each, int Lane, int I) {
  const int Register = I / Each;
  const bool Lower = S.M == 16 && Register % 2;
  const int Step = S.M == 16 ? Register / 2 : Register;
  return {Lane / 4 + 8 * Lower, Lane % 4 * Each + I % Each + 4 * Each * Step};
}
static Place placeInB(int Each, int Lane, int I) {
  return {Lane % 4 * Each + I % Each + 4 * Each * (I / Each), Lane / 4};
}
static Place placeInC(int Lane, int I) {
  return {Lane / 4 + 8 * (I / 2), Lane % 4 * 2 + I % 2};
}

constexpr int MostWords = 32 * 16;

/// Registers as 32-bit words, a row for each: what mma reads and gives.
struct Fragments {
  uint32_t A[MostWords], B[MostWords], C[MostWords], D[MostWords];
};

/// Puts element \p I of lane \p Lane into words.
static void put(uint32_t *Words, Format F, int Lane, int I, double X) {
  const int Bits = bitsOf(F);
  const uint64_t V = encode(F, X);
  if (Bits == 64) {
    Words[2 * I * 32 + Lane] = uint32_t(V);
    Words[(2 * I + 1) * 32 + Lane] = uint32_t(V >> 32);
    return;
  }
  const int Each = 32 / Bits;
  uint32_t &Word = Words[I / Each * 32 + Lane];
  if (I % Each == 0)
    Word = 0;
  Word |= uint32_t(V) << Bits * (I % Each);
}
static double take(const uint32_t *Words, Format F, int Lane, int I) {
  const int Bits = bitsOf(F);
  if (Bits == 64)
    return decode(F, Words[2 * I * 32 + Lane] |
                         uint64_t(Words[(2 * I + 1) * 32 + Lane]) << 32);
  const int Each = 32 / Bits;
  const uint32_t Word = Words[I / Each * 32 + Lane] >> Bits * (I % Each);
  return decode(F, Bits == 16 ? Word & 0xffff : Word);
}

template <int N> struct Registers {
  uint32_t R[N];
  __device__ void load(const uint32_t *From) {
    for (int I = 0; I < N; ++I)
      R[I] = From[I * 32 + threadIdx.x];
  }
  __device__ void store(uint32_t *To) const {
    for (int I = 0; I < N; ++I)
      To[I * 32 + threadIdx.x] = R[I];
  }
};

#define IN(V, I) "r"(V.R[I])
#define OUT(V, I) "=r"(V.R[I])

#define KERNEL_16(NAME, FORM, NA, NB)                                          \
  __global__ void NAME(Fragments *F) {                                         \
    Registers<NA> A;                                                           \
    Registers<NB> B;                                                           \
    Registers<4> C, D;                                                         \
    A.load(F->A);                                                              \
    B.load(F->B);                                                              \
    C.load(F->C);                                                              \
    PRODUCT_##NA##_##NB(FORM);                                                 \
    D.store(F->D);                                                             \
  }
#define PRODUCT_4_2(FORM)                                                      \
  asm("mma.sync.aligned." FORM                                                 \
      " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"             \
      : OUT(D, 0), OUT(D, 1), OUT(D, 2), OUT(D, 3)                             \
      : IN(A, 0), IN(A, 1), IN(A, 2), IN(A, 3), IN(B, 0), IN(B, 1), IN(C, 0),  \
        IN(C, 1), IN(C, 2), IN(C, 3))
#define PRODUCT_2_1(FORM)                                                      \
  asm("mma.sync.aligned." FORM                                                 \
      " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                         \
      : OUT(D, 0), OUT(D, 1), OUT(D, 2), OUT(D, 3)                             \
      : IN(A, 0), IN(A, 1), IN(B, 0), IN(C, 0), IN(C, 1), IN(C, 2), IN(C, 3))

KERNEL_16(half16, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2)
KERNEL_16(half8, "m16n8k8.row.col.f32.f16.f16.f32", 2, 1)
KERNEL_16(bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2)
KERNEL_16(bfloat8, "m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1)
KERNEL_16(tensor8, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2)
KERNEL_16(tensor4, "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1)
KERNEL_16(bytes32, "m16n8k32.row.col.s32.s8.s8.s32", 4, 2)
KERNEL_16(bytes16, "m16n8k16.row.col.s32.s8.u8.s32", 2, 1)
KERNEL_16(nibbles64, "m16n8k64.row.col.s32.u4.u4.s32", 4, 2)
KERNEL_16(eighth32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2)

__global__ void halfToHalf(Fragments *F) {
  Registers<4> A;
  Registers<2> B, C, D;
  A.load(F->A);
  B.load(F->B);
  C.load(F->C);
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, "
      "{%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
      : OUT(D, 0), OUT(D, 1)
      : IN(A, 0), IN(A, 1), IN(A, 2), IN(A, 3), IN(B, 0), IN(B, 1), IN(C, 0),
        IN(C, 1));
  D.store(F->D);
}

__global__ void bytes8(Fragments *F) {
  Registers<1> A, B;
  Registers<2> C, D;
  A.load(F->A);
  B.load(F->B);
  C.load(F->C);
  asm("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1}, {%2}, "
      "{%3}, {%4,%5};"
      : OUT(D, 0), OUT(D, 1)
      : IN(A, 0), IN(B, 0), IN(C, 0), IN(C, 1));
  D.store(F->D);
}

static __device__ double joined(uint32_t Low, uint32_t High) {
  return __hiloint2double(High, Low);
}

__global__ void doubles(Fragments *F) {
  Registers<2> A, B;
  Registers<4> C, D;
  A.load(F->A);
  B.load(F->B);
  C.load(F->C);
  double X, Y;
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "
      "{%4,%5};"
      : "=d"(X), "=d"(Y)
      : "d"(joined(A.R[0], A.R[1])), "d"(joined(B.R[0], B.R[1])),
        "d"(joined(C.R[0], C.R[1])), "d"(joined(C.R[2], C.R[3])));
  D.R[0] = __double2loint(X);
  D.R[1] = __double2hiint(X);
  D.R[2] = __double2loint(Y);
  D.R[3] = __double2hiint(Y);
  D.store(F->D);
}

static double Want[32][32], Magnitude[32][32];

/// C + the sum of A[k] B[k], of normal numbers, as an H100 gives it: all terms
/// cut towards zero two bits below the last of a float with the largest of
/// their exponents, that of a product being the sum of the factors'; the sum of
/// those, which is exact, cut to float.
static float accumulated(const double *A, const double *B, float C, int K) {
  int Largest = C == 0 ? -1000 : std::ilogb(C);
  for (int I = 0; I < K; ++I)
    if (A[I] * B[I] != 0)
      Largest = std::max(Largest, std::ilogb(A[I]) + std::ilogb(B[I]));
  const double Unit = std::ldexp(1.0, Largest - 25);
  double Sum = std::trunc(C / Unit);
  for (int I = 0; I < K; ++I)
    Sum += std::trunc(A[I] * B[I] / Unit);
  const float Near = float(Sum * Unit);
  return std::fabs(Near) > std::fabs(Sum * Unit) ? std::nextafter(Near, 0.0f)
                                                 : Near;
}

/// Compares an element with what it should be, exactly or nearly.
static void judge(const char *What, bool Exact, Format D, double Got, int I,
                  int J) {
  if (Exact || D == S32)
    return expect(What, I * 32 + J, Got, Want[I][J]);
  const double Bound =
      D == F64 ? 0x1p-50 : D == F16 ? 0x1p-10 : 0x1p-20; // F16: its own rounding
  expect(What, I * 32 + J,
         std::fabs(Got - Want[I][J]) <= Bound * Magnitude[I][J], true);
}

/// What \p Kernel gives for random matrices of the formats.
static void product(const char *What, void (*Kernel)(Fragments *), Shape S,
                    Format A, Format B, Format C, bool Saturates = false) {
  static double MA[32][64], MB[32][64]; // B transposed
  static auto *F = managed<Fragments>(1);
  const bool Known = C == F32 && (A == F16 || A == BF16 || A == TF32);
  for (bool Whole : {true, false}) {
    auto Each = [](Format X) { return bitsOf(X) < 32 ? 32 / bitsOf(X) : 1; };
    for (int Lane = 0; Lane < 32; ++Lane) {
      for (int I = 0; I < S.M * S.K / 32; ++I) {
        const Place P = placeInA(S, Each(A), Lane, I);
        put(F->A, A, Lane, I, MA[P.Row][P.Column] = draw(A, Whole));
      }
      for (int I = 0; I < S.N * S.K / 32; ++I) {
        const Place P = placeInB(Each(B), Lane, I);
        put(F->B, B, Lane, I, MB[P.Column][P.Row] = draw(B, Whole));
      }
    }
    for (int Lane = 0; Lane < 32; ++Lane)
      for (int I = 0; I < S.M * S.N / 32; ++I) {
        const Place P = placeInC(Lane, I);
        double X = draw(C, Whole);
        if (Saturates && I == 0)
          X = INT32_MAX - 3;
        put(F->C, C, Lane, I, X);
        double Sum = X, Size = std::fabs(X);
        for (int K = 0; K < S.K; ++K) {
          Sum += MA[P.Row][K] * MB[P.Column][K];
          Size += std::fabs(MA[P.Row][K] * MB[P.Column][K]);
        }
        if (Known)
          Sum = accumulated(MA[P.Row], MB[P.Column], float(X), S.K);
        Want[P.Row][P.Column] = Saturates ? std::fmin(Sum, INT32_MAX) : Sum;
        Magnitude[P.Row][P.Column] = Size;
      }
    Kernel<<<1, 32>>>(F);
    finish();
    for (int Lane = 0; Lane < 32; ++Lane)
      for (int I = 0; I < S.M * S.N / 32; ++I) {
        const Place P = placeInC(Lane, I);
        judge(What, Whole || Known, C, take(F->D, C, Lane, I), P.Row, P.Column);
      }
  }
}

//===----------------------------------------------------------------------===//
// wmma
//===----------------------------------------------------------------------===//

/// D = A B + C + 1, by each warp.
template <int M, int N, int K, typename E, typename LayoutA, typename LayoutB,
          typename T, typename Stored>
__global__ void multiply(const Stored *A, int StrideA, const Stored *B,
                         int StrideB, const T *C, T *D, int StrideC,
                         wmma::layout_t Layout) {
  wmma::fragment<wmma::matrix_a, M, N, K, E, LayoutA> FA;
  wmma::fragment<wmma::matrix_b, M, N, K, E, LayoutB> FB;
  wmma::fragment<wmma::accumulator, M, N, K, T> FC, FD;
  wmma::load_matrix_sync(FA, A, StrideA);
  wmma::load_matrix_sync(FB, B, StrideB);
  wmma::load_matrix_sync(FC, C, StrideC, Layout);
  wmma::fill_fragment(FD, T(1.0f));
  for (int I = 0; I < FC.num_elements; ++I)
    FD.x[I] = FC.x[I] + FD.x[I];
  wmma::mma_sync(FD, FA, FB, FD);
  wmma::store_matrix_sync(D + threadIdx.x / 32 * 32 * StrideC, FD, StrideC,
                          Layout);
}

template <typename Layout> constexpr bool IsRow = false;
template <> constexpr bool IsRow<wmma::row_major> = true;

static float number(__half X) { return __half2float(X); }
static float number(__nv_bfloat16 X) { return __bfloat162float(X); }
static float number(float X) { return X; }
static double number(double X) { return X; }
static int number(int X) { return X; }
static int number(signed char X) { return X; }
static int number(unsigned char X) { return X; }

template <int M, int N, int K, typename E, typename LayoutA, typename LayoutB,
          typename T, typename Stored>
static void wmmaProduct(const char *What, wmma::layout_t Layout) {
  constexpr int Pad = 48;
  constexpr bool RowA = IsRow<LayoutA>, RowB = IsRow<LayoutB>;
  const bool RowC = Layout == wmma::mem_row_major;
  auto *A = managed<Stored>(64 * Pad), *B = managed<Stored>(64 * Pad);
  auto *C = managed<T>(64 * Pad), *D = managed<T>(64 * Pad);
  auto At = [](bool Row, int I, int J) {
    return Row ? I * Pad + J : J * Pad + I;
  };
  for (int I = 0; I < 64 * Pad; ++I) {
    A[I] = Stored(float(next() % 16));
    B[I] = Stored(float(next() % 16));
    C[I] = T(float(next() % 16));
    D[I] = T(0.0f);
  }
  multiply<M, N, K, E, LayoutA, LayoutB, T, Stored>
      <<<1, 64>>>(A, Pad, B, Pad, C, D, Pad, Layout);
  finish();
  for (int I = 0; I < M; ++I)
    for (int J = 0; J < N; ++J) {
      double Sum = 1 + double(number(C[At(RowC, I, J)]));
      for (int X = 0; X < K; ++X)
        Sum += double(number(A[At(RowA, I, X)])) *
               double(number(B[At(RowB, X, J)]));
      expect(What, I * N + J, double(number(D[At(RowC, I, J)])), Sum);
      expect(What, I * N + J, double(number(D[32 * Pad + At(RowC, I, J)])),
             Sum);
    }
}

template <int M, int N, int K, typename E, typename T, typename Stored = E>
static void wmmaShape(const char *What) {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  wmmaProduct<M, N, K, E, Row, Column, T, Stored>(What, wmma::mem_row_major);
  wmmaProduct<M, N, K, E, Column, Row, T, Stored>(What, wmma::mem_col_major);
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

/// Eight matrices of 8 by 8 through registers: as they are, and transposed on
/// the way in, on the way out, and in between.
__global__ void transports(const uint16_t *In, uint16_t *Out) {
  alignas(16) __shared__ uint16_t From[4 * 64], To[4 * 64];
  const int Lane = threadIdx.x;
  for (int I = Lane; I < 4 * 64; I += 32)
    From[I] = In[I];
  const auto *Generic = From + Lane * 8;
  const uint32_t Row = uint32_t(__cvta_generic_to_shared(Generic));
  const uint32_t Into = uint32_t(__cvta_generic_to_shared(To + Lane * 8));
  auto Give = [&](int Which) {
    __syncwarp();
    for (int I = Lane; I < 4 * 64; I += 32)
      Out[Which * 4 * 64 + I] = To[I];
    __syncwarp();
  };
  __syncwarp();
  uint32_t A, B, C, D;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(A), "=r"(B), "=r"(C), "=r"(D)
               : "r"(Row)
               : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
          Into),
      "r"(B), "r"(A), "r"(D), "r"(C)
      : "memory");
  Give(0);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(A), "=r"(B), "=r"(C), "=r"(D)
               : "l"(Generic)
               : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
          Into),
      "r"(A), "r"(B), "r"(C), "r"(D)
      : "memory");
  Give(1);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(A), "=r"(B)
               : "r"(Row)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(C)
               : "r"(Row)
               : "memory");
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(D)
               : "r"(C));
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(
          Into),
      "r"(A), "r"(B)
      : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(Into + 256),
      "r"(C)
      : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(Into + 384),
      "r"(D)
      : "memory");
  Give(2);
}

static void transport() {
  auto *In = managed<uint16_t>(4 * 64), *Out = managed<uint16_t>(3 * 4 * 64);
  for (int I = 0; I < 4 * 64; ++I)
    In[I] = uint16_t(next());
  transports<<<1, 32>>>(In, Out);
  finish();
  for (int M = 0; M < 4; ++M)
    for (int I = 0; I < 64; ++I) {
      const int Turned = I % 8 * 8 + I / 8;
      expect("kept", M, Out[M * 64 + I], In[(M ^ 1) * 64 + I]);
      expect("transposed", M, Out[256 + M * 64 + I], In[M * 64 + Turned]);
      expect("mixed", M, Out[512 + M * 64 + I],
             In[M < 2    ? M * 64 + Turned
                : M == 2 ? I
                         : Turned]);
    }
}

int main() {
  product("m16n8k16 f16", half16, {16, 8, 16}, F16, F16, F32);
  product("m16n8k8 f16", half8, {16, 8, 8}, F16, F16, F32);
  product("m16n8k16 f16 to f16", halfToHalf, {16, 8, 16}, F16, F16, F16);
  product("m16n8k16 bf16", bfloat16, {16, 8, 16}, BF16, BF16, F32);
  product("m16n8k8 bf16", bfloat8, {16, 8, 8}, BF16, BF16, F32);
  product("m16n8k8 tf32", tensor8, {16, 8, 8}, TF32, TF32, F32);
  product("m16n8k4 tf32", tensor4, {16, 8, 4}, TF32, TF32, F32);
  product("m16n8k32 s8", bytes32, {16, 8, 32}, S8, S8, S32);
  product("m16n8k16 s8 u8", bytes16, {16, 8, 16}, S8, U8, S32);
  product("m8n8k16 u8 s8", bytes8, {8, 8, 16}, U8, S8, S32, true);
  product("m16n8k64 u4", nibbles64, {16, 8, 64}, U4, U4, S32);
  product("m16n8k32 e4m3", eighth32, {16, 8, 32}, E4M3, E4M3, F32);
  product("m8n8k4 f64", doubles, {8, 8, 4}, F64, F64, F64);

  wmmaShape<16, 16, 16, __half, float>("m16n16k16 f16");
  wmmaShape<32, 8, 16, __half, float>("m32n8k16 f16");
  wmmaShape<8, 32, 16, __half, float>("m8n32k16 f16");
  wmmaShape<16, 16, 16, __half, __half>("m16n16k16 f16 to f16");
  wmmaShape<8, 32, 16, __half, __half>("m8n32k16 f16 to f16");
  wmmaShape<16, 16, 16, __nv_bfloat16, float>("m16n16k16 bf16");
  wmmaShape<8, 32, 16, __nv_bfloat16, float>("m8n32k16 bf16");
  wmmaShape<16, 16, 8, wmma::precision::tf32, float, float>("m16n16k8 tf32");
  wmmaShape<16, 16, 16, signed char, int>("m16n16k16 s8");
  wmmaShape<32, 8, 16, unsigned char, int>("m32n8k16 u8");
  wmmaShape<8, 32, 16, signed char, int>("m8n32k16 s8");
  wmmaShape<8, 8, 4, double, double>("m8n8k4 f64");

  transport();
  return summary();
}
