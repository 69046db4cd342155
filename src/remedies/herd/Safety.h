//===- remedies/herd/Safety.h - What a dropped lane may not spoil -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_SAFETY_H
#define RECONVERGE_REMEDIES_HERD_SAFETY_H

#include "remedies/common/Refusal.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llvm {
class BasicBlock;
class Function;
class Value;
} // namespace llvm

namespace reconverge::remedies::herd {

/// What herding at one place makes uncertain.
struct Uncertain {
  /// Phis that may have another way's value.
  llvm::SmallVector<const llvm::Instruction *> Values;
  /// Blocks whose stores may not happen.
  llvm::SmallVector<const llvm::BasicBlock *> Skipped;
  /// The end of a block that may lead elsewhere than in the original, but for
  /// those in Skipped; null: only past Skipped.
  const llvm::BasicBlock *Decides = nullptr;
  /// The end of a block that may go on with a loop that it should leave.
  const llvm::BasicBlock *GoesOn = nullptr;
  bool Once = false; ///< a thread comes to it once at most
};

/// What in \p F, whose loops are canonical, could fault or hang by all of
/// \p From, or none.
std::optional<Refusal> dangerOf(llvm::Function &F,
                                llvm::ArrayRef<Uncertain> From);

/// Whether what may be skipped by \p From writes to other memory than threads'
/// own and shared variables.
bool reachesMemory(llvm::ArrayRef<Uncertain> From);

} // namespace reconverge::remedies::herd

#endif
