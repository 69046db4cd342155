//===- warpvm/Background.h - Work beside the program ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_BACKGROUND_H
#define RECONVERGE_WARPVM_BACKGROUND_H

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <sys/types.h>

namespace reconverge::warpvm {

/// One thread that compiles while kernels run; begun by the first job.
class Background {
public:
  Background() = default;
  /// Waits for the job that runs, which should look at stopping().
  ~Background();

  /// \p Job runs after those before it. Ignored in a forked child.
  void add(std::function<void()> Job);
  /// Until all jobs are done.
  void wait();

  /// A job calls this often, where it holds no lock: the process is to end, or
  /// this object. True: what remains of the job is in vain. Does not return
  /// while the process exits.
  bool stopping();

  /// Threads of this kind in the process.
  static unsigned threads();

private:
  void loop();
  void park(std::unique_lock<std::mutex> &Guard);
  friend struct AtExit;

  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<std::function<void()>> Jobs;
  bool Busy = false;
  std::atomic<bool> Stopping{false};
  bool Exiting = false; ///< the thread is to stand still
  bool Still = false;   ///< it does
  pid_t Home = 0;       ///< the process that has the thread
  std::thread Thread;
};

} // namespace reconverge::warpvm

#endif
