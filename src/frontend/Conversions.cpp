//===- frontend/Conversions.cpp - Numbers converted as by nvcc ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer to float, toward zero (__ll2float_rz): LLVM's instruction combiner
// takes NVVM's intrinsics for sitofp and uitofp, which round to nearest. It
// leaves the other roundings alone, and toward zero is one of them: down, and
// for negative numbers up.
//
//   ull2f.rz(x)  becomes  ull2f.rm(x)
//   ll2f.rz(x)            x < 0 ? ll2f.rp(x) : ll2f.rm(x)
//
// Just before PTX is printed, the latter is one conversion again. To a double,
// 32 bits are exact, and the combiner right.
//
// Float to an integer of 8 or 16 bits: C++ leaves open what becomes of a number
// that does not fit. nvcc converts to 32 bits, where the hardware saturates,
// and cuts off; LLVM's back end would saturate at 16 bits. So (unsigned
// char)300.5f is 44 here as well.
//
//===----------------------------------------------------------------------===//

#include "frontend/Conversions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

namespace {
/// The roundings of one conversion.
struct Roundings {
  Intrinsic::ID TowardZero, Down;
  Intrinsic::ID Up; ///< none for unsigned integers
};
} // namespace

static constexpr Roundings Conversions[] = {
    {Intrinsic::nvvm_i2f_rz, Intrinsic::nvvm_i2f_rm, Intrinsic::nvvm_i2f_rp},
    {Intrinsic::nvvm_ll2f_rz, Intrinsic::nvvm_ll2f_rm, Intrinsic::nvvm_ll2f_rp},
    {Intrinsic::nvvm_ll2d_rz, Intrinsic::nvvm_ll2d_rm, Intrinsic::nvvm_ll2d_rp},
    {Intrinsic::nvvm_ui2f_rz, Intrinsic::nvvm_ui2f_rm, 0},
    {Intrinsic::nvvm_ull2f_rz, Intrinsic::nvvm_ull2f_rm, 0},
    {Intrinsic::nvvm_ull2d_rz, Intrinsic::nvvm_ull2d_rm, 0},
};

/// What \p I, a conversion toward zero, is by other roundings; null if it is
/// none.
static Value *byOtherRoundings(IRBuilder<> &B, IntrinsicInst &I) {
  const Roundings *R = find_if(Conversions, [&](const Roundings &R) {
    return R.TowardZero == I.getIntrinsicID();
  });
  if (R == std::end(Conversions))
    return nullptr;
  Value *X = I.getArgOperand(0);
  Value *Down = B.CreateIntrinsic(R->Down, {}, {X});
  if (!R->Up)
    return Down;
  Value *Up = B.CreateIntrinsic(R->Up, {}, {X});
  return B.CreateSelect(B.CreateIsNeg(X), Up, Down);
}

/// \p Cast by way of 32 bits, if it is from float to fewer.
static Value *byWord(IRBuilder<> &B, CastInst &Cast) {
  Type *T = Cast.getType();
  if (!isa<FPToSIInst, FPToUIInst>(Cast) || T->getScalarSizeInBits() >= 32)
    return nullptr;
  return B.CreateTrunc(B.CreateCast(Cast.getOpcode(), Cast.getOperand(0),
                                    T->getWithNewType(B.getInt32Ty())),
                       T);
}

void settleConversions(Module &M) {
  IRBuilder<> B(M.getContext());
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      B.SetInsertPoint(&I);
      Value *New = nullptr;
      if (auto *Call = dyn_cast<IntrinsicInst>(&I))
        New = byOtherRoundings(B, *Call);
      else if (auto *Cast = dyn_cast<CastInst>(&I))
        New = byWord(B, *Cast);
      if (!New)
        continue;
      New->takeName(&I);
      I.replaceAllUsesWith(New);
      I.eraseFromParent();
    }
}

/// The conversion that \p Select is as settleConversions leaves it, if any.
static const Roundings *conversionOf(SelectInst &Select, Value *&X) {
  Value *Up = Select.getTrueValue(), *Down = Select.getFalseValue();
  Value *Test = Select.getCondition();
  ICmpInst::Predicate Predicate;
  if (!match(Test, m_ICmp(Predicate, m_Value(X), m_Value())))
    return nullptr;
  if (match(Test, m_SpecificICmp(ICmpInst::ICMP_SGT, m_Value(), m_AllOnes())))
    std::swap(Up, Down);
  else if (!match(Test,
                  m_SpecificICmp(ICmpInst::ICMP_SLT, m_Value(), m_Zero())))
    return nullptr;
  auto IsOf = [&](Value *V, Intrinsic::ID Id) {
    auto *Call = dyn_cast<IntrinsicInst>(V);
    return Call && Call->getIntrinsicID() == Id && Call->getArgOperand(0) == X;
  };
  const Roundings *R = find_if(Conversions, [&](const Roundings &R) {
    return R.Up && IsOf(Up, R.Up) && IsOf(Down, R.Down);
  });
  return R == std::end(Conversions) ? nullptr : R;
}

void joinConversions(Module &M) {
  IRBuilder<> B(M.getContext());
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Select = dyn_cast<SelectInst>(&I);
      Value *X;
      const Roundings *R = Select ? conversionOf(*Select, X) : nullptr;
      if (!R)
        continue;
      B.SetInsertPoint(Select);
      Value *New = B.CreateIntrinsic(R->TowardZero, {}, {X});
      New->takeName(Select);
      Select->replaceAllUsesWith(New);
      Select->eraseFromParent();
    }
}

} // namespace reconverge::frontend
