//===- remedies/refill/Refusals.h - Why refilling does not apply *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_REFUSALS_H
#define RECONVERGE_REMEDIES_REFILL_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::refill::refuse {
#define REFUSALS "remedies/refill/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::refill::refuse

#endif
