//===- frontend/ptx/Convert.cpp - cvt -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four families, by what the two types are.
//  * Integer to integer: extend or truncate; .sat clamps. Registers may be
//    wider than the types on either side.
//  * Integer to float: sitofp and uitofp round to nearest. The other modes are
//    NVVM's for .f32; .f64 holds 32 bits exactly. For .f16 the integer is first
//    clamped to +-2^17, which rounds as anything beyond does and is exact in
//    .f32; for .bf16 it becomes a double rounded to odd (the bits that fall off
//    leave a sticky one), and rounding that once more is the right result.
//  * Float to integer: NVVM's conversions saturate as PTX's do, to 32 and 64
//    bits. Narrower results are clamped further. NaN becomes 0, except that it
//    becomes the sign bit alone where the source is .f64 or the result 64 bits.
//  * Float to float: fpext and fptrunc. LLVM rounds to nearest only; a directed
//    result is that or its neighbour:
//
//        r = fptrunc(v);  if fpext(r) lies on the wrong side of v,
//        step r by one unit in the last place, towards the right side
//
//    which is right for denormals, overflow and NaN as well, since IEEE numbers
//    of one sign are ordered as their bits are. Between .f16 and .bf16 the way
//    leads over .f32, which has all values of both.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Numeric.h"
#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

namespace {
struct Mode {
  StringRef Rounding; ///< rn, rz, rm, rp; empty if not given
  StringRef Whole;    ///< rni, rzi, rmi, rpi; empty if not given
  bool Flush = false, Saturate = false, Relu = false;
};
} // namespace

/// \p V, of a wider format, as \p To, rounded by \p Rounding.
static Value *narrow(Lowering &L, Value *V, Type To, StringRef Rounding) {
  auto &B = L.B;
  Value *R = B.CreateFPTrunc(V, L.llvmType(To));
  if (Rounding == "rn")
    return R;
  auto BitsOf = [&](Value *X) {
    return B.CreateBitCast(X,
                           B.getIntNTy(X->getType()->getPrimitiveSizeInBits()));
  };
  // Compared as integers: with -ftz=true, floats would be flushed before.
  auto Magnitude = [&](Value *X) { return B.CreateShl(BitsOf(X), 1); };
  Value *Bits = BitsOf(R);
  Value *Back = Magnitude(B.CreateFPExt(R, V->getType())),
        *Exact = Magnitude(V);
  Value *Towards = B.CreateSub(Bits, ConstantInt::get(Bits->getType(), 1));
  Value *Wrong = B.CreateICmpUGT(Back, Exact), *Next = Towards; // as for rz
  if (Rounding != "rz") {
    Value *Away = B.CreateAdd(Bits, ConstantInt::get(Bits->getType(), 1));
    Value *Negative = B.CreateIsNeg(Bits);
    Value *Shrinks = Rounding == "rp" ? Negative : B.CreateNot(Negative);
    Wrong = B.CreateSelect(Shrinks, Wrong, B.CreateICmpULT(Back, Exact));
    Next = B.CreateSelect(Shrinks, Towards, Away);
  }
  Wrong = B.CreateAnd(Wrong, B.CreateFCmpORD(V, V));
  return B.CreateBitCast(B.CreateSelect(Wrong, Next, Bits), R->getType());
}

static Value *intToInt(Lowering &L, Value *V, Type From, Type To,
                       bool Saturate) {
  auto &B = L.B;
  llvm::Type *LT = V->getType();
  if (Saturate) {
    auto Limit = [&](APInt Value) {
      return ConstantInt::get(LT, Value.zextOrTrunc(From.Width));
    };
    bool Narrower = To.Width < From.Width;
    if (From.isSigned() && To.isSigned()) {
      if (Narrower) {
        APInt Least = APInt::getSignedMinValue(To.Width).sext(From.Width);
        V = B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                    ConstantInt::get(LT, Least));
        V = B.CreateBinaryIntrinsic(Intrinsic::smin, V,
                                    Limit(APInt::getSignedMaxValue(To.Width)));
      }
    } else {
      if (From.isSigned())
        V = B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                    Constant::getNullValue(LT));
      APInt Most = To.isSigned() ? APInt::getSignedMaxValue(To.Width)
                                 : APInt::getMaxValue(To.Width);
      if (Narrower || (To.isSigned() && To.Width == From.Width))
        V = B.CreateBinaryIntrinsic(Intrinsic::umin, V, Limit(Most));
    }
  }
  return B.CreateIntCast(V, L.llvmType(To), From.isSigned());
}

