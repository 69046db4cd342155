//===- remedies/common/ItemRefusals.h - Ties to places ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_ITEMREFUSALS_H
#define RECONVERGE_REMEDIES_COMMON_ITEMREFUSALS_H

#include "remedies/common/Refusal.h"

/// What ties the threads or the blocks of a kernel to their places.
namespace reconverge::remedies::tied {
#define REFUSALS "remedies/common/ItemRefusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::remedies::tied

#endif
