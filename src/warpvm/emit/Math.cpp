//===- warpvm/emit/Math.cpp - NVVM's arithmetic on host values ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVVM's intrinsics spell rounding and flushing in their names:
// op[.approx][.rn|rz|rm|rp][.ftz].type. Round-to-nearest forms are the host's
// own operations, exactly. Directed roundings go to the VM's library, lane by
// lane. Approximations are not the hardware's bits; their errors against the
// exact result, measured over all binades (unittests/warpvm):
//
//   ex2.approx.f         1 ulp
//   lg2.approx.f         1 ulp; between 1/2 and 2, absolute 2^-23
//   sin, cos.approx.f    absolute 2^-21 in [-pi, pi], growing with |x| beyond
//   rsqrt.approx.f       1.5 ulp (two roundings)
//   rcp, sqrt, div.approx.f   rounded to nearest
//   tanh (of inline PTX) absolute 2^-22
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Math.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

#include <cmath>

using namespace llvm;

namespace reconverge::warpvm {

namespace {

/// A name taken apart.
struct Form {
  StringRef Op, Type;
  StringRef Rounding; ///< "", "rn", "rz", "rm", "rp"
  bool Approx = false, Ftz = false, Nan = false;
  bool Strange = false; ///< it says more than this

  explicit Form(StringRef Name) {
    SmallVector<StringRef, 6> Parts;
    Name.split(Parts, '.');
    Op = Parts.front();
    for (StringRef P : drop_begin(Parts)) {
      if (P == "approx")
        Approx = true;
      else if (P == "ftz")
        Ftz = true;
      else if (P == "nan")
        Nan = true;
      else if (P == "rn" || P == "rz" || P == "rm" || P == "rp")
        Rounding = P;
      else if (Type.empty())
        Type = P;
      else
        Strange = true;
    }
    if (Nan && Op != "fmin" && Op != "fmax")
      Strange = true;
  }
};

class MathEmitter {
public:
  explicit MathEmitter(IRBuilder<> &B) : B(B) {}

  Value *real(Value *Like, double X) {
    return ConstantFP::get(Like->getType(), X);
  }
  Value *integer(Type *T, int64_t X) { return ConstantInt::get(T, X, true); }
  Type *intLike(Value *X) {
    unsigned Bits = X->getType()->getScalarSizeInBits();
    return X->getType()->getWithNewType(B.getIntNTy(Bits));
  }
  Value *unary(Intrinsic::ID Id, Value *X) {
    return B.CreateUnaryIntrinsic(Id, X);
  }
  Value *binary(Intrinsic::ID Id, Value *X, Value *Y) {
    return B.CreateBinaryIntrinsic(Id, X, Y);
  }
  Value *fma(Value *X, Value *Y, Value *Z) {
    return B.CreateIntrinsic(Intrinsic::fma, {X->getType()}, {X, Y, Z});
  }

  /// A subnormal float becomes a zero of its sign.
  Value *flush(Value *X) {
    Value *Tiny = B.CreateFCmpOLT(unary(Intrinsic::fabs, X), real(X, 0x1p-126));
    Value *Zero = binary(Intrinsic::copysign, real(X, 0), X);
    return B.CreateSelect(Tiny, Zero, X);
  }

  /// PTX's min and max: a number beats NaN, and -0 is below +0.
  Value *pick(bool Min, Value *X, Value *Y) {
    const auto Better = Min ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGT;
    const APFloat *K;
    if (match(X, PatternMatch::m_APFloat(K)))
      std::swap(X, Y);
    // A constant that is no number's equal but its own: one comparison does.
    if (match(Y, PatternMatch::m_APFloat(K)) && !K->isNaN() &&
        (!K->isZero() || K->isNegative() == Min))
      return B.CreateSelect(B.CreateFCmp(Better, X, Y), X, Y);
    Value *Best = binary(Min ? Intrinsic::minnum : Intrinsic::maxnum, X, Y);
    Value *A = B.CreateBitCast(X, intLike(X)),
          *C = B.CreateBitCast(Y, intLike(Y));
    Value *Both = Min ? B.CreateOr(A, C) : B.CreateAnd(A, C);
    return B.CreateSelect(B.CreateFCmpOEQ(X, Y),
                          B.CreateBitCast(Both, X->getType()), Best);
  }

  /// Horner's rule, highest coefficient first.
  Value *polynomial(Value *X, ArrayRef<double> Coefficients) {
    Value *P = real(X, Coefficients.front());
    for (double K : drop_begin(Coefficients))
      P = fma(P, X, real(X, K));
    return P;
  }

