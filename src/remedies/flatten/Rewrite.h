//===- remedies/flatten/Rewrite.h - Two loops become one --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_REWRITE_H
#define RECONVERGE_REMEDIES_FLATTEN_REWRITE_H

#include "remedies/flatten/Legality.h"

namespace reconverge::remedies::flatten {

/// Follows \p Plan of \p F.
void rewrite(const FlattenPlan &Plan, llvm::Function &F);

} // namespace reconverge::remedies::flatten

#endif
