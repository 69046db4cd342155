//===- remedies/meld/Matching.cpp - Two instructions as one --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two instructions are one if the same machine instruction does both once its
// operands are chosen for each lane. That is: the same operation on the same
// types, and what is no operand (predicate, indices, ordering, callee, rounding
// permissions) is equal. Four liberties:
//
//   * operands of commutative operations trade places;
//   * a comparison goes with its mirror image (a < b with b > a), and with its
//     negation, whose result is then inverted;
//   * `or disjoint` is an addition, and so is a subtraction of a constant if
//     the other side adds;
//   * a shift to the left by a constant is a multiplication if the other side
//     multiplies.
//
// Floating-point permissions that change a result (reassociation, reciprocals,
// approximations, contraction) must be equal, so that each lane computes the
// same bits as before. Flags, metadata and attributes that promise something
// about a value are kept only where both sides promise it.
//
// Pointers: a select of two addresses is as good as the space that is known for
// both. Addresses of different spaces make no pair, even hidden behind casts to
// generic pointers; nor do those of different by-value parameters, which a
// select would force into local memory.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Matching.h"

#include "analysis/Costs.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

#include <numeric>

using namespace llvm;

namespace reconverge::remedies::meld {

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// The operation that \p I can stand in for, which needs another constant.
static unsigned opcodeOf(const Instruction &I) {
  const auto *Or = dyn_cast<PossiblyDisjointInst>(&I);
  if (Or && Or->isDisjoint())
    return Instruction::Add;
  const auto *By = I.getNumOperands() == 2
                       ? dyn_cast<ConstantInt>(I.getOperand(1))
                       : nullptr;
  if (By && I.getOpcode() == Instruction::Sub)
    return Instruction::Add;
  if (By && I.getOpcode() == Instruction::Shl &&
      By->getValue().ult(By->getBitWidth()))
    return Instruction::Mul;
  return I.getOpcode();
}

Value *operandOf(const Instruction &I, unsigned K, const Instruction &With) {
  const auto *By = dyn_cast<ConstantInt>(I.getOperand(K));
  if (!By || K != 1 || I.getOpcode() == With.getOpcode())
    return I.getOperand(K);
  const APInt &C = By->getValue();
  if (I.getOpcode() == Instruction::Sub)
    return ConstantInt::get(By->getType(), -C);
  if (I.getOpcode() == Instruction::Shl)
    return ConstantInt::get(
        By->getType(),
        APInt::getOneBitSet(C.getBitWidth(), unsigned(C.getZExtValue())));
  return I.getOperand(K);
}

uint64_t kindOf(const Instruction &I) {
  unsigned Opcode = opcodeOf(I);
  if (Opcode == Instruction::Sub || Opcode == Instruction::Shl)
    Opcode = Opcode == Instruction::Sub ? Instruction::Add : Instruction::Mul;
  hash_code Hash = hash_combine(Opcode, I.getType(), I.getNumOperands());
  if (const auto *Call = dyn_cast<CallBase>(&I))
    Hash = hash_combine(Hash, Call->getCalledOperand());
  else if (const auto *Store = dyn_cast<StoreInst>(&I))
    Hash = hash_combine(Hash, Store->getValueOperand()->getType());
  if (const Value *Pointer = getLoadStorePointerOperand(&I))
    Hash = hash_combine(Hash, Pointer->getType());
  return Hash;
}

/// Where memory behind \p V lies, as far as its type or what it is made from
/// tells: equal results can share an access.
static std::pair<unsigned, const Value *> homeOf(const Value *V) {
  const Value *Object = getUnderlyingObject(V);
  while (const auto *Cast = dyn_cast<AddrSpaceCastOperator>(Object))
    Object = getUnderlyingObject(Cast->getPointerOperand());
  const auto *A = dyn_cast<Argument>(Object);
  return {Object->getType()->getPointerAddressSpace(),
          A && A->hasByValAttr() ? Object : nullptr};
}

bool sameHome(const Value &A, const Value &B) {
  return !A.getType()->isPointerTy() || homeOf(&A) == homeOf(&B);
}

/// Operand \p K of \p A and the value \p Other can be chosen between.
static bool canChoose(const Instruction &A, unsigned K, const Value &Mine,
                      const Value &Other) {
  if (&Mine == &Other)
    return true;
  Type *T = Mine.getType();
  if (T->isMetadataTy() || T->isTokenTy() || T->isLabelTy() ||
      !canReplaceOperandWithVariable(&A, K))
    return false;
  return sameHome(Mine, Other);
}

/// Attributes that promise, and can be taken away.
static AttributeMask promises() {
  AttributeMask Mask = AttributeFuncs::getUBImplyingAttributes();
  for (auto Kind :
       {Attribute::NonNull, Attribute::Range, Attribute::Alignment,
        Attribute::NoFPClass, Attribute::NoAlias, Attribute::NoCapture,
        Attribute::ReadOnly, Attribute::ReadNone, Attribute::WriteOnly,
        Attribute::NoFree, Attribute::Returned})
    Mask.addAttribute(Kind);
  return Mask;
}

static AttributeList withoutPromises(const CallBase &Call) {
  static const AttributeMask Mask = promises();
  LLVMContext &C = Call.getContext();
  AttributeList List = Call.getAttributes().removeRetAttributes(C, Mask);
  for (unsigned I = 0; I != Call.arg_size(); ++I)
    List = List.removeParamAttributes(C, I, Mask);
  return List;
}

static bool sameCall(const CallBase &A, const CallBase &B) {
  return isa<CallInst>(A) && isa<CallInst>(B) && !A.isInlineAsm() &&
         A.getCalledOperand() == B.getCalledOperand() &&
         A.getFunctionType() == B.getFunctionType() &&
         A.getCallingConv() == B.getCallingConv() && !A.hasOperandBundles() &&
         !B.hasOperandBundles() && withoutPromises(A) == withoutPromises(B);
}

/// All that is no operand, apart from predicates.
static bool sameOperation(const Instruction &A, const Instruction &B) {
  if ((A.getOpcode() != B.getOpcode() && opcodeOf(A) != opcodeOf(B)) ||
      A.getType() != B.getType() || A.getNumOperands() != B.getNumOperands())
    return false;
  for (unsigned K = 0; K != A.getNumOperands(); ++K)
    if (A.getOperand(K)->getType() != B.getOperand(K)->getType())
      return false;
  if (isa<FPMathOperator>(A)) {
    FastMathFlags X = A.getFastMathFlags(), Y = B.getFastMathFlags();
    if (X.allowReassoc() != Y.allowReassoc() ||
        X.allowReciprocal() != Y.allowReciprocal() ||
        X.allowContract() != Y.allowContract() ||
        X.approxFunc() != Y.approxFunc() ||
        A.getMetadata(LLVMContext::MD_fpmath) !=
            B.getMetadata(LLVMContext::MD_fpmath))
      return false;
  }
  if (A.getOpcode() != B.getOpcode() || isa<CmpInst>(A))
    return true;
  if (isa<PHINode>(A) || isa<AllocaInst>(A) || A.isTerminator() || A.isEHPad())
    return false;
  if (const auto *Call = dyn_cast<CallBase>(&A))
    return sameCall(*Call, cast<CallBase>(B));
  return A.hasSameSpecialState(&B, /*IgnoreAlignment=*/true);
}

static bool allChosen(const Instruction &A, const Instruction &B,
                      const Fit &F) {
  for (unsigned K = 0; K != A.getNumOperands(); ++K)
    if (const unsigned L = F.Operand[K];
        !canChoose(A, K, *operandOf(A, K, B), *operandOf(B, L, A)) ||
        !canChoose(B, L, *operandOf(B, L, A), *operandOf(A, K, B)))
      return false;
  return true;
}

SmallVector<Fit, 2> fitsOf(const Instruction &A, const Instruction &B) {
  SmallVector<Fit, 2> Fits;
  if (!sameOperation(A, B))
    return Fits;
  Fit Straight;
  Straight.Operand.resize(A.getNumOperands());
  std::iota(Straight.Operand.begin(), Straight.Operand.end(), uint8_t(0));
  Fit Swapped = Straight;
  if (A.getNumOperands() >= 2)
    std::swap(Swapped.Operand[0], Swapped.Operand[1]);
  auto Offer = [&](Fit F, bool Invert) {
    F.Invert = Invert;
    if (A.getNumOperands() <= 255 && allChosen(A, B, F))
      Fits.push_back(std::move(F));
  };
  if (const auto *Cmp = dyn_cast<CmpInst>(&A)) {
    const auto P = Cmp->getPredicate(), Q = cast<CmpInst>(B).getPredicate();
    for (bool Invert : {false, true}) {
      auto R = Invert ? CmpInst::getInversePredicate(Q) : Q;
      if (Invert && !A.getType()->isIntegerTy(1))
        continue;
      if (P == R)
        Offer(Straight, Invert);
      if (P == CmpInst::getSwappedPredicate(R))
        Offer(Swapped, Invert);
    }
    return Fits;
  }
  Offer(Straight, false);
  if (A.isCommutative() && B.isCommutative())
    Offer(Swapped, false);
  return Fits;
}

Instruction *combine(const Instruction &A, const Instruction &B) {
  Instruction *I = A.clone();
  if (A.getOpcode() != B.getOpcode()) { // no flags
    I->deleteValue();
    I = BinaryOperator::Create(Instruction::BinaryOps(opcodeOf(A)),
                               A.getOperand(0), A.getOperand(1));
    I->setDebugLoc(A.getDebugLoc());
  } else {
    I->andIRFlags(&B);
    combineMetadataForCSE(I, &B, /*DoesKMove=*/true);
  }
  if (auto *Load = dyn_cast<LoadInst>(I))
    Load->setAlignment(
        std::min(Load->getAlign(), cast<LoadInst>(B).getAlign()));
  else if (auto *Store = dyn_cast<StoreInst>(I))
    Store->setAlignment(
        std::min(Store->getAlign(), cast<StoreInst>(B).getAlign()));
  else if (auto *Rmw = dyn_cast<AtomicRMWInst>(I))
    Rmw->setAlignment(
        std::min(Rmw->getAlign(), cast<AtomicRMWInst>(B).getAlign()));
  else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(I))
    Swap->setAlignment(
        std::min(Swap->getAlign(), cast<AtomicCmpXchgInst>(B).getAlign()));
  else if (auto *Call = dyn_cast<CallInst>(I)) {
    const auto &Other = cast<CallInst>(B);
    if (Call->getAttributes() != Other.getAttributes())
      Call->setAttributes(withoutPromises(*Call));
    if (Call->getTailCallKind() != Other.getTailCallKind())
      Call->setTailCallKind(CallInst::TCK_None);
  }
  I->applyMergedLocation(A.getDebugLoc(), B.getDebugLoc());
  return I;
}

