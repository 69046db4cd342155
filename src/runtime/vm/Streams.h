//===- runtime/vm/Streams.h - Streams ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_STREAMS_H
#define RECONVERGE_RUNTIME_VM_STREAMS_H

#include "runtime/vm/Errors.h"

namespace reconverge::runtime {

/// Whether \p Stream is one of the default streams or was created and not
/// destroyed.
bool isStream(cudaStream_t Stream);

/// Ends a call that works in \p Stream.
template <typename Body> cudaError_t streamCall(cudaStream_t Stream, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    if (!isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    return B();
  });
}

} // namespace reconverge::runtime

#endif
