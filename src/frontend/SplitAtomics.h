//===- frontend/SplitAtomics.h - Shared 64-bit sums by halves ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_SPLITATOMICS_H
#define RECONVERGE_FRONTEND_SPLITATOMICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"

namespace reconverge::frontend {

/// On an atomicrmw whose operand is zero nearly always, of which nobody wants
/// the result: whoever prints it may skip it then.
inline constexpr llvm::StringLiteral OftenZeroKind = "reconverge.often.zero";

/// Turns 64-bit atomic additions to shared memory into two of 32 bits, where
/// nobody can see one half without the other. Wants the whole program's device
/// code in one module.
class SplitAtomicsPass : public llvm::PassInfoMixin<SplitAtomicsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
};

} // namespace reconverge::frontend

#endif
