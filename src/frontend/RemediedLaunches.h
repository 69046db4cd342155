//===- frontend/RemediedLaunches.h - Launches that choose -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_REMEDIEDLAUNCHES_H
#define RECONVERGE_FRONTEND_REMEDIEDLAUNCHES_H

#include "frontend/Remedied.h"

#include "llvm/IR/PassManager.h"

namespace reconverge::frontend {

/// On host code: registers remedied kernels and has launches choose.
class RemediedLaunchesPass : public llvm::PassInfoMixin<RemediedLaunchesPass> {
public:
  explicit RemediedLaunchesPass(std::vector<RemediedKernel> Kernels)
      : Kernels(std::move(Kernels)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  /// At -O0 too.
  static bool isRequired() { return true; }

private:
  std::vector<RemediedKernel> Kernels;
};

} // namespace reconverge::frontend

#endif
