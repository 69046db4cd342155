//===- runtime/gpu/UnreadError.cpp - An error kept for the program --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/UnreadError.h"
#include "runtime/gpu/Cudart.h"

#include <utility>

namespace reconverge::gpu {

static thread_local cudaError_t Aside = cudaSuccess;

cudaError_t setUnreadErrorAside() {
  if (cudaError_t Newer = cudart().GetLastError())
    Aside = Newer;
  return cudart().PeekAtLastError();
}

cudaError_t getLastError() {
  const cudaError_t Older = std::exchange(Aside, cudaSuccess);
  const cudaError_t Newer = cudart().GetLastError();
  return Newer ? Newer : Older;
}

cudaError_t peekAtLastError() {
  const cudaError_t Newer = cudart().PeekAtLastError();
  return Newer ? Newer : Aside;
}

} // namespace reconverge::gpu
