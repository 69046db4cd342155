//===- unittests/warpvm/ArithmeticTest.cpp - Numbers lane by lane ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer operations against C++ on edge values in all pairs and random ones;
// conversions that saturate or round in a direction; denormals that are
// flushed; directed roundings against <cfenv>; and how far the modelled
// approximations (warpvm/emit/Math.cpp) are from the exact result.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// `out[i] = text(a[i], b[i], c[i])`, all threads of a grid; idle every third
/// lane, so that idle lanes' operands are garbage.
std::string mapKernel(const std::string &In, const std::string &Out,
                      const std::string &Text, const std::string &Attributes) {
  return R"(
    define ptx_kernel void @k(ptr %pa, ptr %pb, ptr %pc, ptr %po, i32 %n) )" +
         Attributes + R"( {
    entry:
      %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
      %row = mul i32 %block, %width
      %i = add i32 %row, %tid
      %in = icmp ult i32 %i, %n
      br i1 %in, label %on, label %gone
    on:
      %ga = getelementptr )" +
         In + ", ptr %pa, i32 %i\n %gb = getelementptr " + In +
         ", ptr %pb, i32 %i\n %gc = getelementptr " + In +
         ", ptr %pc, i32 %i\n %a = load " + In + ", ptr %ga\n %b = load " + In +
         ", ptr %gb\n %c = load " + In + ", ptr %gc\n " + Text +
         "\n %go = getelementptr " + Out + ", ptr %po, i32 %i\n store " + Out +
         " %r, ptr %go\n br label %gone\ngone:\n ret void\n}";
}

template <typename Out, typename In>
std::vector<Out> map(const std::string &InType, const std::string &OutType,
                     const std::string &Text, const MachineOptions &O,
                     const std::vector<In> &A, std::vector<In> B = {},
                     std::vector<In> C = {},
                     const std::string &Attributes = "") {
  TestProgram P(mapKernel(InType, OutType, Text, Attributes), O);
  B.resize(A.size());
  C.resize(A.size());
  std::vector<Out> Result(A.size());
  P.run(shape(unsigned(A.size() + 127) / 128, 128), A.data(), B.data(),
        C.data(), Result.data(), uint32_t(A.size()));
  return Result;
}

template <typename F> bool sameNumber(F A, F B) {
  return (std::isnan(A) && std::isnan(B)) ||
         std::memcmp(&A, &B, sizeof(F)) == 0;
}

/// Tiers do the same arithmetic; one warp size of each is enough.
std::vector<MachineOptions> someSetups() {
  return {optionsFor(32, Tier::Fused, PolicyKind::Frontier),
          optionsFor(64, Tier::Blocks, PolicyKind::Frontier)};
}

template <typename T> std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  using U = std::make_unsigned_t<T>; // 100 below -128 is fine, too
  std::vector<T> E;
  for (int I : {0, 1, 2, 3, 5, 7, 10, 100})
    E.insert(E.end(),
             {T(I), T(-I), T(U(L::max()) - U(I)), T(U(L::min()) + U(I))});
  for (unsigned Bit = 1; Bit < sizeof(T) * 8; Bit += 5)
    E.insert(E.end(), {T(U(1) << Bit), T((U(1) << Bit) - 1)});
  return E;
}

