//===- frontend/Target.h - The NVPTX code generator -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_TARGET_H
#define RECONVERGE_FRONTEND_TARGET_H

#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace reconverge::frontend {

/// A target machine for sm_\p Arch, with floating-point contraction off. The
/// optimiser needs it to know that branches can diverge; the PTX printer is the
/// same one.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTarget(const llvm::Module &M, unsigned Arch, unsigned OptLevel);

} // namespace reconverge::frontend

#endif