//===----------------------------------------------------------------------===//
// What it costs
//===----------------------------------------------------------------------===//

/// By the family of the instruction class: what comes before the first dot.
/// Relative to one 32-bit addition. Accesses weigh more than the slot that they
/// take: the warp waits, and the two arms wait one after the other.
static double weightOfClass(StringRef Class) {
  const bool Wide = Class.ends_with("64");
  if (Class.starts_with("ld.") || Class.starts_with("st.")) {
    StringRef Space = Class.drop_front(3);
    return Space == "shared" || Space == "const" ? 6
           : Space == "local"                    ? 8
                                                 : 12;
  }
  if (Class == "div.approx.f32")
    return 6;
  double Base = StringSwitch<double>(Class.split('.').first)
                    .Case("atom", 16)
                    .Case("call", 24)
                    .Case("div", 16)
                    .Case("rem", 18)
                    .Cases("sqrt", "rsqrt", "rcp", 8)
                    .Cases("sin", "cos", "exp", "exp2", "log", "log2", 6)
                    .Case("tanh", 6)
                    .Cases("pow", "tan", 20)
                    .Case("mul", Wide && !Class.ends_with("f64") ? 2 : 1)
                    .Case("switch", 4)
                    .Case("fence", 20)
                    .Default(1);
  return Wide ? 2 * Base : Base;
}

double weightOf(const Instruction &I) {
  if (!analysis::countsAsInstruction(I))
    return I.getOpcode() == Instruction::GetElementPtr ? 0.5 : 0;
  double Weight = weightOfClass(analysis::classOf(I));
  const auto *V = dyn_cast<FixedVectorType>(I.getType());
  return V && !I.mayReadOrWriteMemory() ? Weight * V->getNumElements() : Weight;
}

bool isHarmless(const Instruction &I) {
  if (I.mayReadOrWriteMemory() || isa<PHINode>(I) || I.isTerminator())
    return false;
  if (isa<CallBase>(I) && !isa<IntrinsicInst>(I))
    return false;
  return isSafeToSpeculativelyExecute(&I);
}

Value *withoutNot(Value &V) {
  auto *Not = dyn_cast<BinaryOperator>(&V);
  if (Not && Not->getOpcode() == Instruction::Xor)
    if (const auto *C = dyn_cast<ConstantInt>(Not->getOperand(1)))
      if (C->isMinusOne())
        return Not->getOperand(0);
  return nullptr;
}

} // namespace reconverge::remedies::meld
