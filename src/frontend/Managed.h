//===- frontend/Managed.h - __managed__ variables ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_MANAGED_H
#define RECONVERGE_FRONTEND_MANAGED_H

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

namespace reconverge::frontend {

/// In device code, tells the back end which variables are managed. An initial
/// value that is the address of one is refused.
llvm::Error markManagedVariables(llvm::Module &M);

/// Whether that found some in \p M.
bool hasManagedVariables(const llvm::Module &M);

/// The same for device code that clang takes all the way; in host code, has all
/// uses of managed variables go to the memory that both sides share. The first
/// pass of all.
class ManagedVariablesPass : public llvm::PassInfoMixin<ManagedVariablesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  static bool isRequired() { return true; }
};

} // namespace reconverge::frontend

#endif
