//===- frontend/FormFma.h - Form fused multiply-adds once -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_FORMFMA_H
#define RECONVERGE_FRONTEND_FORMFMA_H

#include "llvm/IR/PassManager.h"

namespace reconverge::frontend {

/// Turns multiplications and the additions that use them into llvm.fma where
/// the source allows contraction, then forbids it to every later stage.
class FormFmaPass : public llvm::PassInfoMixin<FormFmaPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &AM);
  static bool isRequired() { return true; }
};

} // namespace reconverge::frontend

#endif
