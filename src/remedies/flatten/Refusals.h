//===- remedies/flatten/Refusals.h - Why flattening does not apply *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_REFUSALS_H
#define RECONVERGE_REMEDIES_FLATTEN_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::flatten::refuse {
#define REFUSALS "remedies/flatten/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::flatten::refuse

#endif
