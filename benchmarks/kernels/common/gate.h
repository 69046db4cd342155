//===- benchmarks/kernels/common/gate.h - Hold a stream ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   StreamGate Gate([](auto *F, void *Data) {
//     CHECK_CUDA(cudaLaunchHostFunc(nullptr, F, Data));
//   });
//   record an event; launch; record another
//   Gate.open();
//
// Without it an idle device takes the first event at once and then waits for
// the host to launch: of a kernel of 15 us, 5 to 20 us more, and never the
// same. Behind the gate all three are in the stream before the first begins.
// What cannot be queued while the stream waits (code that has yet to be loaded)
// ends the wait after 20 ms; launch once before.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_GATE_H
#define RECONVERGE_BENCHMARKS_GATE_H

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

class StreamGate {
public:
  /// \p Queue(Function, Data) has the stream call Function(Data).
  template <typename Queue> explicit StreamGate(Queue Q) {
    Q(&StreamGate::wait, new std::shared_ptr<State>(Shared));
  }
  ~StreamGate() { open(); }
  StreamGate(const StreamGate &) = delete;
  StreamGate &operator=(const StreamGate &) = delete;

  void open() { Shared->IsOpen = true; }

private:
  struct State {
    std::atomic<bool> IsOpen{false};
    const std::thread::id Opener = std::this_thread::get_id();
  };

  static void wait(void *Data) {
    const std::unique_ptr<std::shared_ptr<State>> Owned(
        static_cast<std::shared_ptr<State> *>(Data));
    const State &S = **Owned;
    // A runtime that calls at once (our warp VM's) has nothing to hold.
    if (S.Opener == std::this_thread::get_id())
      return;
    const auto Latest =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (!S.IsOpen && std::chrono::steady_clock::now() < Latest)
      std::this_thread::yield();
  }

  std::shared_ptr<State> Shared = std::make_shared<State>();
};

#endif