  /// 2^n for a whole n in [-126, 127].
  Value *powerOfTwo(Value *N, Type *FloatTy) {
    Type *T = N->getType();
    return B.CreateBitCast(
        B.CreateShl(B.CreateAdd(N, integer(T, 127)), integer(T, 23)), FloatTy);
  }

  /// 2^x = 2^n 2^f, n = rint(x), |f| <= 1/2; 2^f by its Taylor series.
  Value *exp2(Value *X) {
    Value *Low = B.CreateFCmpOLT(X, real(X, -160)),
          *High = B.CreateFCmpOGT(X, real(X, 160));
    Value *Y = B.CreateSelect(Low, real(X, -160), X);
    Y = B.CreateSelect(High, real(X, 160), Y);
    Value *N = unary(Intrinsic::rint, Y);
    Value *F = B.CreateFSub(Y, N);
    Value *P = polynomial(F, {1.5252733804059841e-05, 1.5403530393381608e-04,
                              1.3333558146428443e-03, 9.6181291076284772e-03,
                              5.5504108664821580e-02, 2.4022650695910071e-01,
                              6.9314718055994531e-01, 1.0});
    Type *IT = intLike(X);
    Value *Whole =
        B.CreateIntrinsic(Intrinsic::fptosi_sat, {IT, N->getType()}, {N});
    Value *Half = B.CreateAShr(Whole, integer(IT, 1));
    P = B.CreateFMul(P, powerOfTwo(Half, X->getType()));
    return B.CreateFMul(P, powerOfTwo(B.CreateSub(Whole, Half), X->getType()));
  }

  /// log2 x = e + log2 m, m in [sqrt(1/2), sqrt(2)); with s = (m-1)/(m+1),
  /// ln m = 2 (s + s^3/3 + s^5/5 + ...).
  Value *log2(Value *X) {
    Type *IT = intLike(X);
    Value *Small = B.CreateFCmpOLT(X, real(X, 0x1p-126));
    Value *Y = B.CreateSelect(Small, B.CreateFMul(X, real(X, 0x1p24)), X);
    Value *Bits = B.CreateBitCast(Y, IT);
    // Subtracting sqrt(1/2)'s bits makes the exponent field count from there.
    Value *Offset = B.CreateSub(Bits, integer(IT, 0x3f3504f3));
    Value *E = B.CreateAShr(Offset, integer(IT, 23));
    Value *Mantissa = B.CreateBitCast(
        B.CreateSub(Bits, B.CreateShl(E, integer(IT, 23))), X->getType());
    E = B.CreateSub(E, B.CreateSelect(Small, integer(IT, 24), integer(IT, 0)));
    Value *S = B.CreateFDiv(B.CreateFSub(Mantissa, real(X, 1)),
                            B.CreateFAdd(Mantissa, real(X, 1)));
    Value *S2 = B.CreateFMul(S, S);
    const double K = 2 / M_LN2;
    Value *P = B.CreateFMul(
        S, polynomial(S2, {K / 11, K / 9, K / 7, K / 5, K / 3, K}));
    Value *R = B.CreateFAdd(B.CreateSIToFP(E, X->getType()), P);
    Value *Infinite = B.CreateFCmpOEQ(X, real(X, INFINITY));
    R = B.CreateSelect(Infinite, X, R);
    R = B.CreateSelect(B.CreateFCmpOEQ(X, real(X, 0)), real(X, -INFINITY), R);
    return B.CreateSelect(B.CreateFCmpULT(X, real(X, 0)), real(X, NAN), R);
  }

  /// sin(x) or cos(x): x = k pi/2 + r, |r| <= pi/4, Taylor series on r.
  Value *sine(Value *X, bool Cosine) {
    Type *IT = intLike(X);
    Value *K = unary(Intrinsic::rint, B.CreateFMul(X, real(X, M_2_PI)));
    Value *R = fma(B.CreateFNeg(K), real(X, 1.5707963705062866), X);
    R = fma(B.CreateFNeg(K), real(X, -4.371139000186241e-08), R);
    Value *R2 = B.CreateFMul(R, R);
    Value *S =
        B.CreateFMul(R, polynomial(R2, {-1. / 5040, 1. / 120, -1. / 6, 1}));
    Value *C = polynomial(R2, {1. / 40320, -1. / 720, 1. / 24, -.5, 1});
    Value *Q =
        B.CreateIntrinsic(Intrinsic::fptosi_sat, {IT, K->getType()}, {K});
    if (Cosine)
      Q = B.CreateAdd(Q, integer(IT, 1));
    Value *Odd = B.CreateIsNotNull(B.CreateAnd(Q, integer(IT, 1)));
    Value *Y = B.CreateSelect(Odd, C, S);
    Value *Minus = B.CreateIsNotNull(B.CreateAnd(Q, integer(IT, 2)));
    return B.CreateSelect(Minus, B.CreateFNeg(Y), Y);
  }

