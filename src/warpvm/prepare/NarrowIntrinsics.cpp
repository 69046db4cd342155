//===- warpvm/prepare/NarrowIntrinsics.cpp - NVVM on halves and bfloats ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang's __nvvm_* functions name what PTX spells as modifiers:
//
//   fma.rn{.ftz}{.sat,.relu}, f{min,max}{.ftz}{.nan}{.xorsign.abs}, abs, neg
//                       .f16, .bf16, with x2 for pairs
//   ff2{f16x2,bf16x2}, f2bf16, f2h, bf2h     .{rn,rz}{.relu}{.ftz}
//
// .ftz takes subnormal halves for zeros of their sign, on the way in and out.
// .sat clamps to [0, 1] and .relu to what is not negative; NaN becomes 0 by the
// first and stays by the second. .xorsign.abs compares magnitudes; the result's
// sign is the operands' exclusive or. .rz is the nearest number, or the one
// before it where that is larger.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/NarrowIntrinsics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
class Rewriter {
public:
  Rewriter(IntrinsicInst &Call, StringRef Name) : Call(Call), B(&Call) {
    Name.split(Words, '.');
  }
  /// What stands for the call, or null to leave it.
  Value *run();

private:
  bool says(StringRef Word) const { return is_contained(Words, Word); }
  Value *bits(Value *X) {
    Type *T = X->getType();
    return B.CreateBitCast(
        X, T->getWithNewType(B.getIntNTy(T->getScalarSizeInBits())));
  }
  /// The constant of \p Like's type.
  Value *real(Value *Like, double X) {
    return ConstantFP::get(Like->getType(), X);
  }
  Value *sign(Value *Bits) {
    return B.CreateAnd(
        Bits, ConstantInt::get(
                  Bits->getType(),
                  APInt::getSignMask(Bits->getType()->getScalarSizeInBits())));
  }
  Value *binary(Intrinsic::ID Id, Value *X, Value *Y) {
    return B.CreateBinaryIntrinsic(Id, X, Y);
  }
  Value *flushed(Value *X);
  Value *clamped(Value *X);
  Value *pick(Value *X, Value *Y, bool Least);
  Value *narrow(Value *X, Type *To);

  IntrinsicInst &Call;
  SmallVector<StringRef, 8> Words;
  IRBuilder<> B;
};
} // namespace

Value *Rewriter::flushed(Value *X) {
  Type *Lane = X->getType()->getScalarType();
  if (!says("ftz") || Lane->isBFloatTy())
    return X;
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
  Value *Tiny =
      B.CreateFCmpOLT(Size, real(X, Lane->isHalfTy() ? 0x1p-14 : 0x1p-126));
  return B.CreateSelect(Tiny, binary(Intrinsic::copysign, real(X, 0), X), X);
}

Value *Rewriter::clamped(Value *X) {
  if (says("sat"))
    return binary(Intrinsic::minnum, binary(Intrinsic::maxnum, X, real(X, 0)),
                  real(X, 1));
  return says("relu") ? binary(Intrinsic::maximum, X, real(X, 0)) : X;
}

Value *Rewriter::pick(Value *X, Value *Y, bool Least) {
  const Intrinsic::ID Id = says("nan")
                               ? Least ? Intrinsic::minimum : Intrinsic::maximum
                           : Least ? Intrinsic::minnum
                                   : Intrinsic::maxnum;
  if (!says("xorsign"))
    return binary(Id, X, Y);
  Value *Sign = sign(B.CreateXor(bits(X), bits(Y)));
  Value *Best = binary(Id, B.CreateUnaryIntrinsic(Intrinsic::fabs, X),
                       B.CreateUnaryIntrinsic(Intrinsic::fabs, Y));
  return B.CreateBitCast(B.CreateOr(bits(Best), Sign), X->getType());
}

/// Float \p X as \p To, rounded as the name says.
Value *Rewriter::narrow(Value *X, Type *To) {
  Value *Near = B.CreateFPTrunc(X, To);
  if (!says("rz"))
    return clamped(Near);
  Value *Back = B.CreateFPExt(Near, X->getType());
  Value *Beyond = B.CreateFCmpOGT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Back),
                                  B.CreateUnaryIntrinsic(Intrinsic::fabs, X));
  Value *Bits = bits(Near);
  Value *Before = B.CreateSub(Bits, ConstantInt::get(Bits->getType(), 1));
  return clamped(B.CreateBitCast(B.CreateSelect(Beyond, Before, Bits), To));
}

Value *Rewriter::run() {
  const StringRef Op = Words.front();
  SmallVector<Value *, 3> A(Call.args());
  if (Op == "ff2f16x2" || Op == "ff2bf16x2") { // the upper half comes first
    Type *Lane = Call.getType()->getScalarType();
    Value *Pair = PoisonValue::get(Call.getType());
    Pair = B.CreateInsertElement(Pair, narrow(A[1], Lane), uint64_t(0));
    return B.CreateInsertElement(Pair, narrow(A[0], Lane), uint64_t(1));
  }
  if (Op == "f2bf16")
    return narrow(A[0], Call.getType());
  if (Op == "f2h")
    return bits(narrow(flushed(A[0]), B.getHalfTy()));
  if (Op == "bf2h")
    return bits(narrow(B.CreateFPExt(A[0], B.getFloatTy()), B.getHalfTy()));
  if (A.empty() || !A[0]->getType()->isFPOrFPVectorTy())
    return nullptr;
  const bool Narrow = A[0]->getType()->getScalarSizeInBits() == 16;
  if (!Narrow && !says("xorsign"))
    return nullptr;
  for (Value *&X : A)
    X = flushed(X);
  if (Op == "fma")
    return clamped(
        flushed(B.CreateIntrinsic(Intrinsic::fma, {A[0]->getType()}, A)));
  if (Op == "fmin" || Op == "fmax")
    return pick(A[0], A[1], Op == "fmin");
  if (Op == "abs")
    return B.CreateUnaryIntrinsic(Intrinsic::fabs, A[0]);
  return Op == "neg" ? B.CreateFNeg(A[0]) : nullptr;
}

void lowerNarrowIntrinsics(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    StringRef Name = Call ? Call->getCalledFunction()->getName() : "";
    if (!Name.consume_front("llvm.nvvm."))
      continue;
    if (Value *New = Rewriter(*Call, Name).run()) {
      Call->replaceAllUsesWith(New);
      Call->eraseFromParent();
    }
  }
}

} // namespace reconverge::warpvm
