//===- remedies/remap/Rewrite.h - The round itself -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_REWRITE_H
#define RECONVERGE_REMEDIES_REMAP_REWRITE_H

#include "remedies/remap/Options.h"
#include "remedies/remap/Plan.h"

namespace reconverge::remedies::remap {

/// Inserts a round. \p Memory is what rounds of the kernel share; made, or made
/// larger, here.
void rewrite(const RoundPlan &Plan, const RemapOptions &Options,
             RoundMemory &Memory);

} // namespace reconverge::remedies::remap

#endif
