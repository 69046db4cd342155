//===- remedies/meld/Refusals.h - Why melding does not apply ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_REFUSALS_H
#define RECONVERGE_REMEDIES_MELD_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::meld::refuse {
#define REFUSALS "remedies/meld/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::meld::refuse

#endif
