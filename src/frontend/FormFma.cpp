//===- frontend/FormFma.cpp - Form fused multiply-adds once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang leaves the forming of fused multiply-adds to the code generator and
// nvcc leaves it to ptxas. Both look at one layout of the code, so that the
// same multiply and add fuse in one version of a kernel and not in another,
// and the last bits of the results differ. We therefore form them here, once,
// on the bitcode that every variant and every device starts from:
//
//   1. In program order, each fadd or fsub that has the `contract` flag looks
//      for an operand that is a product: an fmul with `contract`, or one
//      negation of it.
//
//        x*y + z      fma(x, y, z)           x*y - z      fma(x, y, -z)
//        z - x*y      fma(-x, y, z)          -(x*y) + z   fma(-x, y, z)
//
//   2. The product is taken if fusing makes the fmul disappear: every use of it
//      is such an addition, all of them in one block, which is in no loop that
//      the fmul is not in. One that is also stored, compared, multiplied or
//      passed on has to be rounded anyway, and the sum that uses it stays
//      consistent with it. Of two products the one with fewer uses is taken,
//      then the left one.
//   3. Products without a use are removed.
//   4. `contract` is taken off every instruction, and code generation runs with
//      contraction off: what is not fused here is never fused.
//
// Rule 2 is what ptxas does with nvcc's code. It was read off its machine code
// for sm_90 (CUDA 13.0) on a kernel for each of these shapes, and results then
// agreed to the last bit.
//
// llvm.fmuladd, which clang emits for -ffp-contract=on, is permission given for
// one expression: it always becomes an fma, as it does with nvcc.
//
// The rewrite is legal because `contract` on both instructions is the source
// language's permission to skip the rounding in between. The new call stands
// where the addition stood, which the product and so its operands dominate.
// Other fast-math flags are kept where both instructions had them.
//
// Limitation: products that reach their sum through a PHI, a select or a
// conversion between precisions are not fused.
//
//===----------------------------------------------------------------------===//

#include "frontend/FormFma.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::frontend {

static bool hasFusedForm(const Type *T) {
  const Type *Scalar = T->getScalarType();
  return Scalar->isHalfTy() || Scalar->isBFloatTy() || Scalar->isFloatTy() ||
         Scalar->isDoubleTy();
}

static bool isContractible(const Instruction &I, unsigned Opcode) {
  return I.getOpcode() == Opcode && I.hasAllowContract();
}

static bool isSum(const User *U) {
  auto *I = dyn_cast<Instruction>(U);
  return I && (isContractible(*I, Instruction::FAdd) ||
               isContractible(*I, Instruction::FSub));
}

namespace {
/// An operand of a sum that is a product.
struct Product {
  Instruction *Mul = nullptr;
  bool Negated = false;
  explicit operator bool() const { return Mul; }
};
} // namespace

static Product productOf(Value *V) {
  Product P;
  if (auto *Neg = dyn_cast<UnaryOperator>(V);
      Neg && Neg->getOpcode() == Instruction::FNeg) {
    P.Negated = true;
    V = Neg->getOperand(0);
  }
  if (auto *Mul = dyn_cast<Instruction>(V);
      Mul && isContractible(*Mul, Instruction::FMul))
    P.Mul = Mul;
  return P;
}

/// Whether fusing removes \p Mul, and adds no work to a loop.
static bool canDisappear(const Instruction &Mul, const LoopInfo &Loops) {
  const BasicBlock *Home = nullptr;
  auto IsSumAtHome = [&](const User *U) {
    if (!isSum(U))
      return false;
    const BasicBlock *Block = cast<Instruction>(U)->getParent();
    if (!Home)
      Home = Block;
    return Block == Home;
  };
  for (const User *U : Mul.users()) {
    auto *Neg = dyn_cast<UnaryOperator>(U);
    bool Negated = Neg && Neg->getOpcode() == Instruction::FNeg;
    if (Negated ? !all_of(Neg->users(), IsSumAtHome) : !IsSumAtHome(U))
      return false;
  }
  if (!Home)
    return false;
  const Loop *Around = Loops.getLoopFor(Home);
  return !Around || Around->contains(Mul.getParent());
}

/// The product to fuse into \p Sum and the operand that it is.
static std::pair<Product, unsigned> choose(Instruction &Sum,
                                           const LoopInfo &Loops) {
  Product Found[2];
  for (unsigned Operand : {0u, 1u})
    if (Product P = productOf(Sum.getOperand(Operand));
        P && canDisappear(*P.Mul, Loops))
      Found[Operand] = P;
  bool Right = !Found[0] || (Found[1] && Found[1].Mul->getNumUses() <
                                             Found[0].Mul->getNumUses());
  return {Found[Right], Right};
}

static void fuse(Instruction &Sum, Product P, unsigned Operand) {
  IRBuilder<> Builder(&Sum);
  FastMathFlags Flags = Sum.getFastMathFlags();
  Flags &= P.Mul->getFastMathFlags();

  bool Subtract = Sum.getOpcode() == Instruction::FSub;
  bool NegateProduct = P.Negated != (Subtract && Operand == 1);
  bool NegateAddend = Subtract && Operand == 0;
  Value *X = P.Mul->getOperand(0), *Y = P.Mul->getOperand(1);
  Value *Z = Sum.getOperand(1 - Operand);
  if (NegateProduct)
    X = Builder.CreateFNeg(X);
  if (NegateAddend)
    Z = Builder.CreateFNeg(Z);
  CallInst *Fma =
      Builder.CreateIntrinsic(Intrinsic::fma, {Sum.getType()}, {X, Y, Z});
  Fma->setFastMathFlags(Flags);
  Fma->takeName(&Sum);
  Sum.replaceAllUsesWith(Fma);
}

PreservedAnalyses FormFmaPass::run(Function &F, FunctionAnalysisManager &AM) {
  const LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  SmallVector<WeakTrackingVH> Fused;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (auto *MulAdd = dyn_cast<IntrinsicInst>(&I);
        MulAdd && MulAdd->getIntrinsicID() == Intrinsic::fmuladd) {
      MulAdd->setCalledFunction(Intrinsic::getDeclaration(
          F.getParent(), Intrinsic::fma, {MulAdd->getType()}));
      continue;
    }
    if (!isSum(&I) || !hasFusedForm(I.getType()))
      continue;
    if (auto [P, Operand] = choose(I, Loops); P) {
      fuse(I, P, Operand);
      Fused.push_back(&I);
    }
  }
  // Removing a sum removes the product and the negation that only it used.
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Fused);

  for (Instruction &I : instructions(F))
    if (isa<FPMathOperator>(I) && I.hasAllowContract())
      I.setHasAllowContract(false);

  PreservedAnalyses Preserved;
  Preserved.preserveSet<CFGAnalyses>();
  return Preserved;
}

} // namespace reconverge::frontend
