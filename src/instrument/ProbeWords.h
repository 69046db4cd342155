//===- instrument/ProbeWords.h - How counters are kept ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_PROBEWORDS_H
#define RECONVERGE_INSTRUMENT_PROBEWORDS_H

#include "instrument/ProbePlan.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Dominators.h"

namespace reconverge::instrument {

/// Gives each counter of \p P, which is of \p F and has all else, its word.
void assignWords(ProbePlan &P, const llvm::Function &F,
                 const llvm::CycleInfo &Cycles,
                 const llvm::DominatorTree &Dominators);

} // namespace reconverge::instrument

#endif
