//===- runtime/gpu/Hardware.h - The GPU in words ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_HARDWARE_H
#define RECONVERGE_RUNTIME_GPU_HARDWARE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::gpu {

/// The lowest NN of sm_NN among the GPUs that this process sees, as CUDA's
/// driver says: asked before the runtime may be called.
llvm::Expected<unsigned> lowestArchitecture();

/// The first GPU that this process sees, as CUDA's driver calls it, asked
/// likewise; empty: the driver does not say.
std::string nameOfFirst();

/// "NVIDIA H200, sm_90, driver 580.65.06": of the calling thread's device.
std::string describeDevice();

/// One sentence: whether a process may read the GPU's own counters. \p Driver:
/// the driver's parameters, \p Status: the process's, as /proc shows them.
std::string counterAccess(llvm::StringRef Driver, llvm::StringRef Status);

/// The same of this process.
std::string describeCounterAccess();

} // namespace reconverge::gpu

#endif
