//===- remedies/meld/Alignment.h - Which code goes together ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_ALIGNMENT_H
#define RECONVERGE_REMEDIES_MELD_ALIGNMENT_H

#include "remedies/meld/Options.h"
#include "remedies/meld/Plan.h"

namespace reconverge::remedies::meld {

/// The alignment of the two arms of \p Plan that saves most, in Plan.Code, with
/// Plan.Before and Plan.Melded. False if the arms are too large to compare.
bool alignArms(MeldPlan &Plan, const MeldOptions &Options);

} // namespace reconverge::remedies::meld

#endif
