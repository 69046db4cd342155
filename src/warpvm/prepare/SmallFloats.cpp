//===- warpvm/prepare/SmallFloats.cpp - Numbers of 8 bits, and TF32 -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// E4M3 and E5M2 have so many bits of exponent and fraction, and biases 7 and
// 15. Every one of them is a half, and every half a float, so two directions
// are enough:
//
//   to half      the bits of E5M2 are a half's upper ones. Those of E4M3, moved
//                to where a half has them, are 2^-8 of the number.
//   from float   rounded to nearest, ties to even, on the bits of |x|: half of
//                the last bit that stays, less one, plus that bit. Subnormal
//                results come of an addition: x + 2^23 u has the last bit u,
//                and is 2^23 u plus as many bits as there are units in x.
//                What is too large becomes the largest number, NaN 0x7f.
//
// TF32 is a float of 10 bits of fraction: `rna` adds half of the last bit, `rn`
// rounds as above, `rz` cuts. Of a NaN, an H100's `rna` cuts the bits too; the
// others make it 0x7fffe000.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/SmallFloats.h"

#include "analysis/PtxFunctions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
struct Format {
  unsigned Fraction; ///< bits
  unsigned Bias;
  unsigned Largest; ///< bits of the largest number
};
constexpr Format E4M3{3, 7, 0x7e}, E5M2{2, 15, 0x7b};

class Converter {
public:
  Converter(CallInst &Call, StringRef How) : Call(Call), How(How), B(&Call) {}
  /// What stands for the call.
  Value *run();

private:
  Value *word(uint64_t X) { return B.getInt32(X); }
  Value *bits(Value *X) { return B.CreateBitCast(X, B.getInt32Ty()); }
  Value *rounded(Value *Bits, unsigned Lost);
  Value *fromFloat(Value *X, Format F);
  Value *toHalf(Value *Byte, Format F);
  Value *toTensor(Value *X);
  Value *unlessNegative(Value *Result, Value *X);

  CallInst &Call;
  StringRef How;
  IRBuilder<> B;
};
} // namespace

/// \p Bits of a magnitude without its last \p Lost bits, to nearest even.
Value *Converter::rounded(Value *Bits, unsigned Lost) {
  Value *Odd = B.CreateAnd(B.CreateLShr(Bits, Lost), 1);
  Value *Half = B.CreateAdd(Odd, word((1u << (Lost - 1)) - 1));
  return B.CreateAdd(Bits, Half);
}

/// .relu
Value *Converter::unlessNegative(Value *Result, Value *X) {
  if (!How.contains("relu"))
    return Result;
  Value *Negative = B.CreateICmpSLT(bits(X), word(0));
  Value *Number = B.CreateFCmpORD(X, X);
  return B.CreateSelect(B.CreateAnd(Negative, Number), word(0), Result);
}

/// The byte for float \p X, as an i32.
Value *Converter::fromFloat(Value *X, Format F) {
  Value *Bits = bits(X), *Size = B.CreateAnd(Bits, 0x7fffffff);
  Value *Sign = B.CreateAnd(B.CreateLShr(Bits, 24), 0x80);
  const unsigned Lost = 23 - F.Fraction;
  Value *Normal = B.CreateSub(B.CreateLShr(rounded(Size, Lost), Lost),
                              word((127 - F.Bias) << F.Fraction));
  // 2^23 units, a unit being the least subnormal.
  const unsigned Exponent = 23 + 1 - F.Bias - F.Fraction + 127;
  Value *Magic = word(Exponent << 23);
  Value *Sum = B.CreateFAdd(B.CreateBitCast(Size, X->getType()),
                            B.CreateBitCast(Magic, X->getType()));
  Value *Subnormal = B.CreateSub(bits(Sum), Magic);
  Value *Least = word((127 + 1 - F.Bias) << 23); // normal
  Value *Byte = B.CreateSelect(B.CreateICmpULT(Size, Least), Subnormal, Normal);
  Byte = B.CreateBinaryIntrinsic(Intrinsic::umin, Byte, word(F.Largest));
  Byte =
      B.CreateSelect(B.CreateFCmpUNO(X, X), word(0x7f), B.CreateOr(Byte, Sign));
  return unlessNegative(Byte, X);
}

