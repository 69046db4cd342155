//===- warpvm/run/Helpers.cpp - CPU threads that help launches ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To begin a thread and to end it takes longer than many a launch: a stack, what
// it keeps for itself, and a heap of its own that comes and goes. So threads stay
// when they have helped, and sleep until there is more to do. One that wakes up
// too late finds nothing wanted and sleeps on; nobody waits for it.
//
// There are as many as the launch with most helpers wanted. Launches from several
// threads share them: none depends on help.
//
// Signals of the program go to its own threads: these block all but faults. They
// stay when the process ends, as launches may come from exit handlers, and a forked
// child, which has none of them, begins with a pool of its own.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Helpers.h"

#include "llvm/ADT/STLExtras.h"

#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace reconverge::warpvm {

class HelperPool {
public:
  static HelperPool &instance() {
    static std::once_flag Once;
    std::call_once(Once, [] {
      Current = new HelperPool;
      pthread_atfork(nullptr, nullptr, [] { Current = new HelperPool; });
    });
    return *Current;
  }

  void call(Helped &H, unsigned Count) {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      if (!H.Wanted)
        Waiting.push_back(&H);
      H.Wanted += Count;
      while (Threads < H.Wanted + H.Inside)
        begin();
    }
    for (unsigned I = 0; I < Count; ++I)
      Called.notify_one();
  }

  void dismiss(Helped &H) {
    std::unique_lock<std::mutex> Guard(Lock);
    if (H.Wanted)
      llvm::erase(Waiting, &H);
    H.Wanted = 0;
    H.Left.wait(Guard, [&] { return !H.Inside; });
  }

private:
  void begin() {
    sigset_t Theirs, Before;
    sigfillset(&Theirs);
    for (int Fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
      sigdelset(&Theirs, Fault);
    pthread_sigmask(SIG_SETMASK, &Theirs, &Before);
    std::thread([this] { help(); }).detach();
    pthread_sigmask(SIG_SETMASK, &Before, nullptr);
    ++Threads;
  }

  [[noreturn]] void help() {
    std::unique_lock<std::mutex> Guard(Lock);
    for (;;) {
      Called.wait(Guard, [&] { return !Waiting.empty(); });
      Helped &H = *Waiting.front();
      if (!--H.Wanted)
        Waiting.erase(Waiting.begin());
      ++H.Inside;
      Guard.unlock();
      H.Work();
      Guard.lock();
      if (!--H.Inside)
        H.Left.notify_all();
    }
  }

  static inline HelperPool *Current = nullptr;

  std::mutex Lock; ///< of what follows, and of all that is Helped
  std::condition_variable Called;
  std::vector<Helped *> Waiting; ///< for helpers, in the order of their calls
  unsigned Threads = 0;
};

void Helped::call(unsigned Count) {
  Called = true;
  HelperPool::instance().call(*this, Count);
}

void Helped::dismiss() {
  if (Called)
    HelperPool::instance().dismiss(*this);
}

} // namespace reconverge::warpvm