  /// 1 - 2 / (e^2x + 1).
  Value *tanh(Value *X) {
    Value *E = exp2(B.CreateFMul(X, real(X, 2 * M_LOG2E)));
    return B.CreateFSub(real(X, 1),
                        B.CreateFDiv(real(X, 2), B.CreateFAdd(E, real(X, 1))));
  }

  /// prmt.b32: each selector nibble picks one of eight bytes or its sign.
  Value *permuteBytes(Value *A, Value *Y, Value *Selector) {
    Type *T = A->getType();
    Type *Wide = T->getWithNewType(B.getInt64Ty());
    Value *Bytes =
        B.CreateOr(B.CreateZExt(A, Wide),
                   B.CreateShl(B.CreateZExt(Y, Wide), integer(Wide, 32)));
    Value *Result = integer(T, 0);
    for (unsigned I = 0; I < 4; ++I) {
      Value *Nibble = B.CreateLShr(Selector, integer(T, 4 * I));
      Value *Shift =
          B.CreateShl(B.CreateAnd(Nibble, integer(T, 7)), integer(T, 3));
      Value *Byte =
          B.CreateTrunc(B.CreateLShr(Bytes, B.CreateZExt(Shift, Wide)), T);
      Value *Sign =
          B.CreateAShr(B.CreateShl(Byte, integer(T, 24)), integer(T, 31));
      Value *UseSign = B.CreateIsNotNull(B.CreateAnd(Nibble, integer(T, 8)));
      Byte = B.CreateAnd(B.CreateSelect(UseSign, Sign, Byte), integer(T, 255));
      Result = B.CreateOr(Result, B.CreateShl(Byte, integer(T, 8 * I)));
    }
    return Result;
  }

  Value *multiplyHigh(Value *X, Value *Y, bool Signed) {
    Type *T = X->getType();
    unsigned Bits = T->getScalarSizeInBits();
    Type *Wide = T->getWithNewType(B.getIntNTy(2 * Bits));
    auto Extend = [&](Value *V) {
      return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
    };
    Value *P = B.CreateMul(Extend(X), Extend(Y));
    return B.CreateTrunc(B.CreateLShr(P, integer(Wide, Bits)), T);
  }

  Value *roundWhole(Value *X, StringRef Mode) {
    return unary(Mode == "rz"   ? Intrinsic::trunc
                 : Mode == "rm" ? Intrinsic::floor
                 : Mode == "rp" ? Intrinsic::ceil
                                : Intrinsic::roundeven,
                 X);
  }

  Value *absoluteDifference(Value *X, Value *Y, bool Signed) {
    Value *Less = Signed ? B.CreateICmpSLT(X, Y) : B.CreateICmpULT(X, Y);
    return B.CreateSelect(Less, B.CreateSub(Y, X), B.CreateSub(X, Y));
  }

