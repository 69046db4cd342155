//===- runtime/gpu/Launch.h - Our part of the CUDA runtime ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_LAUNCH_H
#define RECONVERGE_RUNTIME_GPU_LAUNCH_H

#include "runtime/shim/Backend.h"

#include "llvm/ADT/ArrayRef.h"

namespace reconverge::gpu {

/// The functions that counting puts before the runtime's own.
llvm::ArrayRef<reconverge_backend_symbol> countingTable();

} // namespace reconverge::gpu

#endif