/// All pairs of edge values, then random pairs of all magnitudes.
template <typename T> std::pair<std::vector<T>, std::vector<T>> pairs() {
  std::vector<T> A, B;
  for (T X : edges<T>())
    for (T Y : edges<T>()) {
      A.push_back(X);
      B.push_back(Y);
    }
  Random R(17);
  for (int I = 0; I < 20000; ++I) {
    A.push_back(T(R.next() >> R.below(64)));
    B.push_back(T(R.next() >> R.below(64)));
  }
  return {A, B};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Division where it is defined; elsewhere only that nothing bad happens.
template <typename S> void checkDivision(const char *Type) {
  using U = std::make_unsigned_t<S>;
  auto [A, B] = pairs<S>();
  const S Min = std::numeric_limits<S>::min();
  for (const MachineOptions &O : someSetups())
    for (const char *Op : {"sdiv", "srem", "udiv", "urem"}) {
      auto Got =
          map<S>(Type, Type, std::string("%r = ") + Op + " " + Type + " %a, %b",
                 O, A, B);
      for (size_t I = 0; I < A.size(); ++I) {
        const bool Signed = Op[0] == 's', Quotient = Op[1] == 'd';
        if (!B[I] || (Signed && A[I] == Min && B[I] == -1))
          continue;
        const S Want =
            Signed ? (Quotient ? S(A[I] / B[I]) : S(A[I] % B[I]))
                   : (Quotient ? S(U(A[I]) / U(B[I])) : S(U(A[I]) % U(B[I])));
        ASSERT_EQ(Got[I], Want) << Op << " " << Type << " " << +A[I] << ", "
                                << +B[I] << ": " << describe(O);
      }
    }
}

TEST(Integers, Division8) { checkDivision<int8_t>("i8"); }
TEST(Integers, Division16) { checkDivision<int16_t>("i16"); }
TEST(Integers, Division32) { checkDivision<int32_t>("i32"); }
TEST(Integers, Division64) { checkDivision<int64_t>("i64"); }

/// By zero, and the smallest number by -1, by constants and uniform values too.
TEST(Integers, ImpossibleDivisionsDoNotCrash) {
  for (const MachineOptions &O : someSetups())
    for (const char *Type : {"i8", "i16", "i32", "i64"})
      for (const char *Op : {"sdiv", "srem", "udiv", "urem"})
        for (const char *D : {"%b", "0", "-1", "%z", "%m"}) {
          const std::string T = Type;
          std::string Text = "%n32 = sub i32 %n, %n\n";
          Text += T == "i32"   ? "%z = add i32 %n32, 0\n"
                  : T == "i64" ? "%z = zext i32 %n32 to i64\n"
                               : "%z = trunc i32 %n32 to " + T + "\n";
          Text +=
              "%m = sub " + T + " %z, 1\n%r = " + Op + " " + T + " %a, " + D;
          std::vector<int64_t> A(64, INT64_MIN), B(64, 0);
          for (unsigned I = 0; I < 64; ++I)
            A[I] = I % 2 ? std::numeric_limits<int64_t>::min() : 5;
          if (T == "i32")
            std::fill(A.begin(), A.end(), int64_t(0x8000000080000000));
          map<int64_t>(Type, Type, Text, O, A, B);
        }
}

struct Binary {
  const char *Text;
  uint32_t (*Want)(uint32_t A, uint32_t B, uint32_t C);
};

uint32_t rotate(uint32_t High, uint32_t Low, uint32_t By, bool Left) {
  const uint64_t X = uint64_t(High) << 32 | Low;
  By &= 31;
  return Left ? uint32_t(X << By >> 32) : uint32_t(X >> By);
}

uint32_t prmt(uint32_t A, uint32_t B, uint32_t Selector) {
  const uint64_t Bytes = uint64_t(B) << 32 | A;
  uint32_t R = 0;
  for (unsigned I = 0; I < 4; ++I) {
    const unsigned Nibble = Selector >> (4 * I) & 15;
    uint8_t Byte = uint8_t(Bytes >> (8 * (Nibble & 7)));
    if (Nibble & 8)
      Byte = Byte & 0x80 ? 0xff : 0;
    R |= uint32_t(Byte) << (8 * I);
  }
  return R;
}

int32_t low24(uint32_t X) { return int32_t(X << 8) >> 8; }

const Binary Binaries[] = {
    {"%r = call i32 @llvm.nvvm.mulhi.i(i32 %a, i32 %b)",
     [](uint32_t A, uint32_t B, uint32_t) {
       return uint32_t(uint64_t(int64_t(int32_t(A)) * int32_t(B)) >> 32);
     }},
    {"%r = call i32 @llvm.nvvm.mulhi.ui(i32 %a, i32 %b)",
     [](uint32_t A, uint32_t B, uint32_t) {
       return uint32_t(uint64_t(A) * B >> 32);
     }},
    {"%r = call i32 @llvm.nvvm.mul24.i(i32 %a, i32 %b)",
     [](uint32_t A, uint32_t B, uint32_t) {
       return uint32_t(int64_t(low24(A)) * low24(B));
     }},
    {"%r = call i32 @llvm.nvvm.mul24.ui(i32 %a, i32 %b)",
     [](uint32_t A, uint32_t B, uint32_t) {
       return uint32_t(uint64_t(A & 0xffffff) * (B & 0xffffff));
     }},
    {"%r = call i32 @llvm.nvvm.sad.i(i32 %a, i32 %b, i32 %c)",
     [](uint32_t A, uint32_t B, uint32_t C) {
       return uint32_t(std::abs(int64_t(int32_t(A)) - int32_t(B))) + C;
     }},
    {"%r = call i32 @llvm.nvvm.sad.ui(i32 %a, i32 %b, i32 %c)",
     [](uint32_t A, uint32_t B, uint32_t C) {
       return (A > B ? A - B : B - A) + C;
     }},
    {"%r = call i32 @llvm.nvvm.prmt(i32 %a, i32 %b, i32 %c)", prmt},
    {"%r = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %c)",
     [](uint32_t A, uint32_t B, uint32_t C) { return rotate(A, B, C, true); }},
    {"%r = call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 %c)",
     [](uint32_t A, uint32_t B, uint32_t C) { return rotate(A, B, C, false); }},
    {"%r = call i32 @llvm.ctlz.i32(i32 %a, i1 false)",
     [](uint32_t A, uint32_t, uint32_t) {
       return uint32_t(std::countl_zero(A));
     }},
    {"%r = call i32 @llvm.cttz.i32(i32 %a, i1 false)",
     [](uint32_t A, uint32_t, uint32_t) {
       return uint32_t(std::countr_zero(A));
     }},
    {"%r = call i32 @llvm.ctpop.i32(i32 %a)",
     [](uint32_t A, uint32_t, uint32_t) { return uint32_t(std::popcount(A)); }},
    {"%r = call i32 @llvm.abs.i32(i32 %a, i1 false)",
     [](uint32_t A, uint32_t, uint32_t) { return int32_t(A) < 0 ? 0 - A : A; }},
    {"%r = call i32 @llvm.uadd.sat.i32(i32 %a, i32 %b)",
     [](uint32_t A, uint32_t B, uint32_t) {
       return uint32_t(std::min<uint64_t>(uint64_t(A) + B, ~0u));
     }},
    {"%q = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %a, i32 %b)\n"
     "%v = extractvalue { i32, i1 } %q, 0\n%o = extractvalue { i32, i1 } %q, "
     "1\n"
     "%r = select i1 %o, i32 77, i32 %v",
     [](uint32_t A, uint32_t B, uint32_t) {
       const int64_t P = int64_t(int32_t(A)) * int32_t(B);
       return P == int32_t(P) ? uint32_t(P) : 77;
     }},
};

TEST(Integers, NvvmAndBitOperations) {
  auto [A, B] = pairs<uint32_t>();
  std::vector<uint32_t> C(A.size());
  Random R(5);
  for (uint32_t &X : C)
    X = uint32_t(R.next() >> 13);
  for (const MachineOptions &O : someSetups())
    for (const Binary &Op : Binaries) {
      auto Got = map<uint32_t>("i32", "i32", Op.Text, O, A, B, C);
      for (size_t I = 0; I < A.size(); ++I)
        ASSERT_EQ(Got[I], Op.Want(A[I], B[I], C[I]))
            << Op.Text << ": " << A[I] << ", " << B[I] << ", " << C[I];
    }
}

TEST(Integers, HighHalfOf64BitProducts) {
  auto [A, B] = pairs<uint64_t>();
  for (const MachineOptions &O : someSetups()) {
    auto High = map<uint64_t>(
        "i64", "i64", "%r = call i64 @llvm.nvvm.mulhi.ull(i64 %a, i64 %b)", O,
        A, B);
    auto Signed = map<uint64_t>(
        "i64", "i64", "%r = call i64 @llvm.nvvm.mulhi.ll(i64 %a, i64 %b)", O, A,
        B);
    for (size_t I = 0; I < A.size(); ++I) {
      ASSERT_EQ(High[I],
                uint64_t(static_cast<unsigned __int128>(A[I]) * B[I] >> 64));
      ASSERT_EQ(
          Signed[I],
          uint64_t(static_cast<__int128>(int64_t(A[I])) * int64_t(B[I]) >> 64));
    }
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// As an H200 does it (unittests/frontend/ptx/Inputs/golden.txt).
template <typename To, typename From> To saturate(From X) {
  using L = std::numeric_limits<To>;
  if (std::isnan(X))
    return sizeof(To) == 8 || sizeof(From) == 8
               ? To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1))
               : 0;
  if (X <= From(L::min()))
    return L::min();
  if (X >= From(L::max())) // rounds up to a power of two where it must
    return L::max();
  return To(X);
}

/// Every binade, both signs, with a spread of significands, and the specials.
template <typename F> std::vector<F> samples(unsigned PerBinade) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  const unsigned Mantissa = sizeof(F) == 4 ? 23 : 52;
  const unsigned Exponents = sizeof(F) == 4 ? 255 : 2047;
  std::vector<F> S;
  Random R(23);
  for (unsigned E = 0; E < Exponents; ++E)
    for (unsigned I = 0; I < PerBinade; ++I) {
      Bits M = Bits(R.next()) & ((Bits(1) << Mantissa) - 1);
      if (I == 0)
        M = 0;
      if (I == 1)
        M = (Bits(1) << Mantissa) - 1;
      const Bits B = Bits(E) << Mantissa | M;
      S.push_back(std::bit_cast<F>(B));
      S.push_back(-S.back());
    }
  const F Inf = std::numeric_limits<F>::infinity();
  S.insert(S.end(),
           {F(0), -F(0), Inf, -Inf, std::numeric_limits<F>::quiet_NaN()});
  return S;
}

