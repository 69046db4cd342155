//===- remedies/share/Refusals.h - Why sharing does not apply ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_REFUSALS_H
#define RECONVERGE_REMEDIES_SHARE_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::share::refuse {
#define REFUSALS "remedies/share/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::share::refuse

#endif
