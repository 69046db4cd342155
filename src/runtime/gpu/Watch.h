//===- runtime/gpu/Watch.h - What must end in time --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_WATCH_H
#define RECONVERGE_RUNTIME_GPU_WATCH_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace reconverge::gpu {

/// Calls a function, on a thread of its own, unless it is destroyed in time.
/// The thread that made it may be anywhere then, in a CUDA call that does not
/// return as well.
class Watch {
public:
  Watch(double Seconds, std::function<void()> Late);
  /// Waits for Late if that has begun.
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

private:
  std::mutex Lock;
  std::condition_variable Changed;
  bool Over = false;
  std::thread Waiting;
};

} // namespace reconverge::gpu

#endif