template <typename F> void checkConversions(const char *Type) {
  const auto X = samples<F>(4);
  const std::string T = Type;
  for (const MachineOptions &O : someSetups()) {
    auto I32 = map<int32_t>(T, "i32", "%r = fptosi " + T + " %a to i32", O, X);
    auto U32 = map<uint32_t>(T, "i32", "%r = fptoui " + T + " %a to i32", O, X);
    auto I64 = map<int64_t>(T, "i64", "%r = fptosi " + T + " %a to i64", O, X);
    auto U64 = map<uint64_t>(T, "i64", "%r = fptoui " + T + " %a to i64", O, X);
    for (size_t I = 0; I < X.size(); ++I) {
      ASSERT_EQ(I32[I], (saturate<int32_t>(X[I]))) << X[I];
      ASSERT_EQ(U32[I], (saturate<uint32_t>(X[I]))) << X[I];
      ASSERT_EQ(I64[I], (saturate<int64_t>(X[I]))) << X[I];
      ASSERT_EQ(U64[I], (saturate<uint64_t>(X[I]))) << X[I];
    }
  }
}

TEST(Conversions, FloatToIntegerSaturates) { checkConversions<float>("float"); }
TEST(Conversions, DoubleToIntegerSaturates) {
  checkConversions<double>("double");
}

