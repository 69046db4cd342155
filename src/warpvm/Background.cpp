//===- warpvm/Background.cpp - Work beside the program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread must not be noticed: it takes none of the program's signals, and
// the deadlock search does not count it among the host's threads (Launch.cpp).
//
// The end of the process. Exit handlers and destructors of static objects run
// while other threads go on, and LLVM has such objects. So an exit handler, set
// up with the first thread, has each thread stand still for good where it says
// that it may (stopping()), and waits for that. Nobody waits for the job.
//
// A forked child has the object but not the thread: it adds no jobs.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Background.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace reconverge::warpvm {

/// All that have a thread. Never destroyed: threads may come here late.
struct AtExit {
  std::mutex Lock;
  std::vector<Background *> All;
  static AtExit &instance() {
    static AtExit &Only = *new AtExit;
    return Only;
  }
  static void stopAll() {
    AtExit &Here = instance();
    std::lock_guard<std::mutex> Guard(Here.Lock);
    for (Background *B : Here.All) {
      if (B->Home != getpid())
        continue;
      std::unique_lock<std::mutex> Inner(B->Lock);
      B->Exiting = B->Stopping = true;
      B->Changed.notify_all();
      B->Changed.wait(Inner, [&] { return B->Still; });
    }
  }
};

static std::atomic<unsigned> Running{0};

unsigned Background::threads() { return Running.load(); }

void Background::add(std::function<void()> Job) {
  if (Home && Home != getpid())
    return;
  std::unique_lock<std::mutex> Guard(Lock);
  if (Stopping)
    return;
  Jobs.push_back(std::move(Job));
  Changed.notify_all();
  if (Home)
    return;
  Home = getpid();
  ++Running;
  sigset_t Every, Before;
  sigfillset(&Every);
  pthread_sigmask(SIG_SETMASK, &Every, &Before);
  Thread = std::thread([this] { loop(); });
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  Guard.unlock();
  static const int Registered = std::atexit(AtExit::stopAll);
  (void)Registered;
  AtExit &Here = AtExit::instance();
  std::lock_guard<std::mutex> All(Here.Lock);
  Here.All.push_back(this);
}

void Background::park(std::unique_lock<std::mutex> &Guard) {
  Still = true;
  Changed.notify_all();
  for (;;)
    Changed.wait(Guard);
}

bool Background::stopping() {
  if (!Stopping)
    return false;
  std::unique_lock<std::mutex> Guard(Lock);
  if (Exiting)
    park(Guard);
  return true;
}

void Background::loop() {
  std::unique_lock<std::mutex> Guard(Lock);
  for (;;) {
    Changed.wait(Guard, [&] { return Stopping || !Jobs.empty(); });
    if (Exiting)
      park(Guard);
    if (Stopping)
      return;
    std::function<void()> Job = std::move(Jobs.front());
    Jobs.pop_front();
    Busy = true;
    Guard.unlock();
    Job();
    Job = nullptr;
    Guard.lock();
    Busy = false;
    Changed.notify_all();
  }
}

void Background::wait() {
  if (Home != getpid())
    return;
  std::unique_lock<std::mutex> Guard(Lock);
  Changed.wait(Guard, [&] { return !Busy && Jobs.empty(); });
}

Background::~Background() {
  if (!Thread.joinable())
    return;
  {
    AtExit &Here = AtExit::instance();
    std::lock_guard<std::mutex> All(Here.Lock);
    std::erase(Here.All, this);
  }
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Stopping = true;
    Changed.notify_all();
  }
  Thread.join();
  --Running;
}

} // namespace reconverge::warpvm
