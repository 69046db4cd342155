//===- analysis/SharedMemory.h - What a kernel's blocks take ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_SHAREDMEMORY_H
#define RECONVERGE_ANALYSIS_SHAREDMEMORY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace llvm {
class Function;
class GlobalVariable;
} // namespace llvm

namespace reconverge::analysis {

/// Bytes of shared memory that a block may take, static and dynamic together,
/// unless the program has allowed the kernel more.
inline constexpr uint64_t UsualSharedLimit = 48 * 1024;

/// Bytes of static shared memory that \p Kernel and what it calls use, each
/// variable at a multiple of 16; those of \p Except are left out.
uint64_t staticShared(const llvm::Function &Kernel,
                      llvm::ArrayRef<const llvm::GlobalVariable *> Except = {});

} // namespace reconverge::analysis

#endif
