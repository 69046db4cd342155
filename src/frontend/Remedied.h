//===- frontend/Remedied.h - Kernels with a remedy, beside the original -*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_REMEDIED_H
#define RECONVERGE_FRONTEND_REMEDIED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Which launches a remedy is for: those like the ones that it was tried on.
struct LaunchBounds {
  uint64_t Threads = 0; ///< most of a block
  uint64_t Shared = 0;  ///< most bytes of dynamic shared memory
};

/// A kernel that a program has twice.
struct RemediedKernel {
  std::string Kernel;   ///< as it was; what the host's stub is registered for
  std::string Remedied; ///< with the remedy
  LaunchBounds Bounds;  ///< of launches that take the remedied one
  uint64_t Static = 0;  ///< its bytes of static shared memory
  /// What is launched in its place (launch/RecipeText.h); empty: itself.
  std::string Recipe;
};

/// A copy of \p Kernel beside it in its module, a kernel too, with the same
/// launch bounds, to apply a remedy to. The host's code takes it for launches
/// inside \p Bounds.
llvm::Function &copyForRemedy(llvm::Function &Kernel,
                              const LaunchBounds &Bounds);

/// Those copies in \p M, in its order.
std::vector<RemediedKernel> remediedKernels(const llvm::Module &M);

/// As the pass reads it: "kernel/remedied/threads/shared/static/recipe;...".
std::string printRemedied(llvm::ArrayRef<RemediedKernel> Kernels);
llvm::Expected<std::vector<RemediedKernel>> parseRemedied(llvm::StringRef Text);

} // namespace reconverge::frontend

#endif
