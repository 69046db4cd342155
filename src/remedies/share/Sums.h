//===- remedies/share/Sums.h - What may be added in any order ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_SUMS_H
#define RECONVERGE_REMEDIES_SHARE_SUMS_H

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llvm {
class Constant;
class IRBuilderBase;
class Instruction;
class Loop;
class LoopInfo;
class PHINode;
class Value;
} // namespace llvm

namespace reconverge::remedies::share {

/// A value that a loop carries, and each iteration adds to: integers, by one
/// operation that is associative and commutes.
struct Sum {
  llvm::PHINode *Phi;                           ///< of the loop's header
  llvm::SmallVector<llvm::Instruction *> Steps; ///< of an iteration
  llvm::Instruction *result() const { return Steps.back(); }
};

/// Whether \p Phi of the header of \p L is one, that nothing else needs.
std::optional<Sum> sumOf(llvm::PHINode &Phi, const llvm::Loop &L,
                         const llvm::LoopInfo &Loops);

/// What changes nothing.
llvm::Constant *neutral(const Sum &Of);
llvm::Value *combine(llvm::IRBuilderBase &B, const Sum &Of, llvm::Value *X,
                     llvm::Value *Y);

/// \p V of this lane and those behind it up to lane \p Last, by all 32 lanes
/// together.
llvm::Value *sumBehind(llvm::IRBuilderBase &B, const Sum &Of, llvm::Value *V,
                       llvm::Value *Lane, llvm::Value *Last);

} // namespace reconverge::remedies::share

#endif
