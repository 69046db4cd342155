//===- frontend/Conversions.h - Numbers converted as by nvcc ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_CONVERSIONS_H
#define RECONVERGE_FRONTEND_CONVERSIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Puts conversions that LLVM 19 would get wrong, or do otherwise than nvcc,
/// into forms that it leaves alone. To be run before any pass of LLVM's.
void settleConversions(llvm::Module &M);

/// Makes one instruction of what took several, for the printer.
void joinConversions(llvm::Module &M);

} // namespace reconverge::frontend

#endif
