//===- remedies/common/Controlled.h - What hangs on a branch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_CONTROLLED_H
#define RECONVERGE_REMEDIES_COMMON_CONTROLLED_H

#include "analysis/Regions.h"

namespace reconverge::remedies {

/// Instructions that the branch or switch at the end of \p Branch controls,
/// those of a loop counted eight times.
uint64_t instructionsBehind(const llvm::BasicBlock &Branch,
                            const analysis::PostDominance &Dominance,
                            const llvm::CycleInfo &Cycles);

/// \p BB does nothing but return, perhaps through others that do nothing.
bool onlyReturns(const llvm::BasicBlock &BB);

} // namespace reconverge::remedies

#endif
