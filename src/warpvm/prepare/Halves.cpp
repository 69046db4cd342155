//===- warpvm/prepare/Halves.cpp - Arithmetic of 16 bits, rounded once ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX rounds each operation on .f16 and .bf16 once, and keeps subnormals. Hosts
// do not: few have half arithmetic, AVX512-BF16 flushes subnormals, and LLVM
// calls a library that we do not have where it lacks an instruction. So:
//
//   bfloat      computed in float and rounded by integer arithmetic. A float
//               has 24 bits >= 2 * 8 + 2, for which rounding sum, difference,
//               product, quotient and root twice is rounding once (Figueroa).
//   half        left to LLVM, which computes in float where the host has
//               nothing better: 24 >= 2 * 11 + 2, the same theorem.
//   minimum,    of halves in float as well: what LLVM 19 makes of them for
//   maximum     hosts without half arithmetic loses NaN
//   fma         the theorem does not cover it. The product of two halves or
//               bfloats is exact in double. Adding the third is exact for
//               halves unless it is so much larger that the product only
//               decides between results far from any tie. For bfloats the sum
//               is corrected to *odd*: truncated, with the last bit set if
//               anything is lost. Rounding an odd value of two or more extra
//               bits is rounding the exact one (Boldo and Melquiond).
//   double ->   goes by way of an odd float. Below float's normal range, where
//   bfloat      that has too few bits, adding and taking away 2^-81 rounds to
//               bfloat's spacing there, 2^-133, first.
//
// Loads and stores of either become i16 and a bitcast: hosts gather no halves. So do
// PHIs of bfloats, which LLVM would keep in float and round by a library's function.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Halves.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::warpvm {

static Type *like(Value *X, Type *Element) {
  return X->getType()->getWithNewType(Element);
}

static Value *bitsOf(IRBuilder<> &B, Value *X) {
  return B.CreateBitCast(
      X, like(X, B.getIntNTy(X->getType()->getScalarSizeInBits())));
}

Value *extendBfloat(IRBuilder<> &B, Value *X) {
  Value *Bits = B.CreateZExt(bitsOf(B, X), like(X, B.getInt32Ty()));
  return B.CreateBitCast(B.CreateShl(Bits, 16), like(X, B.getFloatTy()));
}

Value *roundToBfloat(IRBuilder<> &B, Value *X) {
  Value *Bits = bitsOf(B, X);
  Type *Word = Bits->getType(), *Short = like(X, B.getInt16Ty());
  Value *Even = B.CreateAnd(B.CreateLShr(Bits, 16), 1);
  Bits = B.CreateAdd(Bits, B.CreateAdd(Even, ConstantInt::get(Word, 0x7fff)));
  Value *Top = B.CreateTrunc(B.CreateLShr(Bits, 16), Short);
  Top = B.CreateSelect(B.CreateFCmpUNO(X, X), ConstantInt::get(Short, 0x7fff),
                       Top);
  return B.CreateBitCast(Top, like(X, B.getBFloatTy()));
}

namespace {
/// Rewrites one instruction at a time; all values are scalars.
class Rewriter {
public:
  explicit Rewriter(Instruction &I)
      : I(I), B(&I), Float(B.getFloatTy()), Double(B.getDoubleTy()) {}

  /// What stands for the instruction, or null to leave it.
  Value *run();

private:
  static bool isBfloat(const Value *V) { return V->getType()->isBFloatTy(); }
  static bool isNarrow(Type *T) { return T->isHalfTy() || T->isBFloatTy(); }

  /// \p X as a float if it is a bfloat.
  Value *widened(Value *X) { return isBfloat(X) ? extendBfloat(B, X) : X; }
  Value *toDouble(Value *X) { return B.CreateFPExt(widened(X), Double); }
  Value *narrow(Value *D, Type *T);
  Value *oddSum(Value *X, Value *Y);
  Value *fma(IntrinsicInst &Call);
  Value *convert(CastInst &Cast);
  Value *intrinsic(IntrinsicInst &Call);
  Value *phi(PHINode &Phi);
  Value *load(LoadInst &Load);
  void store(StoreInst &Store);

  Instruction &I;
  IRBuilder<> B;
  Type *Float, *Double;
};
} // namespace

