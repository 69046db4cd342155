//===- warpvm/run/TileProduct.cpp - What a tensor core computes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D = A B + C on fragments that lie over the lanes as analysis/Tiles.h says.
//
// Integers: the sum is exact, then wraps or is clamped to 32 bits.
//
// Doubles: fused multiply-adds, in ascending order of k, rounded to nearest.
//
// All others as studies found the hardware of sm_90 to do it (Fasi, Higham,
// Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021; Li et
// al., "FTTN: Feature-targeted testing for numerical properties of NVIDIA and
// AMD matrix accelerators", 2024), for an element of D:
//   1. products are exact; their exponent is the sum of the factors'
//   2. products and C's element are aligned to the largest exponent and cut,
//      towards zero, two bits below a float's last
//   3. what is left is summed exactly
//   4. the sum is cut to float, towards zero; to half it is rounded to nearest
// An H100 gave the same bits for f16, bf16 and tf32 with accumulators of f32.
// Those of f16, and E4M3 and E5M2, were not compared bit by bit.
//
// Steps 2 and 4 are additions and a conversion in double, with the host's
// rounding set towards zero: |x| + 2^52 u, where u is the last bit that stays,
// has lost what is below u. NaN and infinities propagate; a NaN is 0x7fffffff.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/TileProduct.h"

#include "analysis/Tiles.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace reconverge::warpvm {

using analysis::TileElement;
using analysis::TileForm;
using analysis::TileMatrix;
using analysis::TilePlace;

namespace {

constexpr unsigned MostSide = 32, MostDepth = 64;

/// A binary format of at most 32 bits.
struct Format {
  int Exponent, Fraction, Bias;
  bool Finite; ///< no infinity; all ones alone are NaN (e4m3)
};

Format formatOf(TileElement E) {
  switch (E) {
  case TileElement::F16:
    return {5, 10, 15, false};
  case TileElement::BF16:
    return {8, 7, 127, false};
  case TileElement::E4M3:
    return {4, 3, 7, true};
  case TileElement::E5M2:
    return {5, 2, 15, false};
  default: // F32, and TF32 once its lowest bits are gone
    return {8, 23, 127, false};
  }
}

/// A number and the exponent that the hardware aligns it by.
struct Number {
  double Value;
  int Exponent;
};

constexpr int NoExponent = -10000; ///< of zero

/// 2^E, a normal number.
double power(int E) { return std::bit_cast<double>(uint64_t(1023 + E) << 52); }

Number decode(uint32_t Bits, Format F) {
  const uint32_t Sign = Bits >> (F.Exponent + F.Fraction) & 1;
  const int Field = Bits >> F.Fraction & ((1 << F.Exponent) - 1);
  const uint32_t Fraction = Bits & ((1u << F.Fraction) - 1);
  const bool Top = Field == (1 << F.Exponent) - 1;
  const double One = Sign ? -1.0 : 1.0;
  if (Top && F.Finite ? Fraction == (1u << F.Fraction) - 1 : Top && Fraction)
    return {std::numeric_limits<double>::quiet_NaN(), NoExponent};
  if (Top && !F.Finite)
    return {One * std::numeric_limits<double>::infinity(), NoExponent};
  if (Field == 0 && Fraction == 0)
    return {0 * One, NoExponent};
  const int Exponent = (Field ? Field : 1) - F.Bias;
  const uint32_t Significand = Fraction | (Field ? 1u << F.Fraction : 0);
  return {One * Significand * power(Exponent - F.Fraction), Exponent};
}

uint32_t roundToHalf(double X) {
  if (std::isnan(X))
    return 0x7fff;
  const uint32_t Sign = std::signbit(X) ? 0x8000 : 0;
  X = std::fabs(X);
  if (X >= 65520)
    return Sign | 0x7c00;
  int E;
  std::frexp(X, &E);
  const int Unit = std::max(E - 11, -24); // of the last bit
  // X / 2^Unit is below 2^11; adding 2^52 would round as the host is set.
  const double Scaled = std::ldexp(X, -Unit);
  uint32_t Whole = uint32_t(Scaled);
  const double Rest = Scaled - Whole;
  Whole += Rest > 0.5 || (Rest == 0.5 && (Whole & 1));
  // Whole has 11 bits unless subnormal, and a carry ends up in the exponent.
  return Sign | (Whole + (uint32_t(Unit + 24) << 10));
}

/// A matrix of numbers, elements of which the lanes hold.
template <typename T> struct Matrix {
  T At[MostSide][MostDepth];
};

struct Operands {
  const TileForm &Form;
  unsigned Width, Group;
  const char *Registers; ///< of A, B, C

