//===- remedies/remap/Remap.h - Thread-data remapping ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_REMAP_H
#define RECONVERGE_REMEDIES_REMAP_REMAP_H

#include "remedies/remap/Options.h"
#include "remedies/remap/Plan.h"

namespace llvm {
class Function;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::remedies {

/// Puts a round before divergent branches of kernel \p F; leaves \p F as it was
/// if there is none. Each branch gets a remark: remapped, or why not. Returns
/// the number of rounds. Comes late, after inlining; what has been remapped
/// once is left alone.
unsigned remapFunction(llvm::Function &F, const RemapOptions &Options,
                       llvm::OptimizationRemarkEmitter &Remarks);

/// The same of a copy that is only for measuring: nobody counts registers, and
/// there are no remarks.
remap::Rounds makeRounds(llvm::Function &Copy, const RemapOptions &Options);

} // namespace reconverge::remedies

#endif