/// cvt.r?i: the rounding is in the name.
TEST(Conversions, RoundedToInteger) {
  std::vector<float> X;
  for (int I = -40; I <= 40; ++I)
    X.push_back(float(I) / 4);
  for (const MachineOptions &O : someSetups())
    for (auto [Mode, Of] :
         {std::pair<const char *, float (*)(float)>{
              "rn", [](float V) { return std::nearbyint(V); }},
          {"rz", [](float V) { return std::trunc(V); }},
          {"rm", [](float V) { return std::floor(V); }},
          {"rp", [](float V) { return std::ceil(V); }}}) {
      auto Got = map<int32_t>("float", "i32",
                              std::string("%r = call i32 @llvm.nvvm.f2i.") +
                                  Mode + "(float %a)",
                              O, X);
      for (size_t I = 0; I < X.size(); ++I)
        ASSERT_EQ(Got[I], int32_t(Of(X[I]))) << Mode << " " << X[I];
    }
}

/// llvm.nvvm.<Name>.<mode> of all \p X, against software floats.
template <typename Out, typename In>
void checkDirected(const std::string &Name, const char *InType,
                   const char *OutType, const std::vector<In> &X,
                   APFloat (*Exactly)(In, RoundingMode)) {
  const std::pair<const char *, RoundingMode> Modes[] = {
      {"rn", RoundingMode::NearestTiesToEven},
      {"rz", RoundingMode::TowardZero},
      {"rm", RoundingMode::TowardNegative},
      {"rp", RoundingMode::TowardPositive}};
  for (const MachineOptions &O : someSetups())
    for (auto [Mode, Rounding] : Modes) {
      const std::string Callee = "@llvm.nvvm." + Name + "." + Mode;
      auto Got = map<Out>(InType, OutType,
                          std::string("%r = call ") + OutType + " " + Callee +
                              "(" + InType + " %a)",
                          O, X);
      for (size_t I = 0; I < X.size(); ++I) {
        const APFloat Want = Exactly(X[I], Rounding);
        ASSERT_TRUE(APFloat(Got[I]).bitwiseIsEqual(Want))
            << Callee << " of " << X[I] << ": " << Got[I];
      }
    }
}

