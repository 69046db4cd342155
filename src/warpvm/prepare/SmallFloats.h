//===- warpvm/prepare/SmallFloats.h - Numbers of 8 bits, TF32 ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_SMALLFLOATS_H
#define RECONVERGE_WARPVM_PREPARE_SMALLFLOATS_H

namespace llvm {
class Function;
}

namespace reconverge::warpvm {

/// Rewrites conversions from and to E4M3, E5M2 and TF32 as plain arithmetic.
void lowerSmallFloats(llvm::Function &F);

} // namespace reconverge::warpvm

#endif
