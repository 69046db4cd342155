//===- warpvm/prepare/Denormals.cpp - -ftz=true ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With -ftz=true the code generator prints single-precision operations with
// .ftz, which takes denormal operands for zeros of their sign and makes such
// zeros of denormal results. Here that is written out, in integer operations:
// the modes of the host's floating-point unit are for doubles as well.
//
//   add, sub, mul, div, fma             operands and result
//   neg, abs, sqrt, min, max, rounding
//     to whole numbers, comparison,
//     conversion to double              operands
//   conversion from double              result
//
// All else moves bits (a load, a select, copysign) or never meets a denormal (a
// conversion to or from an integer or .f16). NVVM's intrinsics say by their
// names whether they flush (Math.cpp). Bfloats have float's denormals and keep
// them, so this comes before they are computed in float (Halves.cpp).
//
// An operand is flushed once, where it is defined, and not at all if it cannot
// be a denormal.
//
// Limitation: add, sub and mul of inline PTX without a rounding are taken for
// the operators of the code around them, and flush with it.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Denormals.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
/// What .ftz does to an operation.
enum class Flushes { Nothing, Operands, Result, Both };

class Flusher {
public:
  explicit Flusher(Function &F) : F(F), B(F.getContext()) {}
  void run();

private:
  Value *emit(Value *Bits, Type *T);
  Value *operand(Value *X);
  void flushResult(Instruction &I);

  Function &F;
  IRBuilder<> B;
  DenseMap<Value *, Value *> Flushed; ///< by the value as it was
};
} // namespace

static bool isFloat(const Value &V) {
  return V.getType()->getScalarType()->isFloatTy();
}

static Flushes flushesIntrinsic(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::exp2:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return Flushes::Both;
  case Intrinsic::ceil:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::log2:
  case Intrinsic::maximum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::minnum:
  case Intrinsic::nearbyint:
  case Intrinsic::rint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::sqrt:
  case Intrinsic::trunc:
    return Flushes::Operands;
  default:
    return Flushes::Nothing;
  }
}

static Flushes flushes(const Instruction &I) {
  if (isa<FCmpInst>(I))
    return isFloat(*I.getOperand(0)) ? Flushes::Operands : Flushes::Nothing;
  if (isa<FPExtInst>(I))
    return isFloat(*I.getOperand(0)) ? Flushes::Operands : Flushes::Nothing;
  if (!isFloat(I))
    return Flushes::Nothing;
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    return flushesIntrinsic(Call->getIntrinsicID());
  if (isa<FPTruncInst>(I))
    return Flushes::Result;
  if (isa<BinaryOperator>(I))
    return Flushes::Both;
  return I.getOpcode() == Instruction::FNeg ? Flushes::Operands
                                            : Flushes::Nothing;
}

/// \p Bits of a float are a denormal's or zero's if the exponent is zero: then
/// only the sign stays.
Value *Flusher::emit(Value *Bits, Type *T) {
  Value *Small = B.CreateIsNull(B.CreateAnd(Bits, 0x7f800000));
  Bits = B.CreateSelect(Small, B.CreateAnd(Bits, 0x80000000), Bits);
  return B.CreateBitCast(Bits, T);
}

static Type *bitsType(const Value &V) {
  return V.getType()->getWithNewType(Type::getInt32Ty(V.getContext()));
}

static bool isNeverDenormal(const Value *X) {
  if (isa<SIToFPInst, UIToFPInst>(X))
    return true;
  if (auto *Extended = dyn_cast<FPExtInst>(X))
    return Extended->getSrcTy()->getScalarType()->isHalfTy();
  auto *I = dyn_cast<Instruction>(X);
  return I && flushes(*I) == Flushes::Operands;
}

Value *Flusher::operand(Value *X) {
  if (isNeverDenormal(X))
    return X;
  if (Value *Known = Flushed.lookup(X))
    return Known;
  if (auto *I = dyn_cast<Instruction>(X))
    B.SetInsertPoint(*I->getInsertionPointAfterDef());
  else
    B.SetInsertPoint(F.getEntryBlock().getFirstInsertionPt());
  return Flushed[X] = emit(B.CreateBitCast(X, bitsType(*X)), X->getType());
}

void Flusher::flushResult(Instruction &I) {
  B.SetInsertPoint(*I.getInsertionPointAfterDef());
  Value *Bits = B.CreateBitCast(&I, bitsType(I));
  Value *New = emit(Bits, I.getType());
  I.replaceUsesWithIf(New, [&](const Use &U) { return U.getUser() != Bits; });
  Flushed[New] = New;
}

void Flusher::run() {
  SmallVector<Instruction *> WithOperands;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    const Flushes What = flushes(I);
    if (What == Flushes::Operands || What == Flushes::Both)
      WithOperands.push_back(&I);
    if (What == Flushes::Result || What == Flushes::Both)
      flushResult(I);
  }
  for (Instruction *I : WithOperands)
    for (Use &Operand : I->operands())
      if (isFloat(*Operand))
        Operand = operand(Operand);
}

void flushDenormals(Function &F) {
  if (F.getDenormalMode(APFloat::IEEEsingle()) ==
      DenormalMode::getPreserveSign())
    Flusher(F).run();
}

} // namespace reconverge::warpvm
