//===- runtime/vm/Memory.h - Allocating and checking ranges -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_MEMORY_H
#define RECONVERGE_RUNTIME_VM_MEMORY_H

#include "warpvm/memory/DeviceMemory.h"

#include <cuda_runtime_api.h>

namespace reconverge::runtime {

/// *\p Pointer becomes memory of \p Size bytes, or null for none.
cudaError_t allocate(void **Pointer, uint64_t Size, warpvm::MemoryKind Kind);

enum class Where {
  Host,      ///< the program's own memory, of which nothing is known
  Device,    ///< all bytes lie in one allocation that a kernel may touch
  OutOfRange ///< some bytes lie in no live allocation
};
Where whereIs(const void *Pointer, uint64_t Bytes);

/// What cudaFreeAsync knew of \p Pointer is to be forgotten: it was freed.
void forgetPoolMemory(const void *Pointer, uint64_t Size);

} // namespace reconverge::runtime

#endif
