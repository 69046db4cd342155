//===- remedies/common/Reachable.h - What may come after ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_REACHABLE_H
#define RECONVERGE_REMEDIES_COMMON_REACHABLE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
class Instruction;
} // namespace llvm

namespace reconverge::remedies {

/// Asks which instructions of a function are reachable from others; what it
/// learns of a block it keeps, so the blocks must stay as they are. LLVM's
/// isPotentiallyReachable() says yes of any two once it has looked at 32 blocks,
/// and kernels have more.
class Reachable {
public:
  /// Whether \p To may come behind \p From; an instruction itself does.
  bool operator()(const llvm::Instruction &From, const llvm::Instruction &To);

private:
  using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock *, 16>;
  llvm::DenseMap<const llvm::BasicBlock *, Blocks> Behind;
};

} // namespace reconverge::remedies

#endif
