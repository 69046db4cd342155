//===- frontend/Registers.h - Registers of kernels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_REGISTERS_H
#define RECONVERGE_FRONTEND_REGISTERS_H

#include "core/RegisterUse.h"
#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/StringMap.h"

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Kernel (mangled) -> registers of a thread.
using RegisterCounts = llvm::StringMap<RegisterUse>;

/// What `ptxas -v` says in \p Log.
RegisterCounts parseRegisters(llvm::StringRef Log);

/// Machine code of \p M, which has been through the device pipeline, to the
/// file \p Cubin; intermediate files lie beside it. Runs ptxas, whose messages
/// are not shown.
llvm::Expected<RegisterCounts> assemble(const llvm::Module &M,
                                        const CompileOptions &Options,
                                        const CudaToolkit &Cuda,
                                        const std::string &Cubin);

/// The most registers that a thread of a kernel of \p M takes, and whether
/// one spills.
llvm::Expected<RegisterUse> countRegisters(const llvm::Module &M,
                                           const CompileOptions &Options,
                                           const Toolchain &Tools);

} // namespace reconverge::frontend

#endif
