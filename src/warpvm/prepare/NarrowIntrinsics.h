//===- warpvm/prepare/NarrowIntrinsics.h - NVVM on 16 bits ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_NARROWINTRINSICS_H
#define RECONVERGE_WARPVM_PREPARE_NARROWINTRINSICS_H

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Rewrites NVVM's intrinsics on halves, bfloats and pairs of them, and those
/// that convert to them, as LLVM's own operations on scalars or vectors; so too
/// minima and maxima of floats that combine signs.
void lowerNarrowIntrinsics(llvm::Function &F);

} // namespace reconverge::warpvm

#endif