/// \p V as a double rounded to odd: exact, or with its last bit set.
static Value *oddDouble(Lowering &L, Value *V, bool Signed) {
  auto &B = L.B;
  if (V->getType()->getIntegerBitWidth() == 64) {
    // 53 bits and the sign are left when 11 go; below 2^53 nothing is lost.
    Value *Low = B.CreateAnd(V, 0x7ff);
    Value *Sticky =
        B.CreateSelect(B.CreateIsNull(Low), B.getInt64(0), B.getInt64(0x800));
    Value *Odd = B.CreateOr(B.CreateAnd(V, ~uint64_t(0x7ff)), Sticky);
    Value *Magnitude =
        Signed ? B.CreateBinaryIntrinsic(Intrinsic::abs, V, B.getFalse()) : V;
    Value *Large = B.CreateICmpUGE(Magnitude, B.getInt64(uint64_t(1) << 53));
    V = B.CreateSelect(Large, Odd, V);
  }
  return Signed ? B.CreateSIToFP(V, B.getDoubleTy())
                : B.CreateUIToFP(V, B.getDoubleTy());
}

static Value *intToFloat(Lowering &L, Value *V, Type From, Type To,
                         const Mode &M) {
  auto &B = L.B;
  llvm::Type *LT = L.llvmType(To);
  bool Signed = From.isSigned();
  bool Exact = To.Width == 64 && From.Width <= 32;
  Value *R;
  if (M.Rounding == "rn" || Exact) {
    R = Signed ? B.CreateSIToFP(V, LT) : B.CreateUIToFP(V, LT);
  } else if (To.K == Type::BFloat) {
    R = narrow(L, oddDouble(L, V, Signed), To, M.Rounding);
  } else if (To.Width == 16) {
    V = B.CreateIntCast(V, B.getInt64Ty(), Signed);
    Constant *Most = B.getInt64(1 << 17), *Least = B.getInt64(-(1 << 17));
    if (Signed)
      V = B.CreateBinaryIntrinsic(Intrinsic::smax, V, Least);
    V = B.CreateBinaryIntrinsic(Signed ? Intrinsic::smin : Intrinsic::umin, V,
                                Most);
    R = narrow(L, B.CreateSIToFP(V, B.getFloatTy()), To, M.Rounding);
  } else {
    unsigned Width = From.Width == 64 ? 64 : 32;
    V = B.CreateIntCast(V, B.getIntNTy(Width), Signed);
    R = nvvm(L,
             Twine(Signed ? "" : "u") + (Width == 64 ? "ll2" : "i2") +
                 (To.Width == 64 ? "d." : "f.") + M.Rounding,
             {V}, LT);
  }
  return M.Saturate ? saturate(L, R) : R;
}

static Value *floatToInt(Lowering &L, Value *V, Type From, Type To,
                         const Mode &M) {
  auto &B = L.B;
  bool Double = From.Width == 64;
  if (From.isHalf())
    V = B.CreateFPExt(V, B.getFloatTy());
  unsigned Width = To.Width == 64 ? 64 : 32;
  Value *R = nvvm(L,
                  Twine(Double ? "d2" : "f2") + (To.isSigned() ? "" : "u") +
                      (Width == 64 ? "ll." : "i.") + M.Whole.take_front(2) +
                      (M.Flush && From.Width == 32 ? ".ftz" : ""),
                  {V}, B.getIntNTy(Width));
  if (To.Width >= 32)
    return R;
  Type Middle{To.K, 32, 1};
  R = intToInt(L, R, Middle, To, /*Saturate=*/true);
  if (Double) {
    Value *Sign = ConstantInt::get(R->getType(), APInt::getSignMask(To.Width));
    R = B.CreateSelect(B.CreateFCmpUNO(V, V), Sign, R);
  }
  return R;
}

/// \p V rounded to a whole number of its own format.
static Value *wholeFloat(Lowering &L, Value *V, StringRef Whole) {
  Intrinsic::ID ID = Whole == "rni"   ? Intrinsic::roundeven
                     : Whole == "rzi" ? Intrinsic::trunc
                     : Whole == "rmi" ? Intrinsic::floor
                                      : Intrinsic::ceil;
  if (!V->getType()->isBFloatTy())
    return L.B.CreateUnaryIntrinsic(ID, V);
  // A whole number near a bfloat is one, so nothing rounds twice.
  Value *Wide = L.B.CreateFPExt(V, L.B.getFloatTy());
  return L.B.CreateFPTrunc(L.B.CreateUnaryIntrinsic(ID, Wide), V->getType());
}

