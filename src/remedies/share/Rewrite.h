//===- remedies/share/Rewrite.h - A loop dealt out --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_REWRITE_H
#define RECONVERGE_REMEDIES_SHARE_REWRITE_H

#include "remedies/share/Legality.h"

namespace reconverge::remedies::share {

/// Follows \p Plan of \p F.
void rewrite(const SharePlan &Plan, llvm::Function &F);

} // namespace reconverge::remedies::share

#endif
