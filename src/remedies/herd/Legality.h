//===- remedies/herd/Legality.h - What may be herded ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_LEGALITY_H
#define RECONVERGE_REMEDIES_HERD_LEGALITY_H

#include "remedies/common/Refusal.h"
#include "remedies/herd/Options.h"
#include "remedies/herd/Safety.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class DominatorTree;
class Function;
class PHINode;
class Value;
} // namespace llvm

namespace reconverge::remedies::herd {

/// One branch at which lanes vote.
struct HerdPoint {
  llvm::BasicBlock *Branch; ///< it is at the end of this
  HerdOptions Options;      ///< what the source says of it among them
  /// If it leaves a loop: the loop's header, and by which successor. Else null.
  llvm::BasicBlock *Header = nullptr;
  unsigned Out = 0;
  /// Else: where the sides meet, and from which side, by number, lanes may be
  /// dropped; from none: all lanes take one side (Options.TwoWays).
  llvm::BasicBlock *Join = nullptr;
  bool Drops[2] = {false, false};
  /// Options.ByMachine: who wants the other side may be sent to that side, by
  /// number.
  bool Sends[2] = {false, false};
};

struct HerdPlan {
  llvm::SmallVector<HerdPoint> Points; ///< each behind those that dominate it
  /// Why other branches that could be meant stay as they are; of the kernel as a
  /// whole, if there is but one reason.
  llvm::SmallVector<Refusal> Others;
  bool ReachesMemory = false;           ///< reachesMemory()
  llvm::SmallVector<Uncertain> Sources; ///< of all points
};

/// Of \p F, which is canonical (Masks.h).
HerdPlan planHerd(llvm::Function &F, const HerdOptions &Options);

/// What \p Phi, where the sides of the branch at the end of \p Branch meet, is
/// for a lane that is dropped from that side; null: nothing.
llvm::Value *valueFromOtherSide(const llvm::PHINode &Phi,
                                const llvm::BasicBlock &Branch, unsigned Side,
                                const llvm::DominatorTree &Dominance);

} // namespace reconverge::remedies::herd

#endif