template <typename In, bool Single>
APFloat fromInteger(In X, RoundingMode Rounding) {
  APFloat R(Single ? APFloat::IEEEsingle() : APFloat::IEEEdouble());
  R.convertFromAPInt(APInt(8 * sizeof(In), uint64_t(X)), std::is_signed_v<In>,
                     Rounding);
  return R;
}

APFloat fromDouble(double X, RoundingMode Rounding) {
  APFloat R(X);
  bool Lost;
  R.convert(APFloat::IEEEsingle(), Rounding, &Lost);
  return R;
}

template <typename In>
void checkFromInteger(const std::string &Prefix, const char *Type) {
  const std::vector<In> X = pairs<In>().first;
  checkDirected<float>(Prefix + "2f", Type, "float", X, fromInteger<In, true>);
  checkDirected<double>(Prefix + "2d", Type, "double", X,
                        fromInteger<In, false>);
}

TEST(Conversions, DirectedFromInteger) {
  checkFromInteger<int32_t>("i", "i32");
  checkFromInteger<uint32_t>("ui", "i32");
  checkFromInteger<int64_t>("ll", "i64");
  checkFromInteger<uint64_t>("ull", "i64");
}

TEST(Conversions, DirectedFromDouble) {
  std::vector<double> X;
  for (double D : samples<double>(2))
    if (!std::isnan(D)) // whose bits are the implementation's
      X.push_back(D);
  checkDirected<float>("d2f", "double", "float", X, fromDouble);
}

//===----------------------------------------------------------------------===//
// -ftz=true
//===----------------------------------------------------------------------===//

float flush(float X) {
  return std::fpclassify(X) == FP_SUBNORMAL ? std::copysign(0.0f, X) : X;
}

/// What PTX with .ftz gives; operands come flushed, \p A and \p B.
struct FlushedOperation {
  const char *Text;
  float (*Want)(float A, float B);
};

const FlushedOperation FlushedOperations[] = {
    {"%r = fadd float %a, %b", [](float A, float B) { return A + B; }},
    {"%r = fsub float %a, %b", [](float A, float B) { return A - B; }},
    {"%r = fmul float %a, %b", [](float A, float B) { return A * B; }},
    {"%r = fdiv float %a, %b", [](float A, float B) { return A / B; }},
    {"%r = fneg float %a", [](float A, float) { return -A; }},
    {"%r = call float @llvm.fabs.f32(float %a)",
     [](float A, float) { return std::fabs(A); }},
    {"%r = call float @llvm.sqrt.f32(float %a)",
     [](float A, float) { return std::sqrt(A); }},
    {"%r = call float @llvm.ceil.f32(float %a)",
     [](float A, float) { return std::ceil(A); }},
    {"%r = call float @llvm.floor.f32(float %a)",
     [](float A, float) { return std::floor(A); }},
    {"%r = call float @llvm.fma.f32(float %a, float %b, float %a)",
     [](float A, float B) { return std::fma(A, B, A); }},
    {"%m = call float @llvm.minnum.f32(float %a, float %b)\n"
     "%r = call float @llvm.maxnum.f32(float %m, float 0x3810000000000000)",
     [](float A, float B) { return std::fmax(std::fmin(A, B), 0x1p-126f); }},
    {"%is = fcmp ogt float %a, %b\n%r = uitofp i1 %is to float",
     [](float A, float B) { return A > B ? 1.0f : 0.0f; }},
    {"%is = fcmp oeq float %a, 0x37A0000000000000\n" // a denormal constant
     "%r = uitofp i1 %is to float",
     [](float A, float) { return A == 0 ? 1.0f : 0.0f; }},
    {"%d = fpext float %a to double\n%e = fmul double %d, 0x4630000000000000\n"
     "%r = fptrunc double %e to float",
     [](float A, float) { return float(A * 0x1p100); }},
    {"%d = fpext float %a to double\n%e = fmul double %d, 0x39B0000000000000\n"
     "%r = fptrunc double %e to float",
     [](float A, float) { return float(A * 0x1p-100); }},
    // A result that goes round a loop, and is an operand above its definition.
    {"br label %loop\nloop:\n%x = phi float [ %a, %on ], [ %y, %loop ]\n"
     "%m1 = phi i32 [ 0, %on ], [ %m2, %loop ]\n"
     "%y = fmul float %x, 5.000000e-01\n%m2 = add i32 %m1, 1\n"
     "%again = icmp ult i32 %m2, 3\nbr i1 %again, label %loop, label %out\n"
     "out:\n%r = fadd float %y, 0.0",
     [](float A, float) {
       return flush(flush(flush(A * 0.5f) * 0.5f) * 0.5f) + 0.0f;
     }},
};

