//===- rewrite/Origin.h - Where code stands in the source -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_ORIGIN_H
#define RECONVERGE_REWRITE_ORIGIN_H

#include "remedies/remap/Plan.h"
#include "rewrite/Rounds.h"

namespace llvm {
class BasicBlock;
class DILocation;
} // namespace llvm

namespace reconverge::rewrite {

/// Of a branch, or of its condition where the branch has lost it; may be null.
const llvm::DILocation *locationOf(const llvm::BasicBlock &BB);

/// The calls by which the branch of \p BB has come into its kernel, outermost
/// first, and the branch itself. Empty: part of it is lost.
std::vector<Place> chainOf(const llvm::BasicBlock &BB);

/// The branches of the first tree of \p Plan.
std::vector<Place> choicesOf(const remedies::remap::RoundPlan &Plan);

/// \p Why the branch of \p BB gets nothing, in the kernel's own text.
Missed missedAt(const llvm::BasicBlock &BB, const remedies::Refusal &Why);

} // namespace reconverge::rewrite

#endif
