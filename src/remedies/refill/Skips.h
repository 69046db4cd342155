//===- remedies/refill/Skips.h - Rounds that skip some work -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_SKIPS_H
#define RECONVERGE_REMEDIES_REFILL_SKIPS_H

namespace llvm {
class BasicBlock;
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace reconverge::remedies::refill {

/// A branch in a loop by which lanes work, or skip the work.
struct Skip {
  llvm::BasicBlock *Work = nullptr;  ///< where the work begins; null: no skip
  llvm::BasicBlock *Other = nullptr; ///< the branch's other side
};

/// What \p Branch, the end of a block, skips in its innermost loop.
Skip findSkip(llvm::BasicBlock &Branch, const llvm::LoopInfo &Loops,
              const llvm::DominatorTree &Dominance);

/// Makes a loop in the loop of \p Header of the rounds that do not come to the
/// work. Its header is \p Header, and the work is behind one of its exits.
void separateSkips(const Skip &From, llvm::BasicBlock &Header);

} // namespace reconverge::remedies::refill

#endif
