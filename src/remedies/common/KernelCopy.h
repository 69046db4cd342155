//===- remedies/common/KernelCopy.h - A kernel to try things on -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_KERNELCOPY_H
#define RECONVERGE_REMEDIES_COMMON_KERNELCOPY_H

#include <memory>
#include <utility>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::remedies {

/// Kernel \p F in a module of its own, without the other kernels: what a
/// RegisterCounter counts.
std::pair<std::unique_ptr<llvm::Module>, llvm::Function *>
copyAlone(const llvm::Function &F);

} // namespace reconverge::remedies

#endif
