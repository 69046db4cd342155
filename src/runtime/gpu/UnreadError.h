//===- runtime/gpu/UnreadError.h - An error kept for the program *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program need not read the error that a call of its own left behind: many
// never do. Trials ask for the last error after calls of theirs, so they put an
// unread one aside first. The program finds it where it would have been.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_GPU_UNREADERROR_H
#define RECONVERGE_RUNTIME_GPU_UNREADERROR_H

#include <cuda_runtime_api.h>

namespace reconverge::gpu {

/// Puts this thread's last error aside, if there is one. The result is an error
/// that stays (the context is lost), or cudaSuccess.
cudaError_t setUnreadErrorAside();

/// What the program calls as cudaGetLastError and cudaPeekAtLastError: the
/// runtime's last error, which is the newer, or else the one put aside.
cudaError_t getLastError();
cudaError_t peekAtLastError();

} // namespace reconverge::gpu

#endif
