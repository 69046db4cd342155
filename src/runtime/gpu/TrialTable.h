//===- runtime/gpu/TrialTable.h - Our part of CUDA, for trials --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_TRIALTABLE_H
#define RECONVERGE_RUNTIME_GPU_TRIALTABLE_H

#include "runtime/shim/Backend.h"

#include "llvm/ADT/ArrayRef.h"

namespace reconverge::gpu {

/// The functions that trials put before the runtime's own.
llvm::ArrayRef<reconverge_backend_symbol> trialTable();

} // namespace reconverge::gpu

#endif
