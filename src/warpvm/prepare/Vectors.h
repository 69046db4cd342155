//===- warpvm/prepare/Vectors.h - Nothing but scalars in a lane -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_VECTORS_H
#define RECONVERGE_WARPVM_PREPARE_VECTORS_H

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Rewrites what the Scalarizer would leave as vectors: bitcasts that change
/// the number of elements, intrinsics on pairs of halves, reductions. Run
/// before the Scalarizer.
void unpackVectors(llvm::Function &F);

} // namespace reconverge::warpvm

#endif
