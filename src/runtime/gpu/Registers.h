//===- runtime/gpu/Registers.h - What ptxas allots --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_REGISTERS_H
#define RECONVERGE_RUNTIME_GPU_REGISTERS_H

#include "frontend/Registers.h"

#include "llvm/IR/Module.h"

namespace reconverge::gpu {

/// Has the kernels of \p M do with as many as \p Counts says.
void limitRegisters(llvm::Module &M, const frontend::RegisterCounts &Counts);

} // namespace reconverge::gpu

#endif
