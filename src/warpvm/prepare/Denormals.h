//===- warpvm/prepare/Denormals.h - -ftz=true -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_PREPARE_DENORMALS_H
#define RECONVERGE_WARPVM_PREPARE_DENORMALS_H

#include "llvm/IR/Function.h"

namespace reconverge::warpvm {

/// Writes out the flushing of single-precision denormals to zero in \p F, if it
/// was compiled with -ftz=true; its vectors must have been unpacked.
void flushDenormals(llvm::Function &F);

} // namespace reconverge::warpvm

#endif
