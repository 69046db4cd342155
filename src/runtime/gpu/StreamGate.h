//===- runtime/gpu/StreamGate.h - Hold a stream -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_STREAMGATE_H
#define RECONVERGE_RUNTIME_GPU_STREAMGATE_H

#include <cuda_runtime_api.h>

#include <memory>

namespace reconverge::gpu {

/// What is queued in a stream after a gate begins when the gate opens. So a
/// launch between two events is timed without the host's part of launching.
class StreamGate {
public:
  explicit StreamGate(cudaStream_t Stream);
  ~StreamGate() { open(); }
  StreamGate(const StreamGate &) = delete;
  StreamGate &operator=(const StreamGate &) = delete;

  void open();

private:
  struct State;
  static void wait(void *Data);

  std::shared_ptr<State> Shared; ///< with the function in the stream
};

} // namespace reconverge::gpu

#endif
