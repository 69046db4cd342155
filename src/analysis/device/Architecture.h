//===- analysis/device/Architecture.h - What code is for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_DEVICE_ARCHITECTURE_H
#define RECONVERGE_ANALYSIS_DEVICE_ARCHITECTURE_H

#include <optional>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::analysis {

/// NN of sm_NN that \p F was compiled for, by its attribute "target-cpu"; none
/// if it does not say.
std::optional<unsigned> architectureOf(const llvm::Function &F);

/// The newest of those of \p M; 0 if no function says.
unsigned newestArchitecture(const llvm::Module &M);

} // namespace reconverge::analysis

#endif
