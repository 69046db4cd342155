//===- remedies/meld/Rewrite.h - Two arms into one -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_REWRITE_H
#define RECONVERGE_REMEDIES_MELD_REWRITE_H

#include "remedies/meld/Options.h"
#include "remedies/meld/Plan.h"

namespace reconverge::remedies::meld {

/// Carries out \p Plan. It cannot fail; the plan's blocks are gone afterwards.
void rewrite(const MeldPlan &Plan, const MeldOptions &Options);

} // namespace reconverge::remedies::meld

#endif
