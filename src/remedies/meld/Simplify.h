//===- remedies/meld/Simplify.h - One way in, one way out ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_SIMPLIFY_H
#define RECONVERGE_REMEDIES_MELD_SIMPLIFY_H

#include <memory>

namespace llvm {
class BasicBlock;
class Function;
class SwitchInst;
} // namespace llvm

namespace reconverge::remedies::meld {

/// Brings \p F into a form in which every if and every loop has one edge in and
/// a block of its own where it ends. Adds empty blocks and PHIs, and drops
/// assumptions.
void simplifyRegions(llvm::Function &F);

/// Rewrites \p Switch as a chain of two-way branches, in the order of its
/// cases, cases of the same destination together. All but the last successor
/// that a value can reach are tested for.
void lowerSwitch(llvm::SwitchInst &Switch);

/// If \p Branch is the first of several that decide between two arms, which
/// meet at \p Join: the block, a new one, in which that decision is a single
/// branch. Null, and nothing done, otherwise.
llvm::BasicBlock *gatherDecision(llvm::BasicBlock &Branch,
                                 const llvm::BasicBlock &Join);

/// Code that both sides of \p Branch come to before \p Join gets a copy for the
/// second side. False, and nothing done, if there is none, if it can be entered
/// from elsewhere, or if it must not be copied.
bool unshareArms(llvm::BasicBlock &Branch, const llvm::BasicBlock &Join);

/// Undoes what building regions and melding left behind, on the whole function:
/// dead code, PHIs with one value, blocks that only pass control on. Never
/// threads a condition through a block, which would undo the melding.
void cleanUp(llvm::Function &F);

/// Optimises \p F, in which something has been melded, with what melding has
/// made visible.
void polish(llvm::Function &F);

/// A copy of a function's body, to go back to.
class Backup {
public:
  explicit Backup(llvm::Function &F);
  ~Backup();
  void restore();

private:
  llvm::Function &F;
  std::unique_ptr<llvm::Function> Copy;
};

} // namespace reconverge::remedies::meld

#endif
