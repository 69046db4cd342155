//===- frontend/Registers.h - Registers of kernels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_REGISTERS_H
#define RECONVERGE_FRONTEND_REGISTERS_H

#include "frontend/Options.h"
#include "frontend/Toolchain.h"

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// The most registers that a thread of a kernel of \p M takes, which has been
/// through the device pipeline. Runs ptxas, whose messages are not shown.
llvm::Expected<unsigned> countRegisters(const llvm::Module &M,
                                        const CompileOptions &Options,
                                        const Toolchain &Tools);

} // namespace reconverge::frontend

#endif
