//===- remedies/meld/Matching.h - Two instructions as one ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_MATCHING_H
#define RECONVERGE_REMEDIES_MELD_MATCHING_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace reconverge::remedies::meld {

/// How an instruction of one arm becomes one with an instruction of the other.
struct Fit {
  /// Operand K of the first goes with operand Operand[K] of the second.
  llvm::SmallVector<uint8_t, 4> Operand;
  bool Invert = false; ///< the second's result is the negation of the first's
};

/// Every way in which \p A and \p B can be one instruction, the plain one
/// first; none if they cannot.
llvm::SmallVector<Fit, 2> fitsOf(const llvm::Instruction &A,
                                 const llvm::Instruction &B);

/// Operand \p K of \p I where it is to be one with \p With: what is subtracted
/// there and added here changes its sign.
llvm::Value *operandOf(const llvm::Instruction &I, unsigned K,
                       const llvm::Instruction &With);

/// Addresses \p A and \p B lie in the same kind of memory, as far as is known
/// of either, so that a select of them is as good as each. True for other
/// values.
bool sameHome(const llvm::Value &A, const llvm::Value &B);

/// Equal for any two instructions that fit; different for most others.
uint64_t kindOf(const llvm::Instruction &I);

/// A copy of \p A that does for lanes of either arm what \p A and \p B do, but
/// for the operands, which stay those of \p A. It is not in a block yet.
llvm::Instruction *combine(const llvm::Instruction &A,
                           const llvm::Instruction &B);

/// Issue slots of \p I, waiting included as far as warps cannot hide it.
double weightOf(const llvm::Instruction &I);

/// Running \p I with any operands at all does no harm.
bool isHarmless(const llvm::Instruction &I);

/// \p V negated without a new instruction, if it is a negation already.
llvm::Value *withoutNot(llvm::Value &V);

} // namespace reconverge::remedies::meld

#endif
