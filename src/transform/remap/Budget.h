//===- transform/remap/Budget.h - Shared memory for a round -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_REMAP_BUDGET_H
#define RECONVERGE_TRANSFORM_REMAP_BUDGET_H

#include "transform/common/Refusal.h"
#include "transform/remap/Plan.h"

#include <optional>

namespace reconverge::transform::remap {

/// Chooses Plan.Threads, the largest block that there is shared memory for;
/// refuses if there is none for any. \p Memory is what rounds of the kernel use
/// already. \p MayLower: also if fewer blocks then fit on a processor.
std::optional<Refusal> planBudget(RoundPlan &Plan, const RemapOptions &Options,
                                  const RoundMemory &Memory, bool MayLower);

} // namespace reconverge::transform::remap

#endif
