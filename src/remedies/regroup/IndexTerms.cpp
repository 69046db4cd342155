//===- remedies/regroup/IndexTerms.cpp - Sums of 32 bits ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/regroup/IndexTerms.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::regroup {

namespace {
class Extender {
public:
  Extender(Function &F, Type &To, bool IsSigned)
      : F(F), To(To), IsSigned(IsSigned) {}
  /// Null: \p V is no sum or product that is known not to wrap.
  Value *sum(Value *V);

private:
  Value *term(Value *V);
  Function &F;
  Type &To;
  const bool IsSigned;
  DenseMap<Value *, Value *> Known;
};
} // namespace

Value *Extender::sum(Value *V) {
  auto *I = dyn_cast<BinaryOperator>(V);
  if (!I)
    return nullptr;
  auto Of = I->getOpcode();
  if (Of == Instruction::Or && cast<PossiblyDisjointInst>(I)->isDisjoint())
    Of = Instruction::Add; // no bit carries
  else if ((Of != Instruction::Add && Of != Instruction::Sub &&
            Of != Instruction::Mul && Of != Instruction::Shl) ||
           !(IsSigned ? I->hasNoSignedWrap() : I->hasNoUnsignedWrap()))
    return nullptr;
  if (Value *Is = Known.lookup(V))
    return Is;
  Value *Left = term(I->getOperand(0)), *Right = term(I->getOperand(1));
  IRBuilder<> B(I);
  auto *Wide =
      cast<Instruction>(B.Insert(BinaryOperator::Create(Of, Left, Right)));
  if (IsSigned)
    Wide->setHasNoSignedWrap();
  else
    Wide->setHasNoUnsignedWrap();
  return Known[V] = Wide;
}

Value *Extender::term(Value *V) {
  if (Value *Wide = sum(V))
    return Wide;
  if (Value *Is = Known.lookup(V))
    return Is;
  auto *I = dyn_cast<Instruction>(V);
  IRBuilder<> B(&*(I ? *I->getInsertionPointAfterDef()
                     : F.getEntryBlock().getFirstInsertionPt()));
  return Known[V] = IsSigned ? B.CreateSExt(V, &To) : B.CreateZExt(V, &To);
}

void extendTerms(Function &F, function_ref<bool(const Value &)> Wanted) {
  Type &To = *Type::getInt64Ty(F.getContext());
  Extender Signed(F, To, true), Unsigned(F, To, false);
  SmallVector<GetElementPtrInst *> All;
  for (Instruction &I : instructions(F))
    if (auto *At = dyn_cast<GetElementPtrInst>(&I);
        At && Wanted(*getUnderlyingObject(At, 0)))
      All.push_back(At);
  for (GetElementPtrInst *At : All)
    for (Use &Index : At->indices()) {
      auto *Cast = dyn_cast<CastInst>(Index);
      if (!Cast || Cast->getType() != &To || !isa<SExtInst, ZExtInst>(Cast))
        continue;
      const bool IsSigned =
          isa<SExtInst>(Cast) || cast<PossiblyNonNegInst>(Cast)->hasNonNeg();
      if (Value *Wide = (IsSigned ? Signed : Unsigned).sum(Cast->getOperand(0)))
        Index = Wide;
    }
}

} // namespace reconverge::remedies::regroup
