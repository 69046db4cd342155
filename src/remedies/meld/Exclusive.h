//===- remedies/meld/Exclusive.h - Two one-sided ifs as two arms -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_EXCLUSIVE_H
#define RECONVERGE_REMEDIES_MELD_EXCLUSIVE_H

#include "remedies/meld/Structure.h"

namespace reconverge::remedies::meld {

/// `if (c) A; ...; if (d) B;` of which no lane takes both A and B.
struct ExclusiveIfs {
  llvm::BasicBlock *Branch = nullptr;   ///< decides on A
  llvm::BasicBlock *FirstEnd = nullptr; ///< the last block of A
  llvm::BasicBlock *Middle = nullptr;   ///< decides on B
  llvm::BasicBlock *Join = nullptr;     ///< after B
  bool Complete = false;                ///< lanes that do not take A take B
  bool SecondTaken = false; ///< what the condition of Middle's branch is for B
};

/// Of regions that are simplified. Nothing if \p Branch is no such if, or if
/// what stands between the two must not move up over A.
std::optional<ExclusiveIfs>
findExclusiveIfs(llvm::BasicBlock &Branch,
                 const analysis::PostDominance &Dominance);

/// Makes A and B the arms of the first branch.
void makeTwoArms(const ExclusiveIfs &Ifs);

} // namespace reconverge::remedies::meld

#endif
