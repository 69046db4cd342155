//===- runtime/vm/Contexts.h - What CUDA's driver calls a context -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_CONTEXTS_H
#define RECONVERGE_RUNTIME_VM_CONTEXTS_H

#include <cuda.h>

namespace reconverge::runtime {

/// A call of the runtime needs CUDA's driver initialized.
void initializeDriver();
bool isDriverInitialized(); ///< by the runtime

/// A call of the runtime needs the device: a thread without a current context
/// gets the device's own one.
void usePrimaryContext();

/// That of this thread; null: none.
CUcontext currentContext();

} // namespace reconverge::runtime

#endif