/// Kept as they are: bits that move, and what has no .ftz.
const char *const Unflushed[] = {
    "%is = fcmp oge float %b, %b\n%r = select i1 %is, float %a, float %a",
    "%r = call float @llvm.copysign.f32(float %a, float %a)",
    "%d = call double @llvm.nvvm.fma.rn.d(double 1.0, double "
    "0x0000000000000001, "
    "double 0.0)\n%l = bitcast double %d to i64\n%low = trunc i64 %l to i32\n"
    "%j = sub i32 %low, 1\n%k = bitcast float %a to i32\n%s = add i32 %j, %k\n"
    "%r = bitcast i32 %s to float",
    "%r = call float @llvm.nvvm.mul.rn.f(float %a, float 1.0)"};

TEST(Denormals, FlushedAsTheFunctionSays) {
  const auto A = samples<float>(6);
  std::vector<float> B(A.size());
  for (size_t I = 0; I < A.size(); ++I) // near and far exponents, both signs
    B[I] = I % 2 ? A[(I + 7) % A.size()] : A[(I * 31) % A.size()];
  const char *On = "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"";
  for (const MachineOptions &O : someSetups()) {
    for (const FlushedOperation &Op : FlushedOperations) {
      auto Got = map<float>("float", "float", Op.Text, O, A, B, {}, On);
      for (size_t I = 0; I < A.size(); ++I)
        ASSERT_PRED2(sameNumber<float>, Got[I],
                     flush(Op.Want(flush(A[I]), flush(B[I]))))
            << Op.Text << ": " << A[I] << ", " << B[I];
    }
    for (const char *Text : Unflushed) {
      auto Got = map<float>("float", "float", Text, O, A, B, {}, On);
      for (size_t I = 0; I < A.size(); ++I)
        ASSERT_PRED2(sameNumber<float>, Got[I], A[I]) << Text;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

template <typename F> F under(int Mode, F (*Of)(F, F, F), F A, F B, F C) {
  volatile F X = A, Y = B, Z = C;
  const int Old = std::fegetround();
  std::fesetround(Mode);
  volatile F R = Of(X, Y, Z);
  std::fesetround(Old);
  return R;
}

// Kept from being folded or moved by the compiler: called through pointers.
template <typename F> F add(F A, F B, F) { return A + B; }
template <typename F> F multiply(F A, F B, F) { return A * B; }
template <typename F> F divide(F A, F B, F) { return A / B; }
template <typename F> F fuse(F A, F B, F C) { return std::fma(A, B, C); }
template <typename F> F root(F A, F, F) { return std::sqrt(A); }
template <typename F> F reciprocal(F A, F, F) {
  volatile F One = 1;
  return One / A;
}

template <typename F> void checkRounding(const char *Type, const char *Suffix) {
  struct Operation {
    const char *Name;
    unsigned Operands;
    F (*Of)(F, F, F);
  };
  const Operation Operations[] = {
      {"add", 2, add<F>},  {"mul", 2, multiply<F>}, {"div", 2, divide<F>},
      {"fma", 3, fuse<F>}, {"sqrt", 1, root<F>},    {"rcp", 1, reciprocal<F>}};
  Random R(31);
  std::vector<F> A, B, C;
  for (int I = 0; I < 3000; ++I) {
    auto Draw = [&] {
      F X = F(int64_t(R.next())) * std::ldexp(F(1), int(R.below(120)) - 100);
      return I % 97 == 0 ? F(R.below(5)) : X;
    };
    A.push_back(Draw());
    B.push_back(Draw());
    C.push_back(Draw());
  }
  const std::string T = Type;
  for (const MachineOptions &O : someSetups())
    for (const Operation &Op : Operations)
      for (auto [Mode, Flag] : {std::pair("rn", FE_TONEAREST),
                                {"rz", FE_TOWARDZERO},
                                {"rm", FE_DOWNWARD},
                                {"rp", FE_UPWARD}}) {
        std::string Call = std::string("%r = call ") + Type + " @llvm.nvvm." +
                           Op.Name + "." + Mode + "." + Suffix + "(" + T +
                           " %a";
        if (Op.Operands > 1)
          Call += ", " + T + " %b";
        if (Op.Operands > 2)
          Call += ", " + T + " %c";
        auto Got = map<F>(T, T, Call + ")", O, A, B, C);
        for (size_t I = 0; I < A.size(); ++I)
          ASSERT_PRED2(sameNumber<F>, Got[I],
                       under(Flag, Op.Of, A[I], B[I], C[I]))
              << Op.Name << "." << Mode << " " << A[I] << ", " << B[I];
      }
}

TEST(Rounding, Float) { checkRounding<float>("float", "f"); }
TEST(Rounding, Double) { checkRounding<double>("double", "d"); }

/// .ftz: subnormal operands and results become zeros of their sign.
/// PTX: a number beats NaN, and -0 is below +0.
TEST(MinMax, OrdersZerosAndIgnoresNaN) {
  const float Numbers[] = {0.0f,    -0.0f,    1.0f,      -2.5f,        1e-40f,
                           -1e-40f, INFINITY, -INFINITY, std::nanf("")};
  auto Below = [](float X, float Y) {
    return X < Y || (X == Y && std::signbit(X) > std::signbit(Y));
  };
  auto Want = [&](bool Min, float X, float Y) {
    if (std::isnan(X) || std::isnan(Y))
      return std::isnan(X) ? Y : X;
    return Below(X, Y) == Min ? X : Y;
  };
  auto Same = [](float X, float Y) {
    return (std::isnan(X) && std::isnan(Y)) ||
           std::bit_cast<uint32_t>(X) == std::bit_cast<uint32_t>(Y);
  };
  std::vector<float> A, B;
  for (float X : Numbers)
    for (float Y : Numbers) {
      A.push_back(X);
      B.push_back(Y);
    }
  // Against a constant there is a shorter form.
  const std::pair<const char *, float> Constants[] = {
      {"", 0}, {"0.0", 0.0f}, {"-0.0", -0.0f}, {"1.0", 1.0f}};
  for (const MachineOptions &O : someSetups())
    for (bool Min : {true, false})
      for (auto [Text, K] : Constants) {
        const bool Constant = *Text;
        std::vector<float> Got = map<float>(
            "float", "float",
            std::string("%r = call float @llvm.") + (Min ? "min" : "max") +
                "num.f32(float %a, float " + (Constant ? Text : "%b") + ")",
            O, A, B);
        for (size_t I = 0; I < A.size(); ++I) {
          const float W = Want(Min, A[I], Constant ? K : B[I]);
          EXPECT_TRUE(Same(Got[I], W))
              << (Min ? "min(" : "max(") << A[I] << ", "
              << (Constant ? K : B[I]) << ") is " << Got[I] << ", not " << W;
        }
      }
}

TEST(Rounding, FlushToZero) {
  const float Tiny = 0x1p-130f, Small = 0x1p-126f;
  const std::vector<float> A = {Tiny, -Tiny, Small, -Small, Small, 1};
  const std::vector<float> B = {1, 1, .5f, .5f, 1, Tiny};
  for (const MachineOptions &O : someSetups()) {
    auto Got = map<float>("float", "float",
                          "%r = call float @llvm.nvvm.mul.rn.ftz.f(float %a, "
                          "float %b)",
                          O, A, B);
    const std::vector<float> Want = {0, -0.f, 0, -0.f, Small, 0};
    for (size_t I = 0; I < A.size(); ++I)
      EXPECT_PRED2(sameNumber<float>, Got[I], Want[I]) << I;
  }
}

//===----------------------------------------------------------------------===//
// Approximations
//===----------------------------------------------------------------------===//

/// Units in the last place of \p Want that \p Got is away; a result beyond the
/// largest float is infinite, a subnormal one has the smallest unit.
double ulps(float Got, double Want) {
  if (std::isnan(Want) || std::isinf(float(Want)) || std::isinf(Got) ||
      std::isnan(Got))
    return sameNumber(Got, float(Want)) ? 0 : 1e30;
  const int E = std::max(std::ilogb(Want == 0 ? 0x1p-149 : Want), -126);
  return std::abs(double(Got) - Want) / std::ldexp(1.0, E - 23);
}

struct Approximation {
  const char *Name;
  double (*Exact)(double);
  double From, To; ///< the range that the bound holds for
  double Ulp;      ///< at most, or
  double Absolute; ///< at most, if it is not 0
};

/// The tables in warpvm/emit/Math.cpp and docs/warp-vm.md say the same.
const Approximation Approximations[] = {
    {"ex2.approx.f", [](double X) { return std::exp2(X); }, -INFINITY, INFINITY,
     1, 0},
    {"lg2.approx.f", [](double X) { return std::log2(X); }, 0x1p-149, 0.5, 1,
     0},
    {"lg2.approx.f", [](double X) { return std::log2(X); }, 2, INFINITY, 1, 0},
    {"lg2.approx.f", [](double X) { return std::log2(X); }, 0.5, 2, 0, 0x1p-23},
    {"sin.approx.f", [](double X) { return std::sin(X); }, -M_PI, M_PI, 0,
     0x1p-21},
    {"cos.approx.f", [](double X) { return std::cos(X); }, -M_PI, M_PI, 0,
     0x1p-21},
    {"rsqrt.approx.f", [](double X) { return 1 / std::sqrt(X); }, 0x1p-149,
     INFINITY, 1.5, 0},
    {"sqrt.approx.f", [](double X) { return std::sqrt(X); }, 0, INFINITY, 0.5,
     0},
    {"rcp.approx.ftz.f", [](double X) { return 1 / X; }, 0x1p-126, 0x1p126, 0.5,
     0},
    {"tanh", [](double X) { return std::tanh(X); }, -INFINITY, INFINITY, 0,
     0x1p-22},
};

TEST(Approximations, StayWithinTheirBounds) {
  std::vector<float> X = samples<float>(40);
  for (int I = -20000; I <= 20000; ++I) { // where the functions bend
    X.push_back(float(I) / 1000);
    X.push_back(float(1 + I * 1e-6));
    X.push_back(float(I) / 128);
  }
  const MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
  for (const Approximation &A : Approximations) {
    const std::string Name = A.Name;
    auto Got = map<float>("float", "float",
                          "%r = call float @llvm." +
                              (Name == "tanh" ? "tanh.f32" : "nvvm." + Name) +
                              "(float %a)",
                          O, X);
    double Worst = 0, WorstAbsolute = 0;
    for (size_t I = 0; I < X.size(); ++I) {
      if (!(X[I] >= A.From && X[I] <= A.To))
        continue;
      const double Want = A.Exact(X[I]);
      Worst = std::max(Worst, ulps(Got[I], Want));
      if (std::isfinite(Want))
        WorstAbsolute = std::max(WorstAbsolute, std::abs(Got[I] - Want));
    }
    RecordProperty(Name, std::to_string(Worst) + " ulp, " +
                             std::to_string(WorstAbsolute) + " absolute");
    if (A.Absolute)
      EXPECT_LE(WorstAbsolute, A.Absolute) << Name << ", ulp " << Worst;
    else
      EXPECT_LE(Worst, A.Ulp) << Name << ", absolute " << WorstAbsolute;
  }
}

TEST(Approximations, DivisionIsRoundedRight) {
  auto A = samples<float>(8), B = A;
  std::reverse(B.begin(), B.end());
  auto Got =
      map<float>("float", "float",
                 "%r = call float @llvm.nvvm.div.approx.f(float %a, "
                 "float %b)",
                 optionsFor(32, Tier::Fused, PolicyKind::Frontier), A, B);
  for (size_t I = 0; I < A.size(); ++I)
    ASSERT_PRED2(sameNumber<float>, Got[I], A[I] / B[I])
        << A[I] << " / " << B[I];
}

} // namespace
} // namespace reconverge::warpvm
