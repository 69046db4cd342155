//===- remedies/regroup/Refusals.h - Why it does not apply ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_REFUSALS_H
#define RECONVERGE_REMEDIES_REGROUP_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::regroup::refuse {
#define REFUSALS "remedies/regroup/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::regroup::refuse

#endif
