//===- frontend/ExactPowers.cpp - Powers of constants ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc knows what pow(0.5, 23.0) is. LLVM does not: in device code it is a call
// of libdevice, whose body begins with an approximation by the hardware, of
// which no compiler knows the result. Inlined, each such constant is a hundred
// instructions, as random number generators have several of in a loop.
//
//   1. In clang's unoptimised code, pow and its kind are small functions that
//      hand their arguments on to libdevice. Such a function stands for the one
//      that it calls.
//   2. A call of any of them with two constants becomes a constant if the
//      exponent is a whole number and each product on the way is exact; and
//      for a negative one, the quotient too. Then the value is the same however
//      it is computed.
//
// Limitation: powers that are rounded stay, as libdevice and nvcc's constant
// need not agree in the last bit; so does what is a constant only after other
// passes.
//
//===----------------------------------------------------------------------===//

#include "frontend/ExactPowers.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

static constexpr int LargestExponent = 1100; ///< no power is finite beyond

static std::optional<APFloat> exactPower(const APFloat &Base, int Exponent) {
  APFloat Power = APFloat::getOne(Base.getSemantics());
  for (int I = 0; I < std::abs(Exponent); ++I)
    if (Power.multiply(Base, APFloat::rmNearestTiesToEven) != APFloat::opOK)
      return std::nullopt;
  if (Exponent >= 0)
    return Power;
  APFloat Inverse = APFloat::getOne(Base.getSemantics());
  if (Inverse.divide(Power, APFloat::rmNearestTiesToEven) != APFloat::opOK)
    return std::nullopt;
  return Inverse;
}

static std::optional<int> wholeNumber(const Value *V) {
  APSInt Number(32, /*isUnsigned=*/false);
  bool IsExact = true;
  if (auto *Int = dyn_cast<ConstantInt>(V); Int && Int->getBitWidth() <= 32)
    Number = APSInt(Int->getValue().sextOrTrunc(32), /*isUnsigned=*/false);
  else if (auto *Float = dyn_cast<ConstantFP>(V))
    Float->getValueAPF().convertToInteger(Number, APFloat::rmTowardZero,
                                          &IsExact);
  else
    return std::nullopt;
  const int64_t Exponent = Number.getExtValue();
  if (!IsExact || std::abs(Exponent) > LargestExponent)
    return std::nullopt;
  return int(Exponent);
}

static Constant *valueOf(const CallInst &Call) {
  auto *Base = dyn_cast<ConstantFP>(Call.getArgOperand(0));
  std::optional<int> Exponent = wholeNumber(Call.getArgOperand(1));
  if (!Base || !Exponent || !Base->getValueAPF().isFiniteNonZero())
    return nullptr;
  std::optional<APFloat> Power = exactPower(Base->getValueAPF(), *Exponent);
  return Power ? ConstantFP::get(Call.getType(), *Power) : nullptr;
}

/// The argument of its function that \p V is, by way of a variable or not.
static const Value *argumentBehind(const Value *V) {
  auto *Load = dyn_cast<LoadInst>(V);
  auto *Variable =
      Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
  if (!Variable)
    return V;
  const StoreInst *Only = nullptr;
  for (const User *U : Variable->users())
    if (auto *Store = dyn_cast<StoreInst>(U)) {
      if (Only || Store->getValueOperand() == Variable)
        return V;
      Only = Store;
    } else if (!isa<LoadInst>(U)) {
      return V;
    }
  return Only ? Only->getValueOperand() : V;
}

/// Whether the function around \p Call does nothing but hand its arguments on.
static bool handsOn(const CallInst &Call) {
  const Function &F = *Call.getFunction();
  if (F.size() != 1 || F.arg_size() != 2)
    return false;
  for (const Instruction &I : F.getEntryBlock())
    if (!isa<AllocaInst, LoadInst, StoreInst>(I) && !I.isDebugOrPseudoInst() &&
        &I != &Call && !I.isTerminator())
      return false;
  auto *Return = dyn_cast<ReturnInst>(F.getEntryBlock().getTerminator());
  return Return && Return->getReturnValue() == &Call &&
         argumentBehind(Call.getArgOperand(0)) == F.getArg(0) &&
         argumentBehind(Call.getArgOperand(1)) == F.getArg(1);
}

void foldExactPowers(Module &M) {
  SmallVector<Function *> Powers;
  for (StringRef Name : {"__nv_pow", "__nv_powf", "__nv_powi", "__nv_powif"})
    if (Function *F = M.getFunction(Name))
      Powers.push_back(F);
  for (size_t At = 0; At < Powers.size(); ++At)
    for (User *U : make_early_inc_range(Powers[At]->users())) {
      auto *Call = dyn_cast<CallInst>(U);
      if (!Call || Call->getCalledFunction() != Powers[At])
        continue;
      if (Constant *Power = valueOf(*Call)) {
        Call->replaceAllUsesWith(Power);
        Call->eraseFromParent();
      } else if (handsOn(*Call)) {
        Powers.push_back(Call->getFunction());
      }
    }
}

} // namespace reconverge::frontend
