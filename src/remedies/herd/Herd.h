//===- remedies/herd/Herd.h - As most lanes want ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_HERD_H
#define RECONVERGE_REMEDIES_HERD_HERD_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"
#include "remedies/herd/Options.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// One branch that is herded.
struct HerdedBranch {
  llvm::DebugLoc Where;
  bool OfLoop;
  HerdOptions Options; ///< what the source says of it among them
};

struct Herded {
  llvm::SmallVector<HerdedBranch> Branches; ///< empty: nothing was changed
  llvm::SmallVector<Refusal> Others;        ///< HerdPlan::Others
  bool ReachesMemory = false;
  std::string Registers; ///< WarpCost::note()
  Recipe Launch;         ///< plain, unless it counts (HerdOptions::Stop)
};

/// Has the lanes of \p F that come together to branches go the way that most of
/// them want: those that are too few are dropped. Where they are counted, a
/// kernel of the same name takes the place of \p F.
Herded herdFunction(llvm::Function &F, const HerdOptions &Options);

} // namespace reconverge::remedies

#endif
