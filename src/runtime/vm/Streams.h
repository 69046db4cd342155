//===- runtime/vm/Streams.h - Streams ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_STREAMS_H
#define RECONVERGE_RUNTIME_VM_STREAMS_H

#include <cuda_runtime_api.h>

namespace reconverge::runtime {

/// Whether \p Stream is one of the default streams or was created and not
/// destroyed.
bool isStream(cudaStream_t Stream);

/// Whether the legacy default stream waits for \p Stream, and it for that.
bool isBlocking(cudaStream_t Stream);

} // namespace reconverge::runtime

#endif
