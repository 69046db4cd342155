//===- remedies/collect/Rewrite.h - A kernel that collects ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COLLECT_REWRITE_H
#define RECONVERGE_REMEDIES_COLLECT_REWRITE_H

#include "remedies/collect/Plan.h"

namespace reconverge::remedies::collect {

/// Bytes of shared memory that the kernel now has. \p F: the kernel that \p Plan
/// is of, with four parameters from number \p First on: the blocks of the
/// program's launch, and its grid in three dimensions; all i32 but the first.
uint64_t rewrite(const CollectPlan &Plan, llvm::Function &F, unsigned First);

} // namespace reconverge::remedies::collect

#endif
