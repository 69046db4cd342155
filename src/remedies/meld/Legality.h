//===- remedies/meld/Legality.h - Which branches meld ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_LEGALITY_H
#define RECONVERGE_REMEDIES_MELD_LEGALITY_H

#include "remedies/common/Refusal.h"
#include "remedies/meld/Options.h"
#include "remedies/meld/Plan.h"

#include "llvm/Analysis/CycleAnalysis.h"

namespace reconverge::analysis {
class UniformityResult;
} // namespace reconverge::analysis

namespace reconverge::remedies::meld {

/// What is known of a function, its regions simplified.
struct FunctionFacts {
  const analysis::PostDominance &Dominance;
  const analysis::UniformityResult &Uniformity;
  const llvm::CycleInfo &Cycles;
};

/// The metadata on branches that melding made: they guard what has no partner,
/// and are not looked at again.
inline constexpr llvm::StringLiteral GuardKind = "rc.guard";

/// \p BB ends in a divergent two-way branch with code on both sides.
bool isCandidate(const llvm::BasicBlock &BB, const FunctionFacts &Facts);

/// Of a candidate.
PlanOr<MeldPlan> planMeld(llvm::BasicBlock &Branch, const FunctionFacts &Facts,
                          const MeldOptions &Options);

} // namespace reconverge::remedies::meld

#endif
