//===- warpvm/emit/Math.h - NVVM's arithmetic on host values ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_MATH_H
#define RECONVERGE_WARPVM_EMIT_MATH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace reconverge::warpvm {

/// Calls a function of the VM's library once a lane with a directed rounding:
/// (operation name, rounding mode "rz" "rm" "rp", operands, type of the result,
/// float or double or a vector of it) -> result.
using RoundedCall = llvm::function_ref<llvm::Value *(
    llvm::StringRef, llvm::StringRef, llvm::ArrayRef<llvm::Value *>,
    llvm::Type *)>;

/// \p X, a float, as an integer of type \p T, cut off, as the hardware does it:
/// what does not fit becomes the nearest number that does. NaN becomes 0, or
/// the sign bit alone where \p X is a double or \p T has 64 bits.
llvm::Value *convertToInteger(llvm::IRBuilder<> &B, llvm::Value *X,
                              llvm::Type *T, bool Signed);

/// The arithmetic that `llvm.nvvm.<name>` stands for ("fma.rn.f",
/// "ex2.approx.ftz.f", "mulhi.ui", ...), on scalars or vectors alike; null if
/// the name is not arithmetic that the VM knows.
llvm::Value *emitNvvmMath(llvm::IRBuilder<> &B, llvm::StringRef Name,
                          llvm::ArrayRef<llvm::Value *> Args,
                          RoundedCall Rounded);

} // namespace reconverge::warpvm

#endif
