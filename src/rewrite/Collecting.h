//===- rewrite/Collecting.h - Which kernels to collect ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_COLLECTING_H
#define RECONVERGE_REWRITE_COLLECTING_H

#include "remedies/collect/Options.h"
#include "rewrite/Orders.h"

namespace reconverge::rewrite {

/// Plans how the threads of kernel \p F become items of block_collect: by each
/// of the branches that the pass would make paths of.
void orderCollecting(llvm::Function &F, const remedies::CollectOptions &Options,
                     Ordered &Result);

} // namespace reconverge::rewrite

#endif
