//===- rewrite/Refusals.h - Why a round is not written ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_REFUSALS_H
#define RECONVERGE_REWRITE_REFUSALS_H

#include "remedies/common/Refusal.h"

namespace reconverge::rewrite::refuse {
using remedies::RefusalKind;
#define REFUSALS "rewrite/Refusals.def"
#include "remedies/common/Refusals.inc"
} // namespace reconverge::rewrite::refuse

#endif
