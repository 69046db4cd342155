//===- remedies/share/Sums.cpp - What may be added in any order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   phi -> op -> op -> ... -> result -> phi
//
// All are the same operation, and each is needed by the next alone, the result
// behind the loop, too. Floating-point sums are none: their bits hang on the
// order.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Sums.h"

#include "remedies/share/Hand.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::share {

/// Whether \p I may be a sum's operation.
static bool adds(const Instruction &I) {
  if (!I.getType()->isIntegerTy())
    return false;
  switch (I.getOpcode()) {
  case Instruction::Add:
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return true;
  default:
    return isa<MinMaxIntrinsic>(I);
  }
}

static bool sameOperation(const Instruction &A, const Instruction &B) {
  const auto *Min = dyn_cast<MinMaxIntrinsic>(&A);
  const auto *Other = dyn_cast<MinMaxIntrinsic>(&B);
  return A.getOpcode() == B.getOpcode() && !Min == !Other &&
         (!Min || Min->getIntrinsicID() == Other->getIntrinsicID());
}

std::optional<Sum> sumOf(PHINode &Phi, const Loop &L, const LoopInfo &Loops) {
  Value *Result = Phi.getIncomingValueForBlock(L.getLoopLatch());
  Sum Found{&Phi, {}};
  for (Instruction *At = &Phi; At->hasOneUse();) {
    auto *Next = cast<Instruction>(*At->user_begin());
    if (Loops.getLoopFor(Next->getParent()) != &L || !adds(*Next) ||
        (!Found.Steps.empty() && !sameOperation(*Found.Steps[0], *Next)))
      return std::nullopt;
    Found.Steps.push_back(Next);
    At = Next;
    if (At != Result)
      continue;
    for (const User *U : At->users())
      if (U != &Phi && L.contains(cast<Instruction>(U)))
        return std::nullopt;
    return Found;
  }
  return std::nullopt;
}

Constant *neutral(const Sum &Of) {
  Type *T = Of.Phi->getType();
  if (const auto *Min = dyn_cast<MinMaxIntrinsic>(Of.result()))
    return MinMaxIntrinsic::getSaturationPoint(
        getInverseMinMaxIntrinsic(Min->getIntrinsicID()), T);
  return ConstantExpr::getBinOpIdentity(Of.result()->getOpcode(), T);
}

Value *combine(IRBuilderBase &B, const Sum &Of, Value *X, Value *Y) {
  if (const auto *Min = dyn_cast<MinMaxIntrinsic>(Of.result()))
    return B.CreateBinaryIntrinsic(Min->getIntrinsicID(), X, Y);
  return B.CreateBinOp(Instruction::BinaryOps(Of.result()->getOpcode()), X, Y);
}

Value *sumBehind(IRBuilderBase &B, const Sum &Of, Value *V, Value *Lane,
                 Value *Last) {
  for (unsigned By = 1; By < 32; By *= 2) {
    Value *From = B.CreateAdd(Lane, B.getInt32(By));
    Value *Behind = fromLane(B, V, From);
    V = combine(
        B, Of, V,
        B.CreateSelect(B.CreateICmpSLE(From, Last), Behind, neutral(Of)));
  }
  return V;
}

} // namespace reconverge::remedies::share
