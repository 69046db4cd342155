//===- rewrite/Rounds.h - Which rounds to write -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_ROUNDS_H
#define RECONVERGE_REWRITE_ROUNDS_H

#include "remedies/remap/Options.h"
#include "rewrite/Orders.h"

namespace reconverge::rewrite {

/// Plans a round for kernel \p F, at each of the branches that the pass would
/// give one if it were the first.
void orderRounds(llvm::Function &F, const remedies::RemapOptions &Options,
                 Ordered &Result);

} // namespace reconverge::rewrite

#endif