/// The double \p D, exact or odd, as half or bfloat \p T.
Value *Rewriter::narrow(Value *D, Type *T) {
  // To 24 bits, odd: hardware's own conversion is exact then.
  constexpr uint64_t Lost = (1u << 29) - 1;
  Value *Bits = B.CreateBitCast(D, B.getInt64Ty());
  Value *Sticky = B.CreateSelect(B.CreateIsNull(B.CreateAnd(Bits, Lost)),
                                 B.getInt64(0), B.getInt64(Lost + 1));
  Value *Odd =
      B.CreateBitCast(B.CreateOr(B.CreateAnd(Bits, ~Lost), Sticky), Double);
  if (T->isHalfTy())
    return B.CreateFPTrunc(B.CreateFPTrunc(Odd, Float), T);
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, D);
  Value *Magic = ConstantFP::get(Double, 0x1p-81);
  Value *Coarse = B.CreateFSub(B.CreateFAdd(Size, Magic), Magic);
  Coarse = B.CreateBinaryIntrinsic(Intrinsic::copysign, Coarse, D);
  Value *Tiny = B.CreateFCmpOLT(Size, ConstantFP::get(Double, 0x1p-126));
  return roundToBfloat(
      B, B.CreateFPTrunc(B.CreateSelect(Tiny, Coarse, Odd), Float));
}

/// x + y in double, rounded to odd.
Value *Rewriter::oddSum(Value *X, Value *Y) {
  // Knuth's two-sum gives the error exactly.
  Value *Sum = B.CreateFAdd(X, Y);
  Value *Part = B.CreateFSub(Sum, X);
  Value *Error = B.CreateFAdd(B.CreateFSub(X, B.CreateFSub(Sum, Part)),
                              B.CreateFSub(Y, Part));
  Value *Zero = ConstantFP::get(Double, 0.0);
  Value *Bits = B.CreateBitCast(Sum, B.getInt64Ty());
  Value *Beyond =
      B.CreateXor(B.CreateFCmpOLT(Error, Zero), B.CreateFCmpOLT(Sum, Zero));
  Value *Cut = B.CreateSub(Bits, B.CreateZExt(Beyond, B.getInt64Ty()));
  Bits = B.CreateSelect(B.CreateFCmpONE(Error, Zero),
                        B.CreateOr(Cut, B.getInt64(1)), Bits);
  return B.CreateBitCast(Bits, Double);
}

Value *Rewriter::fma(IntrinsicInst &Call) {
  Type *T = Call.getType();
  Value *Product = B.CreateFMul(toDouble(Call.getArgOperand(0)),
                                toDouble(Call.getArgOperand(1)));
  Value *Addend = toDouble(Call.getArgOperand(2));
  return narrow(T->isHalfTy() ? B.CreateFAdd(Product, Addend)
                              : oddSum(Product, Addend),
                T);
}

Value *Rewriter::convert(CastInst &Cast) {
  Value *X = Cast.getOperand(0);
  Type *From = X->getType(), *To = Cast.getType();
  switch (Cast.getOpcode()) {
  case Instruction::FPTrunc:
    if (From->isDoubleTy() && isNarrow(To))
      return narrow(X, To);
    return To->isBFloatTy() ? roundToBfloat(B, X) : nullptr;
  case Instruction::FPExt:
    if (!From->isBFloatTy())
      return nullptr;
    return To->isFloatTy() ? widened(X) : toDouble(X);
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return isBfloat(X) ? B.CreateCast(Cast.getOpcode(), widened(X), To)
                       : nullptr;
  case Instruction::SIToFP:
  case Instruction::UIToFP: {
    if (!To->isBFloatTy())
      return nullptr; // what float cannot hold, half cannot either
    if (From->getIntegerBitWidth() < 64)
      return narrow(B.CreateCast(Cast.getOpcode(), X, Double), To);
    // A double holds the upper 52 bits, made odd; bfloat has use for 8.
    const bool Signed = Cast.getOpcode() == Instruction::SIToFP;
    Value *Upper = Signed ? B.CreateAShr(X, 12) : B.CreateLShr(X, 12);
    Value *Rest = B.CreateIsNotNull(B.CreateAnd(X, 4095));
    Upper = B.CreateOr(Upper, B.CreateZExt(Rest, From));
    Value *Large = B.CreateFMul(B.CreateCast(Cast.getOpcode(), Upper, Double),
                                ConstantFP::get(Double, 4096.0));
    Value *Exact = B.CreateCast(Cast.getOpcode(), X, Double);
    Value *Small =
        B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Exact),
                        ConstantFP::get(Double, 0x1p53));
    return narrow(B.CreateSelect(Small, Exact, Large), To);
  }
  default:
    return nullptr;
  }
}

