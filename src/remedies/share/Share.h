//===- remedies/share/Share.h - A loop dealt out over lanes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_SHARE_H
#define RECONVERGE_REMEDIES_SHARE_SHARE_H

#include "remedies/common/Refusal.h"
#include "remedies/share/Options.h"

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

struct Shared {
  llvm::DebugLoc Where;  ///< of the loop
  ShareOptions Options;  ///< what the source says of the loop among them
  std::string Registers; ///< WarpCost::note()
};

/// Has lanes of \p F run iterations of one another's loop.
PlanOr<Shared> shareFunction(llvm::Function &F, const ShareOptions &Options);

} // namespace reconverge::remedies

#endif
