//===- runtime/gpu/Watch.cpp - What must end in time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/Watch.h"

#include <chrono>
#include <csignal>
#include <pthread.h>

namespace reconverge::gpu {

Watch::Watch(double Seconds, std::function<void()> Late) {
  // The program's signals are handled on the program's threads.
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  Waiting = std::thread([this, Seconds, Late = std::move(Late)] {
    std::unique_lock<std::mutex> Guard(Lock);
    if (!Changed.wait_for(Guard, std::chrono::duration<double>(Seconds),
                          [this] { return Over; }))
      Late();
  });
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

Watch::~Watch() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Over = true;
  }
  Changed.notify_one();
  Waiting.join();
}

} // namespace reconverge::gpu
