//===- remedies/collect/Refusals.h - Why collecting does not apply *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_REFUSALS_H
#define RECONVERGE_REMEDIES_COLLECT_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::collect::refuse {
#define REFUSALS "remedies/collect/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::collect::refuse

#endif
