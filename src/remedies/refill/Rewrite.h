//===- remedies/refill/Rewrite.h - A kernel that refills lanes --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_REWRITE_H
#define RECONVERGE_REMEDIES_REFILL_REWRITE_H

#include "remedies/refill/Legality.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::refill {

/// Has the kernel that \p Plan is of run all items of a launch. \p Kernel is
/// that kernel with parameters of ours from number \p First on: items (i64);
/// gridDim and blockDim of the program's launch (six i32); with
/// ItemSource::Counter, the address of a number (i32) that is 0 at first.
/// It is launched with blocks of whole warps, in one dimension unless the plan
/// has a prologue, which has been taken out.
void rewrite(const RefillPlan &Plan, llvm::Function &Kernel, unsigned First,
             const RefillOptions &Options);

} // namespace reconverge::remedies::refill

#endif
