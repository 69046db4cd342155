//===- remedies/herd/Rewrite.h - Votes at branches --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_REWRITE_H
#define RECONVERGE_REMEDIES_HERD_REWRITE_H

#include "remedies/herd/Legality.h"

namespace llvm {
class IRBuilderBase;
} // namespace llvm

namespace reconverge::remedies::herd {

/// Follows \p Plan of \p F. If not null, u32 \p Counter gets to know how many
/// threads were dropped somewhere.
void rewrite(const HerdPlan &Plan, llvm::Function &F,
             llvm::Value *Counter = nullptr);

/// How many lanes \p Votes (u32) are.
llvm::Value *countOf(llvm::IRBuilderBase &B, llvm::Value *Votes,
                     const HerdOptions &Options);
} // namespace reconverge::remedies::herd

#endif