Value *Rewriter::intrinsic(IntrinsicInst &Call) {
  const Intrinsic::ID Id = Call.getIntrinsicID();
  if ((Id == Intrinsic::fma || Id == Intrinsic::fmuladd) &&
      isNarrow(Call.getType()))
    return fma(Call);
  if ((Id == Intrinsic::minimum || Id == Intrinsic::maximum) &&
      Call.getType()->isHalfTy()) {
    auto Wide = [&](unsigned N) {
      return B.CreateFPExt(Call.getArgOperand(N), Float);
    };
    return B.CreateFPTrunc(B.CreateBinaryIntrinsic(Id, Wide(0), Wide(1)),
                           Call.getType());
  }
  if (Call.arg_size() == 0 || !isBfloat(Call.getArgOperand(0)))
    return nullptr;
  Type *Short = B.getInt16Ty();
  SmallVector<Value *, 2> Args;
  for (Value *Arg : Call.args())
    Args.push_back(widened(Arg));
  switch (Id) {
  case Intrinsic::fabs: {
    Value *Bits = bitsOf(B, Call.getArgOperand(0));
    return B.CreateBitCast(B.CreateAnd(Bits, ConstantInt::get(Short, 0x7fff)),
                           Call.getType());
  }
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
    return B.CreateIntrinsic(Id, {Call.getType(), Float}, Args);
  case Intrinsic::is_fpclass: // bfloat's exponents are float's
    return B.CreateIntrinsic(Id, {Float}, Args);
  default:
    // Those that round do so as the theorem has it, or approximate anyway.
    if (!Call.getType()->isBFloatTy() ||
        Call.getCalledFunction()->getName().starts_with("llvm.nvvm."))
      return nullptr;
    return roundToBfloat(B, B.CreateIntrinsic(Id, {Float}, Args));
  }
}

Value *Rewriter::phi(PHINode &Phi) {
  PHINode *New = B.CreatePHI(B.getInt16Ty(), Phi.getNumIncomingValues());
  // As many operands of one block as there are ways from it, all the same.
  SmallDenseMap<BasicBlock *, Value *> Bits;
  for (auto [From, Incoming] : zip(Phi.blocks(), Phi.incoming_values())) {
    Value *&Of = Bits[From];
    B.SetInsertPoint(From->getTerminator());
    Of = Of ? Of : bitsOf(B, Incoming);
    New->addIncoming(Of, From);
  }
  B.SetInsertPoint(&*Phi.getParent()->getFirstInsertionPt());
  return B.CreateBitCast(New, Phi.getType());
}

Value *Rewriter::load(LoadInst &Load) {
  auto *New = cast<LoadInst>(B.Insert(new LoadInst(
      B.getInt16Ty(), Load.getPointerOperand(), "", Load.isVolatile(),
      Load.getAlign(), Load.getOrdering(), Load.getSyncScopeID())));
  New->copyMetadata(Load);
  return B.CreateBitCast(New, Load.getType());
}

void Rewriter::store(StoreInst &Store) {
  Value *Bits = bitsOf(B, Store.getValueOperand());
  auto *New = B.Insert(new StoreInst(
      Bits, Store.getPointerOperand(), Store.isVolatile(), Store.getAlign(),
      Store.getOrdering(), Store.getSyncScopeID()));
  New->copyMetadata(Store);
  Store.eraseFromParent();
}

Value *Rewriter::run() {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return isNarrow(I.getType()) ? load(*Load) : nullptr;
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (isNarrow(Store->getValueOperand()->getType()))
      store(*Store);
    return nullptr;
  }
  if (auto *Cast = dyn_cast<CastInst>(&I))
    return convert(*Cast);
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    return intrinsic(*Call);
  if (auto *Compare = dyn_cast<FCmpInst>(&I))
    return isBfloat(I.getOperand(0))
               ? B.CreateFCmp(Compare->getPredicate(), widened(I.getOperand(0)),
                              widened(I.getOperand(1)))
               : nullptr;
  if (!I.getType()->isBFloatTy())
    return nullptr;
  if (auto *Phi = dyn_cast<PHINode>(&I))
    return phi(*Phi);
  if (I.getOpcode() == Instruction::FNeg) {
    Value *Sign = ConstantInt::get(B.getInt16Ty(), 0x8000);
    return B.CreateBitCast(B.CreateXor(bitsOf(B, I.getOperand(0)), Sign),
                           I.getType());
  }
  if (auto *Binary = dyn_cast<BinaryOperator>(&I))
    return roundToBfloat(B, B.CreateBinOp(Binary->getOpcode(),
                                          widened(I.getOperand(0)),
                                          widened(I.getOperand(1))));
  return nullptr;
}

void lowerHalves(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (Value *New = Rewriter(I).run()) {
      I.replaceAllUsesWith(New);
      I.eraseFromParent();
    }
}

} // namespace reconverge::warpvm
