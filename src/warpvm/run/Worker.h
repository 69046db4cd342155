//===- warpvm/run/Worker.h - A CPU thread of a launch -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_WORKER_H
#define RECONVERGE_WARPVM_RUN_WORKER_H

#include "warpvm/run/Cluster.h"
#include "warpvm/run/Helpers.h"
#include "warpvm/run/Order.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace reconverge::warpvm {

class Worker;

/// What the CPU threads of one launch share.
struct LaunchState {
  using Clock = std::chrono::steady_clock;

  const LaunchContext &L;
  PolicyKind Kind;
  VectorObserver *Observer;
  warpvm::Order Order;  ///< of clusters
  const uint64_t Chunk; ///< clusters that a thread takes at once
  std::atomic<uint64_t> Next{0};
  std::atomic<bool> Stop{false};

  // Deadlock: all of it under Meeting's lock but for Called.
  std::mutex Meeting;
  std::condition_variable Over;
  std::vector<Worker *> Present, Stuck, Working;
  std::atomic<bool> Called{false}; ///< all are to come to the meeting
  const bool MayConclude;
  /// Of a kernel that reads a clock: the state that comes back, and since when.
  uint64_t Still = 0;
  Clock::time_point StillSince;
  const Clock::time_point Begin = Clock::now();

  // Of the thread that launches alone:
  const unsigned MostOthers;
  unsigned NumOthers = 0;   ///< called so far
  Clock::time_point LookAt; ///< whether there is work for more, not before
  bool IsFirst = false;     ///< of the kernel: look after each warp
  Helped Others;

  std::mutex Lock; ///< of what follows
  llvm::Error Failure = llvm::Error::success();
  std::map<uint64_t, std::string> Printed;
  std::vector<uint64_t> Sets; ///< counters of full warps, then of partial ones
  uint64_t DivergentWarps = 0;
  std::vector<AccessCounts> Accesses; ///< none: they are not counted
  uint64_t BlockLoads = 0;            ///< Footprint's
  Clock::duration Busy{0};            ///< of all threads together
  SectorSet Touched;

  LaunchState(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
              VectorObserver *Observer);

  void fail(llvm::Error E);
  /// Calls as many other threads as \p Seconds of work are worth.
  void callOthers(double Seconds);
  /// The thread that launches has begun \p Begun clusters since the launch did.
  void look(uint64_t Begun);
};

/// One CPU thread's part in a launch.
class Worker {
public:
  using Clock = LaunchState::Clock;

  /// \p Calls: the others, once there is work for them.
  explicit Worker(LaunchState &S, bool Calls = false)
      : S(S), Calls(Calls), P(Policy::create(S.Kind)),
        Sets(2 * S.L.plan().NumCounters), Accesses(S.L.plan().NumAccesses) {}

  void run();

private:
  struct Job {
    Block *B;
    Cluster *Of;
    std::vector<uint64_t> OwnSets; ///< of a block with vectors
  };
  bool hasNext() const {
    return S.Next.load(std::memory_order_relaxed) < S.L.Clusters.clusters();
  }
  void look();
  llvm::Expected<bool> begin();
  void begin(Cluster &Of, uint64_t Number);
  void finish(Job &J);
  void work();

  // Deadlock.cpp
  void suspect();
  void meet();
  void judge();
  bool runRound();
  std::optional<uint64_t> findCircle();
  bool outlastsTime(uint64_t State);
  static uint64_t digestOfBlocks(const LaunchState &S);

  LaunchState &S;
  const bool Calls;
  std::unique_ptr<Policy> P;
  std::vector<uint64_t> Sets;
  std::vector<AccessCounts> Accesses;
  uint64_t BlockLoads = 0;
  SectorSet Touched; ///< by blocks that are done
  std::vector<Job> Active;
  llvm::SmallVector<std::unique_ptr<Cluster>, 2> InFlight, Idle;
  uint64_t DivergentWarps = 0;
  uint64_t Taken = 0, TakenEnd = 0; ///< of its chunk, not yet begun
  uint64_t Begun = 0;               ///< clusters
  uint64_t Yields = 0;              ///< in a row, with nothing else in between
  uint64_t Patience = 16; ///< rounds of yields before a deadlock is looked for
  Clock::time_point NextLook; ///< not before
};

} // namespace reconverge::warpvm

#endif
