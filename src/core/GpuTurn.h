//===- core/GpuTurn.h - Turns on the machine's GPUs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that `optimize` times run one after another, across processes, so
// that none stands in another's times. The driver takes the turn (GpuTurn) and
// the program has it, by descriptors that it inherits and an entry of its
// environment. While our backend in the program compiles, it does not need the
// GPU and lets others have it (GpuBreak).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_GPUTURN_H
#define RECONVERGE_CORE_GPUTURN_H

#include <atomic>
#include <string>

namespace reconverge {

/// Seconds that a program waits for a turn; memory that it shares with the
/// driver. Times are of the steady clock, nanoseconds.
struct GpuWait {
  std::atomic<int64_t> Over = 0;  ///< waits that are over, together
  std::atomic<int64_t> Since = 0; ///< when this wait began; 0: there is none
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

/// A turn of this user's, from its construction on. Where there is no place for
/// the lock there are no turns.
class GpuTurn {
public:
  explicit GpuTurn(bool Wanted);
  ~GpuTurn();
  GpuTurn(const GpuTurn &) = delete;
  GpuTurn &operator=(const GpuTurn &) = delete;

  /// "NAME=value" for the environment of the program that has the turn.
  std::string entry() const;
  /// How long that has waited to have the turn again, seconds.
  double waited() const;

private:
  int Lock = -1, Memory = -1;
  GpuWait *Wait = nullptr;
};

/// While it lives, others may have the turn of the process; its destructor
/// waits for it. Without a turn it does nothing.
class GpuBreak {
public:
  GpuBreak();
  ~GpuBreak();
  GpuBreak(const GpuBreak &) = delete;
  GpuBreak &operator=(const GpuBreak &) = delete;
};

} // namespace reconverge

#endif
