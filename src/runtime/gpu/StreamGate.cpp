//===- runtime/gpu/StreamGate.cpp - Hold a stream -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   stream:  ... copies | wait | event | kernel | event
//   host:    queue all that, then open --^
//
// An idle device takes the first event at once and then waits for the host to
// launch. To a kernel of 15 us that adds 5 to 20, more while other processes
// compile, and never the same. Behind a gate all is queued before any begins.
//
// The stream waits in a function of the host's, which CUDA calls on a thread of
// its own. It ends by itself after 20 ms: what cannot be queued while a stream
// waits (code that has yet to be loaded) is late then, and no more.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/StreamGate.h"

#include "runtime/gpu/Cudart.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace reconverge::gpu {

struct StreamGate::State {
  std::atomic<bool> IsOpen = false;
  const std::thread::id Opener = std::this_thread::get_id();
};

void StreamGate::wait(void *Data) {
  const std::unique_ptr<std::shared_ptr<State>> Owned(
      static_cast<std::shared_ptr<State> *>(Data));
  const State &S = **Owned;
  // A runtime that calls at once (the warp VM's) has nothing to hold.
  if (S.Opener == std::this_thread::get_id())
    return;
  using Clock = std::chrono::steady_clock;
  const auto Latest = Clock::now() + std::chrono::milliseconds(20);
  while (!S.IsOpen && Clock::now() < Latest)
    std::this_thread::yield();
}

StreamGate::StreamGate(cudaStream_t Stream)
    : Shared(std::make_shared<State>()) {
  auto *Owned = new std::shared_ptr<State>(Shared);
  if (cudart().LaunchHostFunc(Stream, &wait, Owned)) {
    delete Owned;
    (void)cudart().GetLastError(); // the time is a little longer, that is all
  }
}

void StreamGate::open() { Shared->IsOpen = true; }

} // namespace reconverge::gpu