static Value *floatToFloat(Lowering &L, Value *V, Type From, Type To,
                           const Mode &M) {
  auto &B = L.B;
  bool Same = From == To;
  bool BetweenHalves = !Same && From.Width == To.Width;
  bool Narrows = To.Width < From.Width || BetweenHalves;
  if ((!M.Whole.empty() && !Same) || M.Rounding.empty() == Narrows ||
      (BetweenHalves && (M.Flush || M.Saturate))) {
    L.refuse("the rounding does not fit the types");
    return Constant::getNullValue(L.llvmType(To));
  }
  // An .f32 holds all values of either.
  if (BetweenHalves)
    V = B.CreateFPExt(V, B.getFloatTy());
  // Only .f32 has denormals that .ftz speaks of here.
  if (M.Flush && From.Width == 32)
    V = flush(L, V);
  if (Narrows && To.Width == 32 && (M.Rounding != "rn" || M.Flush))
    V = nvvm(L, Twine("d2f.") + M.Rounding + (M.Flush ? ".ftz" : ""), {V},
             B.getFloatTy());
  else if (Narrows)
    V = narrow(L, V, To, M.Rounding);
  else if (!Same)
    V = B.CreateFPExt(V, L.llvmType(To));
  if (!M.Whole.empty())
    V = wholeFloat(L, V, M.Whole);
  return M.Saturate ? saturate(L, V) : V;
}

static Value *relu(Lowering &L, Value *V) {
  return L.B.CreateBinaryIntrinsic(Intrinsic::maximum, V,
                                   Constant::getNullValue(V->getType()));
}

/// cvt.rnd{.relu}.{f16x2,bf16x2}.f32 d, a, b: a above b.
static void emitPack(Lowering &L, Type To, Type From, const Mode &M) {
  L.arity(3);
  if (!To.isHalf() || From != Type{Type::Float, 32, 1} || M.Saturate ||
      M.Flush || !M.Whole.empty() || (M.Rounding != "rn" && M.Rounding != "rz"))
    return L.refuse("the form is not supported");
  Value *High = narrow(L, L.read(1, From), To.lane(), M.Rounding);
  Value *Low = narrow(L, L.read(2, From), To.lane(), M.Rounding);
  Value *V = PoisonValue::get(L.llvmType(To));
  V = L.B.CreateInsertElement(V, Low, uint64_t(0));
  V = L.B.CreateInsertElement(V, High, uint64_t(1));
  L.write(0, To, M.Relu ? relu(L, V) : V);
}

/// Formats that LLVM has no types for: TF32, and pairs of E4M3 and E5M2.
///   cvt.{rna,rn,rz}{.relu}{.satfinite}.tf32.f32 d, a
///   cvt.rn.satfinite{.relu}.pair.f32 d, a, b
///   cvt.rn.satfinite{.relu}.pair.f16x2 d, a
///   cvt.rn{.relu}.f16x2.pair d, a
static void emitSmallFloat(Lowering &L, StringRef Small) {
  static constexpr Type Single{Type::Float, 32, 1}, Halves{Type::Bits, 32, 1},
      Pair{Type::Bits, 16, 1};
  const std::string Text = "cvt." + L.modifiers() + " $0, $1";
  const StringRef Rounding = L.takeOneOf({"rna", "rn", "rz"});
  const bool Relu = L.take("relu"), Finite = L.take("satfinite");
  const Type Other = L.type();
  const bool Tensor = Small == "tf32", Two = !Tensor && Other == Single;
  L.arity(Two ? 3 : 2);
  if (Tensor
          ? Other != Single || Rounding.empty() || (Rounding == "rna" && Relu)
          : Rounding != "rn" || (!Two && Other != Type{Type::Float, 16, 2}) ||
                (Two && !Finite))
    return L.refuse("the form is not supported");
  const bool Widens = !Tensor && !Finite;
  const Type To = Tensor || Widens ? Halves : Pair;
  const Type From = Tensor || Two ? Single : Widens ? Pair : Halves;
  SmallVector<Value *, 2> Args{L.read(1, From)};
  if (Two)
    Args.push_back(L.read(2, From));
  CallInst *V = callPtx(L, analysis::Conversion, L.llvmType(To), Args,
                        Text + (Two ? ", $2;" : ";"),
                        Tensor   ? "=r,f"
                        : Two    ? "=h,f,f"
                        : Widens ? "=r,h"
                                 : "=h,r");
  V->getCalledFunction()->setDoesNotAccessMemory();
  L.write(0, To, V);
}

