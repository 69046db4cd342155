//===- remedies/remap/Refusals.h - Why remapping does not apply -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_REFUSALS_H
#define RECONVERGE_REMEDIES_REMAP_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::remedies::remap::refuse {
#define REFUSALS "remedies/remap/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::remap::refuse

#endif
