//===- runtime/gpu/Registers.h - What ptxas allots --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_REGISTERS_H
#define RECONVERGE_RUNTIME_GPU_REGISTERS_H

#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace reconverge::gpu {

/// Kernel (mangled) -> registers of a thread.
using RegisterCounts = llvm::StringMap<unsigned>;

/// What `ptxas -v` says in \p Log.
RegisterCounts parseRegisters(llvm::StringRef Log);

/// What ptxas gives the kernels of \p M.
llvm::Expected<RegisterCounts>
registersOf(const llvm::Module &M, const frontend::CompileOptions &Options,
            const frontend::CudaToolkit &Cuda, const frontend::TempDir &Temp);

/// Has the kernels of \p M do with as many as \p Counts says.
void limitRegisters(llvm::Module &M, const RegisterCounts &Counts);

} // namespace reconverge::gpu

#endif