  Value *convert(const Form &F, Value *X, RoundedCall Rounded);
  Value *integerOp(const Form &F, ArrayRef<Value *> A);
  Value *floatOp(const Form &F, ArrayRef<Value *> A, RoundedCall Rounded);

private:
  IRBuilder<> &B;
};

/// "f2i", "ull2d", "d2i.hi", ...: source and target are in the operation.
Value *MathEmitter::convert(const Form &F, Value *X, RoundedCall Rounded) {
  auto Scalar = [&](StringRef Name) -> Type * {
    return StringSwitch<Type *>(Name)
        .Cases("i", "ui", B.getInt32Ty())
        .Cases("ll", "ull", B.getInt64Ty())
        .Case("h", B.getHalfTy())
        .Case("f", B.getFloatTy())
        .Case("d", B.getDoubleTy())
        .Default(nullptr);
  };
  auto [From, To] = F.Op.split('2');
  Type *T = Scalar(To);
  if (!T || !Scalar(From))
    return nullptr;
  T = X->getType()->getWithNewType(T);
  if (F.Op == "d2i" && (F.Type == "hi" || F.Type == "lo")) {
    Type *Wide = X->getType()->getWithNewType(B.getInt64Ty());
    Value *Bits = B.CreateBitCast(X, Wide);
    if (F.Type == "hi")
      Bits = B.CreateLShr(Bits, integer(Wide, 32));
    return B.CreateTrunc(Bits, T);
  }
  if (F.Rounding.empty())
    return nullptr;
  bool FromReal = X->getType()->isFPOrFPVectorTy(),
       ToReal = T->isFPOrFPVectorTy();
  if (F.Ftz && From == "f")
    X = flush(X);
  if (FromReal && !ToReal)
    return convertToInteger(B, roundWhole(X, F.Rounding), T,
                            /*Signed=*/!To.starts_with("u"));
  const bool Unsigned = From.starts_with("u"), Directed = F.Rounding != "rn";
  Value *Y = nullptr;
  if (!FromReal && Directed && !(To == "d" && From.ends_with("i"))) {
    X = B.CreateIntCast(X, X->getType()->getWithNewType(B.getInt64Ty()),
                        !Unsigned);
    Y = Rounded((Unsigned ? "ull2" : "ll2") + To.str(), F.Rounding, X, T);
  } else if (!FromReal) {
    Y = Unsigned ? B.CreateUIToFP(X, T) : B.CreateSIToFP(X, T);
  } else if (To == "h") { // f2h.rn: its bits
    return B.CreateBitCast(B.CreateFPTrunc(X, T),
                           X->getType()->getWithNewType(B.getInt16Ty()));
  } else {
    Y = Directed ? Rounded(F.Op, F.Rounding, X, T) : B.CreateFPTrunc(X, T);
  }
  return F.Ftz ? flush(Y) : Y;
}

Value *MathEmitter::integerOp(const Form &F, ArrayRef<Value *> A) {
  bool Signed = !F.Type.starts_with("u");
  Type *T = A[0]->getType();
  if (F.Op == "mulhi")
    return multiplyHigh(A[0], A[1], Signed);
  if (F.Op == "mul24") {
    auto Low = [&](Value *X) {
      X = B.CreateShl(X, integer(T, 8));
      return Signed ? B.CreateAShr(X, integer(T, 8))
                    : B.CreateLShr(X, integer(T, 8));
    };
    return B.CreateMul(Low(A[0]), Low(A[1]));
  }
  if (F.Op == "sad")
    return B.CreateAdd(absoluteDifference(A[0], A[1], Signed), A[2]);
  if (F.Op == "prmt")
    return permuteBytes(A[0], A[1], A[2]);
  if (F.Op == "lohi") { // lohi.i2d
    Type *Wide = T->getWithNewType(B.getInt64Ty());
    Value *High = B.CreateShl(B.CreateZExt(A[1], Wide), integer(Wide, 32));
    return B.CreateBitCast(B.CreateOr(High, B.CreateZExt(A[0], Wide)),
                           T->getWithNewType(B.getDoubleTy()));
  }
  if (F.Op == "bitcast") {
    Type *To = StringSwitch<Type *>(F.Type)
                   .Case("f2i", B.getInt32Ty())
                   .Case("i2f", B.getFloatTy())
                   .Case("d2ll", B.getInt64Ty())
                   .Case("ll2d", B.getDoubleTy())
                   .Default(nullptr);
    return To ? B.CreateBitCast(A[0], T->getWithNewType(To)) : nullptr;
  }
  if (F.Op == "rotate")
    return B.CreateIntrinsic(Intrinsic::fshl, {T},
                             {A[0], A[0], B.CreateZExtOrTrunc(A[1], T)});
  return nullptr;
}

Value *MathEmitter::floatOp(const Form &F, ArrayRef<Value *> Args,
                            RoundedCall Rounded) {
  SmallVector<Value *, 3> A(Args);
  Type *T = A[0]->getType()->getScalarType();
  // Halves.cpp takes bfloats and fused operations; nothing flushes halves.
  if (T->isBFloatTy() || (T->isHalfTy() && (F.Ftz || F.Op == "fma")))
    return nullptr;
  if (F.Ftz && A[0]->getType()->getScalarType()->isFloatTy())
    for (Value *&X : A)
      X = flush(X);
  auto Directed = [&] { return !F.Rounding.empty() && F.Rounding != "rn"; };
  Value *R = nullptr;
  if (Directed() &&
      is_contained({"add", "mul", "fma", "div", "sqrt", "rcp"}, F.Op))
    R = Rounded(F.Op, F.Rounding, A, A[0]->getType());
  else if (F.Op == "add")
    R = B.CreateFAdd(A[0], A[1]);
  else if (F.Op == "mul")
    R = B.CreateFMul(A[0], A[1]);
  else if (F.Op == "div")
    R = B.CreateFDiv(A[0], A[1]);
  else if (F.Op == "fma")
    R = fma(A[0], A[1], A[2]);
  else if (F.Op == "sqrt")
    R = unary(Intrinsic::sqrt, A[0]);
  else if (F.Op == "rcp")
    R = B.CreateFDiv(real(A[0], 1), A[0]);
  else if (F.Op == "rsqrt")
    R = B.CreateFDiv(real(A[0], 1), unary(Intrinsic::sqrt, A[0]));
  else if (F.Op == "ex2" && A[0]->getType()->getScalarType()->isFloatTy())
    R = exp2(A[0]);
  else if (F.Op == "lg2" && A[0]->getType()->getScalarType()->isFloatTy())
    R = log2(A[0]);
  else if (F.Op == "ex2")
    R = unary(Intrinsic::exp2, A[0]);
  else if (F.Op == "lg2")
    R = unary(Intrinsic::log2, A[0]);
  else if (F.Op == "sin" || F.Op == "cos")
    R = sine(A[0], F.Op == "cos");
  else if (F.Op == "tanh" && !A[0]->getType()->getScalarType()->isFloatTy()) {
    Type *Single = A[0]->getType()->getWithNewType(B.getFloatTy());
    R = B.CreateFPTrunc(tanh(B.CreateFPExt(A[0], Single)), A[0]->getType());
  } else if (F.Op == "tanh") {
    R = tanh(A[0]);
  } else if (F.Op == "fabs")
    R = unary(Intrinsic::fabs, A[0]);
  else if (F.Op == "fmin")
    R = F.Nan ? binary(Intrinsic::minimum, A[0], A[1]) : pick(true, A[0], A[1]);
  else if (F.Op == "fmax")
    R = F.Nan ? binary(Intrinsic::maximum, A[0], A[1])
              : pick(false, A[0], A[1]);
  else if (F.Op == "floor")
    R = unary(Intrinsic::floor, A[0]);
  else if (F.Op == "ceil")
    R = unary(Intrinsic::ceil, A[0]);
  else if (F.Op == "trunc")
    R = unary(Intrinsic::trunc, A[0]);
  else if (F.Op == "round") // cvt.rni: ties to even
    R = unary(Intrinsic::roundeven, A[0]);
  else if (F.Op == "saturate")
    R = pick(true, pick(false, A[0], real(A[0], 0)), real(A[0], 1));
  if (R && F.Ftz && R->getType()->getScalarType()->isFloatTy())
    R = flush(R);
  return R;
}

} // namespace

Value *convertToInteger(IRBuilder<> &B, Value *X, Type *T, bool Signed) {
  Type *Source = X->getType();
  Value *N = B.CreateIntrinsic(
      Signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat, {T, Source}, {X});
  const unsigned Bits = T->getScalarSizeInBits();
  if (Bits < 64 && !Source->getScalarType()->isDoubleTy())
    return N;
  Value *Sign = ConstantInt::get(T, APInt::getSignMask(Bits));
  return B.CreateSelect(B.CreateFCmpUNO(X, X), Sign, N);
}

Value *emitNvvmMath(IRBuilder<> &B, StringRef Name, ArrayRef<Value *> Args,
                    RoundedCall Rounded) {
  Form F(Name);
  MathEmitter E(B);
  if (F.Strange || Args.empty() || Args[0]->getType()->isStructTy())
    return nullptr;
  if (F.Op == "move")
    return Args[0];
  if (F.Op == "bitcast" || F.Op == "lohi")
    return E.integerOp(F, Args);
  if (F.Op.contains('2') && F.Op != "ex2" && F.Op != "lg2" && F.Op != "mul24")
    return Args.size() == 1 ? E.convert(F, Args[0], Rounded) : nullptr;
  if (Args[0]->getType()->isFPOrFPVectorTy())
    return E.floatOp(F, Args, Rounded);
  return Args[0]->getType()->isIntOrIntVectorTy() ? E.integerOp(F, Args)
                                                  : nullptr;
}

} // namespace reconverge::warpvm
