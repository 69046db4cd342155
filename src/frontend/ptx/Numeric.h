//===- frontend/ptx/Numeric.h - Parts of floating-point rows ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_NUMERIC_H
#define RECONVERGE_FRONTEND_PTX_NUMERIC_H

#include "frontend/ptx/Lowering.h"

namespace reconverge::frontend::ptx {

/// \p V, or a zero of its sign where it is denormal (.ftz).
llvm::Value *flush(Lowering &L, llvm::Value *V);

/// \p V clamped to [0, 1]; NaN becomes 0 (.sat).
llvm::Value *saturate(Lowering &L, llvm::Value *V);

/// abs and neg, min and max of every floating-point type.
void emitFloatSign(Lowering &L);
void emitFloatMinMax(Lowering &L);

/// The call of the NVVM intrinsic "llvm.nvvm." + \p Name; refuses if LLVM has
/// none of that name.
llvm::Value *nvvm(Lowering &L, const llvm::Twine &Name,
                  llvm::ArrayRef<llvm::Value *> Args, llvm::Type *Result);

} // namespace reconverge::frontend::ptx

#endif
