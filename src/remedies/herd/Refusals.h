//===- remedies/herd/Refusals.h - Why herding does not apply ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_REFUSALS_H
#define RECONVERGE_REMEDIES_HERD_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::herd::refuse {
#define REFUSALS "remedies/herd/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::herd::refuse

#endif
