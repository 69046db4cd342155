//===- frontend/Products.cpp - Products and what is added to them ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   U * Cosine[A] + V * Sine[A] + Middle
//
// A GPU multiplies and adds in one instruction. LLVM adds what stays the same in a
// loop last: (U * C + V * S) + M is a product, a product with a sum, and a sum.
// As V * S + (U * C + M) it is two instructions.
//
//   sums        The products of a sum, each used by nothing else, are added one by
//               one to the sum of its other terms. Shifts by a constant are
//               products, too. A constant is left where it is, as it may be part of
//               an address
//
//   low bits    (X + M) >> 12 beside X & 4095 keeps X alive. LLVM makes it of
//               (X + M) & 4095 where the low bits of M are zeros, which saves
//               nothing here: the mask is put on the sum again
//
// Back projection, whose pixels sum up such places, takes 0.96 of its time on an H200.
//
// This comes last before instructions are selected, as sums in another order may
// wrap, and who looks for steps of addresses has to know that they do not.
//
// Limitation: 32 bits only. ptxas makes more of products of 64 bits than one
// instruction, unless their factors have 32.
//
//===----------------------------------------------------------------------===//

#include "frontend/Products.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

/// How many terms a sum has at most.
static constexpr size_t MostTerms = 8;

/// A mask of low bits is put on the sum of \p Mask's operand, where there is one.
static void maskSum(BinaryOperator &Mask) {
  const APInt *Bits;
  Value *X;
  if (!match(&Mask, m_And(m_Value(X), m_LowBitMask(Bits))) || isa<Constant>(X))
    return;
  for (User *U : X->users()) {
    auto *Sum = dyn_cast<BinaryOperator>(U);
    Value *More;
    if (!Sum || !match(Sum, m_c_Add(m_Specific(X), m_Value(More))) ||
        Sum->getParent() != Mask.getParent() || !Sum->comesBefore(&Mask))
      continue;
    const KnownBits Known = computeKnownBits(More, Mask.getDataLayout());
    if (Known.countMinTrailingZeros() < Bits->countr_one())
      continue;
    Sum->dropPoisonGeneratingFlags();
    Mask.setOperand(0, Sum);
    return;
  }
}

/// Whether \p V is computed for \p User alone, beside it.
static bool isOnlyFor(const Value *V, const Instruction &User) {
  const auto *I = dyn_cast<Instruction>(V);
  return I && I->hasOneUse() && I->getParent() == User.getParent();
}

static bool isProduct(const Value *V) {
  return match(V, m_CombineOr(m_Mul(m_Value(), m_Value()),
                              m_Shl(m_Value(), m_ConstantInt())));
}

namespace {
struct Terms {
  SmallVector<Value *, MostTerms> Products, Others;
  bool HasSumOfProducts = false;
};
} // namespace

/// In the order in which they stand; false if \p Sum is to stay as it is.
static bool findTerms(BinaryOperator &Sum, Terms &Found) {
  unsigned Products = 0;
  for (Value *V : Sum.operands()) {
    if (isa<Constant>(V))
      return false;
    if (isOnlyFor(V, Sum) && match(V, m_Add(m_Value(), m_Value()))) {
      if (!findTerms(*cast<BinaryOperator>(V), Found))
        return false;
    } else if (isOnlyFor(V, Sum) && isProduct(V)) {
      Found.Products.push_back(V);
      ++Products;
    } else {
      Found.Others.push_back(V);
    }
  }
  Found.HasSumOfProducts |= Products == 2;
  return Found.Products.size() + Found.Others.size() <= MostTerms;
}

static void addOneByOne(BinaryOperator &Sum) {
  Terms Found;
  if (!findTerms(Sum, Found) || !Found.HasSumOfProducts || Found.Others.empty())
    return;
  IRBuilder<> B(&Sum);
  Value *Before = nullptr;
  for (Value *V : concat<Value *>(Found.Others, Found.Products))
    Before = Before ? B.CreateAdd(V, Before) : V;
  Before->takeName(&Sum);
  Sum.replaceAllUsesWith(Before);
  RecursivelyDeleteTriviallyDeadInstructions(&Sum);
}

static void addToProducts(Function &F) {
  SmallVector<WeakTrackingVH> Sums;
  for (Instruction &I : instructions(F)) {
    auto *By = dyn_cast<BinaryOperator>(&I);
    if (!By || !By->getType()->isIntegerTy(32))
      continue;
    if (By->getOpcode() == Instruction::And)
      maskSum(*By);
    else if (By->getOpcode() == Instruction::Add)
      Sums.push_back(By);
  }
  // The whole of a sum comes after its parts.
  for (const WeakTrackingVH &Sum : reverse(Sums))
    if (Sum)
      addOneByOne(*cast<BinaryOperator>(Sum));
}

namespace {
class Products : public FunctionPass {
public:
  static char ID;
  Products() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "Products in sums"; }

  void getAnalysisUsage(AnalysisUsage &Uses) const override {
    Uses.setPreservesCFG();
  }

  bool runOnFunction(Function &F) override {
    addToProducts(F);
    return true;
  }
};

char Products::ID = 0;
} // namespace

void addToProducts(TargetPassConfig &Passes) {
  const std::unique_ptr<Pass> Last(createCodeGenPrepareLegacyPass());
  Passes.insertPass(Last->getPassID(), new Products());
}

} // namespace reconverge::frontend
