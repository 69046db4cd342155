//===- frontend/Widths.cpp - How wide numbers are -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine computes in 32 bits, and pointers have 64. LLVM extends an index
// where it likes, and narrows what is known to fit in 16 bits or 8.
//
//   extended PHIs     phi(zext a, zext b) is zext(phi(a, b)): one register for
//                     two, and the narrow PHI is often there already
//
//   signed indices    Of A[I - 1], A[I - 2] LLVM knows that the second is not
//                     negative, and so extends it without its sign. Constants
//                     are split off an address only through one of the two
//                     extensions, so neighbours would have an address each. An
//                     index that is not negative can be extended by its sign;
//                     so can A[I] beside them, where it is tested that I >= 0
//
//   short arithmetic  sext(srem i16 x, 6) is srem i32 (sext x), 6, and so for
//                     quotients, and for sums, differences and products that do
//                     not wrap. In 16 bits, each step would be followed by an
//                     extension of its result
//
// A short quotient or remainder by a constant is what the long one is, but for
// the least number by -1, which is left alone.
//
//===----------------------------------------------------------------------===//

#include "frontend/Widths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

/// What \p Phi is the extension of on every way, all in one manner, or nothing.
static SmallVector<Value *> narrowValues(const PHINode &Phi) {
  SmallVector<Value *> Narrow;
  auto *First = dyn_cast<CastInst>(Phi.getIncomingValue(0));
  if (!First || !isa<ZExtInst, SExtInst>(First))
    return {};
  for (const Value *V : Phi.incoming_values()) {
    auto *Extend = dyn_cast<CastInst>(V);
    if (!Extend || Extend->getOpcode() != First->getOpcode() ||
        Extend->getSrcTy() != First->getSrcTy())
      return {};
    Narrow.push_back(Extend->getOperand(0));
  }
  return Narrow;
}

static PHINode *findOrCreatePhi(PHINode &Like, ArrayRef<Value *> Values) {
  for (PHINode &Other : Like.getParent()->phis())
    if (Other.getType() == Values.front()->getType() &&
        all_of(zip(Like.blocks(), Values), [&](const auto &In) {
          return Other.getIncomingValueForBlock(std::get<0>(In)) ==
                 std::get<1>(In);
        }))
      return &Other;
  PHINode *Phi = PHINode::Create(Values.front()->getType(), Values.size(), "",
                                 Like.getIterator());
  for (auto [From, V] : zip(Like.blocks(), Values))
    Phi->addIncoming(V, From);
  return Phi;
}

static void extendBehindPhis(Function &F) {
  SmallVector<WeakTrackingVH> Dead;
  for (BasicBlock &Block : F)
    for (PHINode &Phi : make_early_inc_range(Block.phis())) {
      SmallVector<Value *> Narrow = narrowValues(Phi);
      if (!Phi.getType()->isIntegerTy(64) || Narrow.empty())
        continue;
      auto *First = cast<CastInst>(Phi.getIncomingValue(0));
      PHINode *Same = findOrCreatePhi(Phi, Narrow);
      Instruction *Extended =
          CastInst::Create(First->getOpcode(), Same, Phi.getType(), "",
                           Block.getFirstInsertionPt());
      if (isa<ZExtInst>(First))
        Extended->setNonNeg(all_of(Phi.incoming_values(), [](const Value *V) {
          return cast<Instruction>(V)->hasNonNeg();
        }));
      append_range(Dead, Phi.incoming_values());
      Phi.replaceAllUsesWith(Extended);
      Phi.eraseFromParent();
    }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead);
}

/// Whether \p V is a sum with a constant of which LLVM knows no more than that it
/// does not wrap with its sign.
static bool isNeighbour(const Value *V) {
  return match(V, m_NSWAdd(m_Value(), m_ConstantInt())) &&
         !match(V, m_NUWAdd(m_Value(), m_Value()));
}

static bool isExtended(const Value *V) {
  return any_of(V->users(), [](const User *U) {
    const auto *Extend = dyn_cast<ZExtInst>(U);
    return isa<SExtInst>(U) || (Extend && Extend->hasNonNeg());
  });
}

