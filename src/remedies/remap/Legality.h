//===- remedies/remap/Legality.h - Which branches get a round --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_LEGALITY_H
#define RECONVERGE_REMEDIES_REMAP_LEGALITY_H

#include "remedies/common/Refusal.h"
#include "remedies/remap/Control.h"
#include "remedies/remap/Options.h"
#include "remedies/remap/Plan.h"

namespace reconverge::remedies::remap {

/// \p BB ends in a divergent branch or switch that has had no round.
bool isCandidate(const llvm::BasicBlock &BB, const Facts &Now);

/// A pragma asks for a round at the end of \p BB.
bool isAsked(const llvm::BasicBlock &BB);

/// \p BB is to get a round, or its user to be told why not: by what the source
/// says, or as one of those that \p Options choose.
bool isWanted(const llvm::BasicBlock &BB, const Facts &Now,
              const RemapOptions &Options);

/// Of a candidate. \p Memory is what rounds of this kernel use already.
PlanOr<RoundPlan> planRound(llvm::BasicBlock &BB, const Facts &Now,
                            const RemapOptions &Options,
                            const RoundMemory &Memory);

} // namespace reconverge::remedies::remap

#endif
