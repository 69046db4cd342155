//===- warpvm/prepare/Halves.h - Arithmetic of 16 bits ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_HALVES_H
#define RECONVERGE_WARPVM_PREPARE_HALVES_H

#include "llvm/IR/IRBuilder.h"

namespace reconverge::warpvm {

/// Rewrites what hosts do not do, or do not do exactly, on half and bfloat:
/// all arithmetic of bfloat, fused multiply-adds of both, conversions from
/// wider types; loads and stores of either become those of i16. Run on scalars
/// (after the Scalarizer).
void lowerHalves(llvm::Function &F);

/// A bfloat, or a vector of them, as float: exact.
llvm::Value *extendBfloat(llvm::IRBuilder<> &B, llvm::Value *X);
/// The nearest bfloat to a float, ties to even; NaN gives PTX's 0x7fff.
llvm::Value *roundToBfloat(llvm::IRBuilder<> &B, llvm::Value *X);

} // namespace reconverge::warpvm

#endif