/// cvt.pack.sat.to.s32{.b32} d, a, b{, c}: a above b, above them c.
static void emitClampedPack(Lowering &L) {
  auto &B = L.B;
  static constexpr Type S32{Type::Signed, 32, 1}, B32{Type::Bits, 32, 1};
  const bool Saturate = L.take("sat");
  const Type To = L.type(), From = L.type();
  const std::optional<Type> Rest = L.takeType();
  L.arity(Rest ? 4 : 3);
  if (!Saturate || From != S32 || !To.isInt() || To.K == Type::Bits ||
      To.Lanes != 1 || To.Width > 16 || (Rest && *Rest != B32) ||
      Rest.has_value() != (To.Width == 8))
    return L.refuse("the form is not supported");
  auto Clamped = [&](size_t N) {
    return B.CreateZExt(intToInt(L, L.read(N, From), From, To, true),
                        B.getInt32Ty());
  };
  Value *V = B.CreateOr(B.CreateShl(Clamped(1), To.Width), Clamped(2));
  if (Rest)
    V = B.CreateOr(V, B.CreateShl(L.read(3, B32), 2 * To.Width));
  L.write(0, B32, V);
}

static void emitCvt(Lowering &L) {
  if (StringRef Small = L.takeOneOf({"e4m3x2", "e5m2x2", "tf32"});
      !Small.empty())
    return emitSmallFloat(L, Small);
  if (L.take("pack"))
    return emitClampedPack(L);
  Mode M;
  M.Whole = L.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  M.Rounding = L.takeOneOf({"rn", "rz", "rm", "rp"});
  M.Relu = L.take("relu");
  M.Flush = L.take("ftz");
  M.Saturate = L.take("sat");
  Type To = L.type(), From = L.type();
  if (To.Lanes == 2)
    return emitPack(L, To, From, M);
  L.arity(2);
  auto Convertible = [](Type T) {
    return T.isFloat() ||
           ((T.K == Type::Signed || T.K == Type::Unsigned) && T.Lanes == 1);
  };
  if (From.Lanes != 1 || !Convertible(To) || !Convertible(From) ||
      (M.Relu && (!To.isHalf() || From.Width != 32 || !From.isFloat())))
    return L.refuse("the types are not supported");
  Value *V = L.read(L.operand(1), From, /*MayBeWider=*/From.isInt());
  if (From.isInt() && To.isInt()) {
    if (!M.Whole.empty() || !M.Rounding.empty() || M.Flush)
      return L.refuse("an integer is not rounded");
    V = intToInt(L, V, From, To, M.Saturate);
  } else if (From.isInt()) {
    if (M.Rounding.empty() || !M.Whole.empty())
      return L.refuse("the rounding does not fit the types");
    V = intToFloat(L, V, From, To, M);
  } else if (To.isInt()) {
    if (M.Whole.empty() || !M.Rounding.empty())
      return L.refuse("the rounding does not fit the types");
    V = floatToInt(L, V, From, To, M);
  } else {
    V = floatToFloat(L, V, From, To, M);
  }
  if (M.Relu)
    V = relu(L, V);
  L.write(L.operand(0), To, V, /*MayBeWider=*/To.isInt());
}

ArrayRef<Row> convertRows() {
  static const Row Rows[] = {
      {"cvt", AnyClass, false, emitCvt,
       "between .{u,s}{8,16,32,64}, .f{16,32,64}, .bf16, all roundings, .ftz, "
       ".sat; .{rn,rz}{.relu}.{f16x2,bf16x2}.f32; "
       ".{rna,rn,rz}{.relu}{.satfinite}.tf32.f32; "
       ".rn.satfinite{.relu}.{e4m3x2,e5m2x2}.{f32,f16x2}, "
       ".rn{.relu}.f16x2.{e4m3x2,e5m2x2}; .pack.sat.{u,s}{8,16}.s32{.b32}",
       "casts; `llvm.nvvm.{f2i,d2i,i2f,d2f,...}` of the mode; a function of "
       "ours"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