/// Whether \p V, or a neighbour of it, is extended by its sign, too.
static bool isSigned(const Value *V) {
  return isNeighbour(V) || any_of(V->users(), [](const User *U) {
           return isa<SExtInst>(U) || (isNeighbour(U) && isExtended(U));
         });
}

static void extendIndicesBySign(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Extend = dyn_cast<ZExtInst>(&I);
        Extend && Extend->hasNonNeg() && Extend->getType()->isIntegerTy(64) &&
        isSigned(Extend->getOperand(0))) {
      auto *Signed = new SExtInst(Extend->getOperand(0), Extend->getType(), "",
                                  Extend->getIterator());
      Signed->setDebugLoc(Extend->getDebugLoc());
      Signed->takeName(Extend);
      Extend->replaceAllUsesWith(Signed);
      Extend->eraseFromParent();
    }
}

/// Whether \p I, of short integers, is the same computed in 32 bits of its
/// operands extended by their sign.
static bool isSameInWords(const Instruction &I) {
  const APInt *Divisor;
  switch (I.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::SRem:
    return match(I.getOperand(1), m_APInt(Divisor)) && !Divisor->isZero() &&
           !Divisor->isAllOnes();
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
    return I.hasNoSignedWrap();
  default:
    return false;
  }
}

namespace {
/// Short integers, in 32 bits.
class Words {
public:
  /// \p V extended by its sign.
  Value *of(Value *V) {
    if (Value *Known = Made.lookup(V))
      return Known;
    Value *Word = nullptr;
    auto *I = dyn_cast<Instruction>(V);
    if (auto *C = dyn_cast<ConstantInt>(V)) {
      Word = ConstantInt::get(Type::getInt32Ty(V->getContext()),
                              C->getSExtValue(), true);
    } else if (I && isSameInWords(*I)) {
      Value *A = of(I->getOperand(0)), *B = of(I->getOperand(1));
      auto *Wide =
          BinaryOperator::Create(BinaryOperator::BinaryOps(I->getOpcode()), A,
                                 B, "", I->getIterator());
      Wide->setDebugLoc(I->getDebugLoc());
      Word = Wide;
    } else {
      const auto At = I ? I->getInsertionPointAfterDef() : std::nullopt;
      if (!At)
        return nullptr;
      Word = new SExtInst(V, Type::getInt32Ty(V->getContext()), "", *At);
    }
    Made[V] = Word;
    return Word;
  }

private:
  DenseMap<Value *, Value *> Made;
};
} // namespace

/// Whether \p V can be had in words: what stands at its leaves must.
static bool hasWords(const Value *V) {
  if (isa<ConstantInt>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->isTerminator())
    return false;
  return !isSameInWords(*I) ||
         (hasWords(I->getOperand(0)) && hasWords(I->getOperand(1)));
}

static void computeInWords(Function &F) {
  SmallVector<SExtInst *> Extended;
  for (Instruction &I : instructions(F))
    if (auto *Extend = dyn_cast<SExtInst>(&I);
        Extend &&
        (Extend->getSrcTy()->isIntegerTy(16) ||
         Extend->getSrcTy()->isIntegerTy(8)) &&
        (Extend->getType()->isIntegerTy(32) ||
         Extend->getType()->isIntegerTy(64)))
      if (auto *Short = dyn_cast<Instruction>(Extend->getOperand(0));
          Short && isSameInWords(*Short) && hasWords(Short))
        Extended.push_back(Extend);
  Words InWords;
  SmallVector<WeakTrackingVH> Dead;
  for (SExtInst *Extend : Extended) {
    Value *Word = InWords.of(Extend->getOperand(0));
    if (Extend->getType()->isIntegerTy(64))
      Word = new SExtInst(Word, Extend->getType(), "", Extend->getIterator());
    Extend->replaceAllUsesWith(Word);
    Dead.push_back(Extend);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead);
}

void fitWidths(Function &F) {
  extendBehindPhis(F);
  extendIndicesBySign(F);
  computeInWords(F);
}

} // namespace reconverge::frontend
