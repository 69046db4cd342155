//===- warpvm/run/RaceClock.h - What comes before what ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_RACECLOCK_H
#define RECONVERGE_WARPVM_RUN_RACECLOCK_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace reconverge::warpvm {

/// A launch's own time: it goes on at each synchronisation, so that accesses
/// between two of them have the same.
using Time = uint32_t;

/// Accesses of other threads that are known to be over, as times up to which
/// those of a thread, or of all of a thread block, are.
class VectorClock {
public:
  /// Entries kept; a clock that would have more takes everything up to its
  /// latest entry to be over. Races are missed by that, never made up.
  static constexpr size_t MaxEntries = 4096;

  bool covers(uint32_t Block, uint32_t Thread, Time At) const;
  void addThread(uint32_t Block, uint32_t Thread, Time At);
  void addBlock(uint32_t Block, Time At);
  void join(const VectorClock &Other);
  bool empty() const { return !Everything && Known.empty(); }

private:
  using Entry = std::pair<uint64_t, Time>;
  void add(uint64_t Key, Time At);
  void bound();
  Time of(uint64_t Key) const;
  Time Everything = 0;
  std::vector<Entry> Known; ///< sorted by key
};

/// Null: an empty one.
using ClockRef = std::shared_ptr<const VectorClock>;
ClockRef joined(const ClockRef &A, const ClockRef &B);

/// The clocks of a thread block's threads.
class BlockClocks {
public:
  /// Of block \p Block; \p Now is the launch's time. Barriers, arrivals and
  /// releases increment it here; after meetInGroup() and fence() the caller does.
  void start(uint32_t Block, unsigned Threads, Time &Now);

  /// Whether the access that \p ByThread of \p ByBlock made at \p At comes
  /// before what \p Thread does next.
  bool orders(unsigned Thread, uint32_t ByBlock, uint32_t ByThread,
              Time At) const {
    if (ByBlock == Block && (ByThread == Thread || At <= Barrier))
      return true;
    return ordersOtherwise(Thread, ByBlock, ByThread, At);
  }
  /// Whether what comes before one thread of group \p Group comes before all.
  bool areAlike(unsigned Group) const;

  /// Threads are groups of 32, as collectives see them.
  static constexpr unsigned GroupSize = 32;

  /// All threads of the block meet.
  void meetAll();
  /// They meet those of other blocks, too: what these learn by that, and what
  /// all threads learn in turn.
  ClockRef meetOthers();
  void learn(const ClockRef &Seen) { Foreign = joined(Foreign, Seen); }
  /// \p Those meet at the named barrier \p Id, with who has arrived at it.
  void meet(unsigned Id, llvm::ArrayRef<unsigned> Those);
  /// \p Thread has come to the named barrier \p Id and goes on.
  void arrive(unsigned Id, unsigned Thread);
  /// \p Lanes of group \p Group meet; \p All: nobody else of it is left.
  void meetInGroup(unsigned Group, uint32_t Lanes, bool All);

  /// \p Thread executes a fence: what comes before it may be published.
  void fence(unsigned Thread);
  /// What others learn who see what \p Thread writes now; null if nothing.
  /// \p Releases: the write is a release, a fence of its own.
  ClockRef published(unsigned Thread, bool Releases);
  /// \p Thread has seen what was published as \p Seen.
  void acquire(unsigned Thread, const ClockRef &Seen);

private:
  struct ThreadClock {
    Time Fence = 0;        ///< its last fence
    Time BlockAtFence = 0; ///< the block's last barrier before that
    ClockRef Foreign;      ///< learned since that barrier
    ClockRef LastSeen;
  };
  struct Group {
    Time Met = 0; ///< all of its threads
    /// [lane][other lane], where some met apart; empty: nowhere.
    std::vector<Time> Pairs;
  };
  bool ordersOtherwise(unsigned Thread, uint32_t ByBlock, uint32_t ByThread,
                       Time At) const;
  Time knownInGroup(unsigned Thread, unsigned Other) const;
  void addOwn(VectorClock &To, unsigned Thread, Time Until) const;
  void addKnowledge(VectorClock &To, unsigned Thread) const;

  uint32_t Block = 0;
  Time *Now = nullptr;
  std::vector<ThreadClock> Threads;
  std::vector<Group> Groups;
  Time Barrier = 0; ///< the last at which all threads met
  Time Fenced = 0;  ///< of these, the last before which some fenced
  bool FencedSince = false;
  ClockRef Foreign;     ///< learned by any thread before Barrier
  ClockRef Arrived[16]; ///< at named barriers
};

} // namespace reconverge::warpvm

#endif
