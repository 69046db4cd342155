//===- remedies/reorder_blocks/Refusals.h - Why it does not apply -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REORDER_BLOCKS_REFUSALS_H
#define RECONVERGE_REMEDIES_REORDER_BLOCKS_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::reorder_blocks::refuse {
#define REFUSALS "remedies/reorder_blocks/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::reorder_blocks::refuse

#endif
