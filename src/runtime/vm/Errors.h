//===- runtime/vm/Errors.h - How a CUDA call ends ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_ERRORS_H
#define RECONVERGE_RUNTIME_VM_ERRORS_H

#include "runtime/vm/Contexts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cuda_runtime_api.h>

#include <utility>

namespace reconverge::runtime {

/// Remembers \p Error as this thread's last one, unless it is success, and
/// gives it back.
cudaError_t recorded(cudaError_t Error);

/// The fault of an earlier launch: every later call that needs the device
/// returns it. cudaSuccess if there was none.
cudaError_t stickyError();

/// A kernel faulted: the first fault stays for the life of the process.
void setStickyError(cudaError_t Error);

/// Ends a call that works whatever the device's state.
template <typename Body> cudaError_t call(Body &&B) {
  return recorded(std::forward<Body>(B)());
}

/// Ends a call that needs a device in order.
template <typename Body> cudaError_t deviceCall(Body &&B) {
  usePrimaryContext();
  if (cudaError_t Sticky = stickyError())
    return recorded(Sticky);
  return recorded(std::forward<Body>(B)());
}

/// Prints "reconverge: " and \p Message on stderr, in one write.
void say(const llvm::Twine &Message);

/// The same, but only the first time in the process for this \p Message.
void sayOnce(const llvm::Twine &Message);

/// Names what does not run, once: on stderr, or to a test.
void sayUnsupported(const llvm::Twine &Message, llvm::StringRef Kernel = "");

/// Names what the VM lacks, once, and returns cudaErrorNotSupported.
cudaError_t unsupported(const llvm::Twine &What);

} // namespace reconverge::runtime

#endif