  /// Calls \p Take(row, column, bits) for each element of \p Which.
  template <typename Word, typename Function>
  void forEach(TileMatrix Which, const Word *From, Function Take) const {
    const unsigned Count = registersOf(Form, Which);
    const unsigned Each = elementsOf(Form, Which);
    const unsigned Bits = bitsOf(Form.element(Which));
    for (unsigned R = 0; R != Count; ++R)
      for (unsigned E = 0; E != Each; ++E) {
        const TilePlace P = placeOf(Form, Which, R, E);
        for (unsigned Lane = 0; Lane != 32; ++Lane) {
          const unsigned G = Lane / 4, T = Lane % 4 * P.Step;
          const Word X = From[R * Width + 32 * Group + Lane] >> (Bits * E);
          Take(P.Row + (P.RowByGroup ? G : T),
               P.Column + (P.RowByGroup ? T : G), X);
        }
      }
  }

  template <typename Word> const Word *part(TileMatrix Which) const {
    unsigned Before = 0;
    if (Which != TileMatrix::A)
      Before += registersOf(Form, TileMatrix::A);
    if (Which == TileMatrix::C)
      Before += registersOf(Form, TileMatrix::B);
    return reinterpret_cast<const Word *>(Registers) + Before * Width;
  }
};

/// Puts the element that \p Of(row, column) gives into D's registers.
template <typename Word, typename Function>
void store(const Operands &O, void *To, Function Of) {
  const unsigned Count = registersOf(O.Form, TileMatrix::D);
  const unsigned Each = elementsOf(O.Form, TileMatrix::D);
  const unsigned Bits = bitsOf(O.Form.D);
  for (unsigned R = 0; R != Count; ++R) {
    Word *D = static_cast<Word *>(To) + R * O.Width + 32 * O.Group;
    for (unsigned E = 0; E != Each; ++E) {
      const TilePlace P = placeOf(O.Form, TileMatrix::D, R, E);
      for (unsigned Lane = 0; Lane != 32; ++Lane) {
        const unsigned G = Lane / 4, T = Lane % 4 * P.Step;
        const Word X = Word(Of(P.Row + (P.RowByGroup ? G : T),
                               P.Column + (P.RowByGroup ? T : G)))
                       << (Bits * E);
        D[Lane] = E ? D[Lane] | X : X;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Integers and doubles
//===----------------------------------------------------------------------===//

int32_t integerOf(uint32_t Bits, TileElement E) {
  switch (E) {
  case TileElement::S8:
    return int8_t(Bits);
  case TileElement::U8:
    return uint8_t(Bits);
  case TileElement::S4:
    return int32_t(Bits << 28) >> 28;
  default:
    return Bits & 15;
  }
}

/// What a thread's products take, made for the first. The library's own thread-local
/// memory would be made, and cleared, for every thread that a launch begins.
template <typename T> T &scratch() {
  static thread_local const auto Mine = std::make_unique<T>();
  return *Mine;
}

template <typename T> struct Matrices {
  Matrix<T> A, B, D; ///< B transposed
};

void multiplyIntegers(const Operands &O, void *To) {
  const TileForm &F = O.Form;
  auto &[A, B, D] = scratch<Matrices<int32_t>>();
  O.forEach(TileMatrix::A, O.part<uint32_t>(TileMatrix::A),
            [&](unsigned Row, unsigned Column, uint32_t X) {
              A.At[Row][Column] = integerOf(X, F.A);
            });
  O.forEach(TileMatrix::B, O.part<uint32_t>(TileMatrix::B),
            [&](unsigned Row, unsigned Column, uint32_t X) {
              B.At[Column][Row] = integerOf(X, F.B);
            });
  O.forEach(TileMatrix::C, O.part<uint32_t>(TileMatrix::C),
            [&](unsigned Row, unsigned Column, uint32_t X) {
              int64_t Sum = int32_t(X);
              for (unsigned K = 0; K != F.K; ++K)
                Sum += A.At[Row][K] * B.At[Column][K];
              if (F.Saturate)
                Sum = std::clamp<int64_t>(Sum, INT32_MIN, INT32_MAX);
              D.At[Row][Column] = int32_t(Sum);
            });
  store<uint32_t>(O, To, [&](unsigned Row, unsigned Column) {
    return uint32_t(D.At[Row][Column]);
  });
}

void multiplyDoubles(const Operands &O, void *To) {
  auto &[A, B, D] = scratch<Matrices<double>>();
  auto Take = [&](TileMatrix Which, Matrix<double> &Into, bool Transposed) {
    O.forEach(Which, O.part<uint64_t>(Which),
              [&](unsigned Row, unsigned Column, uint64_t X) {
                (Transposed ? Into.At[Column][Row] : Into.At[Row][Column]) =
                    std::bit_cast<double>(X);
              });
  };
  Take(TileMatrix::A, A, false);
  Take(TileMatrix::B, B, true);
  Take(TileMatrix::C, D, false);
  for (unsigned I = 0; I != O.Form.M; ++I)
    for (unsigned J = 0; J != O.Form.N; ++J)
      for (unsigned K = 0; K != O.Form.K; ++K)
        D.At[I][J] = std::fma(A.At[I][K], B.At[J][K], D.At[I][J]);
  store<uint64_t>(O, To, [&](unsigned Row, unsigned Column) {
    return std::bit_cast<uint64_t>(D.At[Row][Column]);
  });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Values and exponents apart, so that loops along a row are vectors.
template <unsigned Rows, unsigned Columns> struct FloatMatrix {
  double Value[Rows][Columns];
  int16_t Exponent[Rows][Columns];
  void set(unsigned I, unsigned J, Number X) {
    Value[I][J] = X.Value;
    Exponent[I][J] = X.Exponent;
  }
};
using FloatA = FloatMatrix<MostSide, MostDepth>;
using FloatB = FloatMatrix<MostDepth, MostSide>;
using FloatC = FloatMatrix<MostSide, MostSide>;
struct FloatMatrices {
  FloatA A;
  FloatB B;
  FloatC C;
};

/// Row \p I of the result by the steps above, as doubles, in C's place; the
/// host rounds towards zero.
void multiplyRow(const FloatA &A, const FloatB &B, FloatC &C, unsigned I,
                 const TileForm &F) {
  constexpr int Kept = 23 + 2; // bits behind the largest one's first
  int16_t *Largest = C.Exponent[I];
  for (unsigned K = 0; K != F.K; ++K)
    for (unsigned J = 0; J != F.N; ++J)
      Largest[J] =
          std::max<int16_t>(Largest[J], A.Exponent[I][K] + B.Exponent[K][J]);
  double Cut[MostSide], *Sum = C.Value[I];
  // Of zeros alone, any unit is right.
  for (unsigned J = 0; J != F.N; ++J)
    Cut[J] = power(std::max<int>(Largest[J], -900) - Kept + 52);
  auto Aligned = [&](double X, unsigned J) {
    return std::copysign((std::fabs(X) + Cut[J]) - Cut[J], X);
  };
  for (unsigned J = 0; J != F.N; ++J)
    Sum[J] = Aligned(Sum[J], J);
  for (unsigned K = 0; K != F.K; ++K)
    for (unsigned J = 0; J != F.N; ++J)
      Sum[J] += Aligned(A.Value[I][K] * B.Value[K][J], J);
}

uint32_t toBits(double X, TileElement To) {
  if (To == TileElement::F16)
    return roundToHalf(X);
  if (std::isnan(X))
    return 0x7fffffff;
  if (std::fabs(X) >= 0x1p128)
    return std::signbit(X) ? 0xff800000 : 0x7f800000;
  volatile double Exact = X; // converted as the host is set
  return std::bit_cast<uint32_t>(float(Exact));
}

#if defined(__GNUC__)
__attribute__((noinline)) // its arithmetic must not leave it
#endif
void multiplyFloatsTowardsZero(const Operands &O, void *To) {
  const TileForm &F = O.Form;
  auto &[A, B, C] = scratch<FloatMatrices>();
  auto Take = [&](TileMatrix Which, auto &Into) {
    const TileElement E = F.element(Which);
    const Format Layout = formatOf(E);
    const uint32_t Looked = E == TileElement::TF32 ? ~0x1fffu : ~0u;
    O.forEach(Which, O.part<uint32_t>(Which),
              [&](unsigned Row, unsigned Column, uint32_t X) {
                Into.set(Row, Column, decode(X & Looked, Layout));
              });
  };
  Take(TileMatrix::A, A);
  Take(TileMatrix::B, B);
  Take(TileMatrix::C, C);
  for (unsigned I = 0; I != F.M; ++I)
    multiplyRow(A, B, C, I, F);
  store<uint32_t>(O, To, [&](unsigned Row, unsigned Column) {
    return toBits(C.Value[Row][Column] + 0.0, F.D);
  });
}

void multiplyFloats(const Operands &O, void *To) {
  const int Old = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  multiplyFloatsTowardsZero(O, To);
  std::fesetround(Old);
}

TileForm formOf(uint64_t Code) {
  TileForm F;
  auto Byte = [&](unsigned N) { return uint8_t(Code >> (8 * N)); };
  F.M = Byte(0);
  F.N = Byte(1);
  F.K = Byte(2);
  F.A = TileElement(Byte(3));
  F.B = TileElement(Byte(4));
  F.C = TileElement(Byte(5));
  F.D = TileElement(Byte(6));
  F.Saturate = Byte(7) & 1;
  F.Wmma = Byte(7) >> 1 & 1;
  return F;
}

} // namespace

static void multiplyTiles(uint64_t Code, uint32_t Width, void *D,
                          const void *Registers) {
  const TileForm Form = formOf(Code);
  for (unsigned Group = 0; Group != Width / 32; ++Group) {
    const Operands O{Form, Width, Group, static_cast<const char *>(Registers)};
    if (Form.D == TileElement::S32)
      multiplyIntegers(O, D);
    else if (Form.D == TileElement::F64)
      multiplyDoubles(O, D);
    else
      multiplyFloats(O, D);
  }
}

llvm::ArrayRef<std::pair<const char *, void *>> tileSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_tile_product", reinterpret_cast<void *>(&multiplyTiles)}};
  return Symbols;
}

} // namespace reconverge::warpvm
