//===- warpvm/prepare/NaNs.cpp - One NaN for each type --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IEEE 754 leaves open which NaN an operation makes, and LLVM may change sign and
// payload with every optimisation: a negation goes into a fused multiply-add, the
// operands of a sum change places. So the two kinds of code that a kernel has
// (emit/Steps.cpp, and LLVM's) would leave different bytes. A GPU makes one NaN of
// each type: 0x7fffffff for float and 0x7fff for half and bfloat (PTX ISA), and
// here 0xfff8000000000000 for double, what x86 makes of an invalid operation.
//
// Nothing but its bits tells one NaN from another. So a NaN is settled where the
// bits get out: where a value is stored, taken for an integer, put into a larger
// value, returned, or given to a call that does no arithmetic. A value is
//
//   Settled   never a NaN, or the one NaN
//   Made      the result of an operation
//   Bits      of elsewhere: loaded, a parameter, made of an integer. A GPU moves
//             such a NaN as it is, so it stays
//
// Bfloats are left alone: their operations become integer operations, which make the
// NaN 0x7fff (Halves.cpp), and a change of sign is one, too.
//
// PHIs and selects are what their operands are. Where Made and Bits meet in one,
// what is Made is settled on its way there.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/NaNs.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
/// Ordered: a PHI is the greatest of its operands.
enum class Nature { Settled, Made, Bits };

class Settler {
public:
  explicit Settler(Function &F) : F(F), B(F.getContext()) {}
  void run();

private:
  Nature of(const Value &V) const;
  Nature resultOf(const Instruction &I) const;
  bool shows(const Use &U) const;

  Function &F;
  IRBuilder<> B;
  DenseMap<const Value *, Nature> Known; ///< instructions only
};
} // namespace

static bool isReal(const Value &V) {
  return V.getType()->isFloatingPointTy() && !V.getType()->isBFloatTy();
}

/// A call that makes a real number of real numbers, and of nothing else: not of
/// memory, not of other lanes.
static bool isArithmetic(const CallBase &Call) {
  const auto *Callee = dyn_cast<IntrinsicInst>(&Call);
  return Callee && isReal(Call) && Callee->doesNotAccessMemory() &&
         !Callee->isConvergent() &&
         any_of(Callee->args(), [](const Use &U) { return isReal(*U); });
}

static bool passesOn(const Instruction &I) {
  return isa<PHINode, SelectInst, FreezeInst>(I);
}

/// Those that keep a NaN's payload, so that what is Bits stays so.
static bool changesSign(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return I.getOpcode() == Instruction::FNeg ||
         (Call && (Call->getIntrinsicID() == Intrinsic::fabs ||
                   Call->getIntrinsicID() == Intrinsic::copysign));
}

static bool computes(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call ? isArithmetic(*Call)
              : isa<BinaryOperator, FPTruncInst, FPExtInst>(I) ||
                    I.getOpcode() == Instruction::FNeg;
}

Nature Settler::of(const Value &V) const {
  if (const auto *I = dyn_cast<Instruction>(&V))
    return Known.lookup(I);
  const auto *C = dyn_cast<ConstantFP>(&V);
  return isa<UndefValue>(V) || (C && !C->isNaN()) ? Nature::Settled
                                                  : Nature::Bits;
}

Nature Settler::resultOf(const Instruction &I) const {
  if (isa<SIToFPInst, UIToFPInst>(I))
    return Nature::Settled;
  if (changesSign(I))
    return of(*I.getOperand(0));
  if (!passesOn(I))
    return computes(I) ? Nature::Made : Nature::Bits;
  Nature Most = Nature::Settled;
  for (const Use &U : I.operands())
    if (isReal(*U))
      Most = std::max(Most, of(*U));
  return Most;
}

/// Whether the user of \p U, whose value is Made, shows which NaN it is.
bool Settler::shows(const Use &U) const {
  const auto &I = cast<Instruction>(*U.getUser());
  if (passesOn(I))
    return of(I) == Nature::Bits;
  if (changesSign(I))
    return U.getOperandNo() != 0;
  return !computes(I) && !isa<FCmpInst, FPToSIInst, FPToUIInst>(I);
}

/// The one NaN of \p T, for each element of a vector.
static Constant *nanOf(Type *T) {
  const fltSemantics &Kind = T->getScalarType()->getFltSemantics();
  const unsigned Width = APFloat::getSizeInBits(Kind);
  const APInt Bits = Width == 64 ? APInt::getHighBitsSet(64, 13)
                                 : APInt::getLowBitsSet(Width, Width - 1);
  return ConstantFP::get(T, APFloat(Kind, Bits));
}

Value *settledNaN(IRBuilder<> &B, Value *X) {
  return B.CreateSelect(B.CreateFCmpUNO(X, X), nanOf(X->getType()), X);
}

void Settler::run() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Instruction &I : instructions(F))
      if (isReal(I))
        if (const Nature N = resultOf(I); N != Known.lookup(&I)) {
          Known[&I] = N;
          Changed = true;
        }
  }
  SmallVector<Use *> Shown;
  for (Instruction &I : instructions(F))
    if (isReal(I) && of(I) == Nature::Made)
      for (Use &U : I.uses())
        if (shows(U))
          Shown.push_back(&U);
  // A PHI has as many operands of one block as there are ways from it.
  DenseMap<std::pair<const Value *, const Instruction *>, Value *> Done;
  for (Use *U : Shown) {
    auto *Before = cast<Instruction>(U->getUser());
    if (auto *Phi = dyn_cast<PHINode>(Before))
      Before = Phi->getIncomingBlock(*U)->getTerminator();
    else if (isa<CallBase>(Before))
      // A collective stays at the beginning of its block.
      Before = &**cast<Instruction>(U->get())->getInsertionPointAfterDef();
    Value *&One = Done[{U->get(), Before}];
    if (!One) {
      B.SetInsertPoint(Before);
      One = settledNaN(B, U->get());
    }
    U->set(One);
  }
}

void settleNaNs(Function &F) { Settler(F).run(); }

} // namespace reconverge::warpvm
