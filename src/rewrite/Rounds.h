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

/// The same for kernel \p F with the rounds \p Done, in this order: at branches
/// that have none yet.
std::vector<Order> orderFurther(const llvm::Function &F,
                                const remedies::RemapOptions &Options,
                                llvm::ArrayRef<Order> Done);

} // namespace reconverge::rewrite

#endif
