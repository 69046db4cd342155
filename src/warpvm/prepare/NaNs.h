//===- warpvm/prepare/NaNs.h - One NaN for each type ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_NANS_H
#define RECONVERGE_WARPVM_PREPARE_NANS_H

#include "llvm/IR/IRBuilder.h"

namespace reconverge::warpvm {

/// Makes every NaN that \p F computes its type's one NaN wherever the bits of the
/// NaN can be seen. Values of \p F must be scalars.
void settleNaNs(llvm::Function &F);

/// \p X, a real number, or the one NaN of its type if it is any.
llvm::Value *settledNaN(llvm::IRBuilder<> &B, llvm::Value *X);

} // namespace reconverge::warpvm

#endif
