//===- remedies/meld/Meld.h - Control-flow melding -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_MELD_H
#define RECONVERGE_REMEDIES_MELD_MELD_H

#include "remedies/meld/Options.h"

#include <cstdint>
#include <map>

namespace llvm {
class Function;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::remedies {

/// What was done to one function.
struct MeldResult {
  unsigned Branches = 0;     ///< melded
  unsigned Instructions = 0; ///< pairs that became one
  double Saved = 0;          ///< estimated issue slots
  /// Of one branch: the estimate, what its arms took one after the other, and what
  /// a warp that goes one way pays.
  struct Share {
    double Saved = 0, Before = 0, Extra = 0;
  };
  std::map<uint32_t, Share> ByBranch; ///< by number (!rc.branch)
};

/// Melds the arms of divergent branches of \p F where that pays; leaves \p F as
/// it was if it melds none. Address spaces should be known by then
/// (InferAddressSpaces); SimplifyCFG would undo it. Each branch gets a remark:
/// melded, or why not.
MeldResult meldFunction(llvm::Function &F, const MeldOptions &Options,
                        llvm::OptimizationRemarkEmitter &Remarks);

} // namespace reconverge::remedies

#endif