/// The half, as an i32, for the lowest byte of i32 \p Byte.
Value *Converter::toHalf(Value *Byte, Format F) {
  Value *Sign = B.CreateShl(B.CreateAnd(Byte, 0x80), 8);
  Value *Size = B.CreateAnd(Byte, 0x7f), *Result;
  if (F.Fraction == 2) {
    Result = B.CreateShl(Size, 8);
  } else {
    Value *Small = B.CreateTrunc(B.CreateShl(Size, 7), B.getInt16Ty());
    Value *Half = B.CreateFMul(B.CreateBitCast(Small, B.getHalfTy()),
                               ConstantFP::get(B.getHalfTy(), 256.0));
    Result =
        B.CreateZExt(B.CreateBitCast(Half, B.getInt16Ty()), B.getInt32Ty());
  }
  // E5M2 has infinity behind the largest number, E4M3 has not.
  const unsigned Last = F.Fraction == 2 ? F.Largest + 1 : F.Largest;
  Result = B.CreateOr(Result, Sign);
  Value *NaN = B.CreateICmpUGT(Size, word(Last));
  Result = B.CreateSelect(NaN, word(0x7fff), Result);
  if (!How.contains("relu"))
    return Result;
  Value *Negative = B.CreateAnd(B.CreateIsNotNull(Sign), B.CreateNot(NaN));
  return B.CreateSelect(Negative, word(0), Result);
}

Value *Converter::toTensor(Value *X) {
  constexpr unsigned Lost = 13, Kept = ~((1u << Lost) - 1);
  Value *Bits = bits(X);
  if (How.contains("rna"))
    Bits = B.CreateAdd(Bits, word(1u << (Lost - 1)));
  else if (How.contains("rn"))
    Bits = rounded(Bits, Lost);
  Bits = B.CreateAnd(Bits, word(Kept));
  if (How.contains("satfinite")) {
    Value *Most = word(0x7f7fe000);
    Value *Sign = B.CreateAnd(Bits, word(1u << 31));
    Value *Size = B.CreateAnd(Bits, word(0x7fffffff));
    Bits =
        B.CreateOr(Sign, B.CreateBinaryIntrinsic(Intrinsic::umin, Size, Most));
  }
  Value *NaN =
      How.contains("rna") ? B.CreateAnd(bits(X), word(Kept)) : word(0x7fffe000);
  Bits = B.CreateSelect(B.CreateFCmpUNO(X, X), NaN, Bits);
  return unlessNegative(Bits, X);
}

Value *Converter::run() {
  if (How.contains("tf32"))
    return toTensor(Call.getArgOperand(0));
  const Format F = How.contains("e5m2") ? E5M2 : E4M3;
  if (Call.getType()->isIntegerTy(32)) {
    Value *Pair = B.CreateZExt(Call.getArgOperand(0), B.getInt32Ty());
    return B.CreateOr(toHalf(Pair, F),
                      B.CreateShl(toHalf(B.CreateLShr(Pair, 8), F), 16));
  }
  Value *High, *Low;
  if (Call.arg_size() == 2) {
    High = Call.getArgOperand(0);
    Low = Call.getArgOperand(1);
  } else {
    auto Part = [&](uint64_t Shift) {
      Value *Bits = B.CreateLShr(Call.getArgOperand(0), Shift);
      return B.CreateFPExt(
          B.CreateBitCast(B.CreateTrunc(Bits, B.getInt16Ty()), B.getHalfTy()),
          B.getFloatTy());
    };
    High = Part(16);
    Low = Part(0);
  }
  Value *Pair =
      B.CreateOr(B.CreateShl(fromFloat(High, F), 8), fromFloat(Low, F));
  return B.CreateTrunc(Pair, B.getInt16Ty());
}

/// What a call of \p Callee converts: the modifiers of PTX's cvt; empty if it
/// is no such call.
static StringRef conversionOf(const Function &Callee) {
  if (Callee.getIntrinsicID() == Intrinsic::nvvm_f2tf32_rna)
    return "rna.tf32.f32";
  auto [Name, How] = Callee.getName().split('~');
  return Name == analysis::Conversion ? How : "";
}

void lowerSmallFloats(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    const StringRef How = Callee ? conversionOf(*Callee) : "";
    if (How.empty())
      continue;
    Call->replaceAllUsesWith(Converter(*Call, How).run());
    Call->eraseFromParent();
  }
}

} // namespace reconverge::warpvm
