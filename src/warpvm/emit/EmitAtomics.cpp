//===- warpvm/emit/EmitAtomics.cpp - Atomic operations over lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics loop over the set lanes in ascending order. Those on shared memory
// need no lock prefix: a thread block runs on one CPU thread. What the host has no
// instruction for (sums, minimum and maximum of real numbers) is tried with compare
// and exchange until nobody has come in between. Sums of 16 bits are rounded as
// Halves.cpp says, and a NaN is the one of NaNs.cpp.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/Halves.h"
#include "warpvm/prepare/NaNs.h"

using namespace llvm;

namespace reconverge::warpvm {

static Value *applyRmw(IRBuilder<> &B, AtomicRMWInst::BinOp Op, Value *Old,
                       Value *X) {
  auto Pick = [&](CmpInst::Predicate P) {
    return B.CreateSelect(B.CreateICmp(P, Old, X), Old, X);
  };
  auto Sum = [&](bool Subtract) -> Value * {
    const bool Bfloat = X->getType()->isBFloatTy();
    Value *L = Bfloat ? extendBfloat(B, Old) : Old;
    Value *R = Bfloat ? extendBfloat(B, X) : X;
    Value *Y = Subtract ? B.CreateFSub(L, R) : B.CreateFAdd(L, R);
    return Bfloat ? roundToBfloat(B, Y) : settledNaN(B, Y);
  };
  switch (Op) {
  case AtomicRMWInst::Xchg:
    return X;
  case AtomicRMWInst::Add:
    return B.CreateAdd(Old, X);
  case AtomicRMWInst::Sub:
    return B.CreateSub(Old, X);
  case AtomicRMWInst::And:
    return B.CreateAnd(Old, X);
  case AtomicRMWInst::Nand:
    return B.CreateNot(B.CreateAnd(Old, X));
  case AtomicRMWInst::Or:
    return B.CreateOr(Old, X);
  case AtomicRMWInst::Xor:
    return B.CreateXor(Old, X);
  case AtomicRMWInst::Max:
    return Pick(CmpInst::ICMP_SGT);
  case AtomicRMWInst::Min:
    return Pick(CmpInst::ICMP_SLT);
  case AtomicRMWInst::UMax:
    return Pick(CmpInst::ICMP_UGT);
  case AtomicRMWInst::UMin:
    return Pick(CmpInst::ICMP_ULT);
  case AtomicRMWInst::FAdd:
    return Sum(false);
  case AtomicRMWInst::FSub:
    return Sum(true);
  case AtomicRMWInst::FMin:
    return B.CreateMinNum(Old, X);
  case AtomicRMWInst::FMax:
    return B.CreateMaxNum(Old, X);
  case AtomicRMWInst::UIncWrap:
    return B.CreateSelect(B.CreateICmpUGE(Old, X),
                          Constant::getNullValue(X->getType()),
                          B.CreateAdd(Old, ConstantInt::get(X->getType(), 1)));
  case AtomicRMWInst::UDecWrap:
    return B.CreateSelect(
        B.CreateOr(B.CreateIsNull(Old), B.CreateICmpUGT(Old, X)), X,
        B.CreateSub(Old, ConstantInt::get(X->getType(), 1)));
  default:
    return nullptr;
  }
}

/// Whether the host has the operation, or LLVM a loop for it that is right.
static bool isNative(const AtomicRMWInst &I) {
  return I.getType()->isFloatTy() || I.getType()->isDoubleTy()
             ? I.getOperation() == AtomicRMWInst::Xchg
             : !I.getType()->isFloatingPointTy();
}

/// Compare and exchange until the value that was computed on is still there;
/// returns what was.
static Value *retry(IRBuilder<> &B, const AtomicRMWInst &Rmw, Value *At,
                    Value *X) {
  Function *Fn = B.GetInsertBlock()->getParent();
  Type *T = X->getType(), *Bits = B.getIntNTy(T->getPrimitiveSizeInBits());
  const auto Order = AtomicOrdering::SequentiallyConsistent;
  auto *First = B.CreateAlignedLoad(Bits, At, Rmw.getAlign());
  First->setAtomic(Order);
  BasicBlock *Before = B.GetInsertBlock();
  auto *Try = BasicBlock::Create(B.getContext(), "atomic.try", Fn);
  auto *Done = BasicBlock::Create(B.getContext(), "atomic.done", Fn);
  B.CreateBr(Try);
  B.SetInsertPoint(Try);
  auto *Old = B.CreatePHI(Bits, 2);
  Old->addIncoming(First, Before);
  Value *New = applyRmw(B, Rmw.getOperation(), B.CreateBitCast(Old, T), X);
  Value *Both = B.CreateAtomicCmpXchg(At, Old, B.CreateBitCast(New, Bits),
                                      Rmw.getAlign(), Order, Order);
  Old->addIncoming(B.CreateExtractValue(Both, 0), Try);
  B.CreateCondBr(B.CreateExtractValue(Both, 1), Done, Try);
  B.SetInsertPoint(Done);
  return B.CreateBitCast(Old, T);
}

Error RegionEmitter::emitAtomic(Instruction &I) {
  auto *Rmw = dyn_cast<AtomicRMWInst>(&I);
  auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I);
  Value *Pointer = Rmw ? Rmw->getPointerOperand() : Cas->getPointerOperand();
  Type *T = laneType(Rmw ? Rmw->getType() : Cas->getNewValOperand()->getType());
  bool Plain = isShared(Pointer);
  if (Rmw && !applyRmw(B, Rmw->getOperation(), PoisonValue::get(T),
                       PoisonValue::get(T)))
    return refuse(I, "atomic operation '" +
                         AtomicRMWInst::getOperationName(Rmw->getOperation()) +
                         "'");
  Value *Operand = Rmw ? Rmw->getValOperand() : Cas->getNewValOperand();
  Value *P = spilled(Pointer), *X = spilled(Operand);
  Value *Want = Cas ? spilled(Cas->getCompareOperand()) : nullptr;
  bool Used = !I.use_empty();
  Value *Results = Used ? spill(Constant::getNullValue(vectorOf(T))) : nullptr;
  forEachLane([&](Value *Lane) {
    Value *At = inLane(Pointer, P, Lane);
    Value *New = inLane(Operand, X, Lane);
    Value *Old;
    if (Cas) {
      Value *Expected = inLane(Cas->getCompareOperand(), Want, Lane);
      if (Plain) {
        Old = B.CreateLoad(T, At);
        B.CreateStore(B.CreateSelect(B.CreateICmpEQ(Old, Expected), New, Old),
                      At);
      } else {
        Old = B.CreateExtractValue(
            B.CreateAtomicCmpXchg(At, Expected, New, Cas->getAlign(),
                                  AtomicOrdering::SequentiallyConsistent,
                                  AtomicOrdering::SequentiallyConsistent),
            0);
      }
    } else if (Plain) {
      Old = B.CreateLoad(T, At);
      B.CreateStore(applyRmw(B, Rmw->getOperation(), Old, New), At);
    } else if (!isNative(*Rmw)) {
      Old = retry(B, *Rmw, At, New);
    } else {
      Old = B.CreateAtomicRMW(Rmw->getOperation(), At, New, Rmw->getAlign(),
                              AtomicOrdering::SequentiallyConsistent);
    }
    if (Used)
      B.CreateStore(Old, B.CreateGEP(T, Results, Lane));
  });
  if (!Used)
    return Error::success();
  Value *Old = B.CreateAlignedLoad(vectorOf(T), Results, Align(64));
  if (Rmw) {
    define(&I, {false, {Old}});
  } else {
    Value *Same = B.CreateICmpEQ(Old, vec(Cas->getCompareOperand()));
    define(&I, {false, {Old, Same}});
  }
  return Error::success();
}

} // namespace reconverge::warpvm
