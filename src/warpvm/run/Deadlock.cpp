//===- warpvm/run/Deadlock.cpp - Blocks that wait for ever ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When all blocks have begun and those that are left do nothing but yield, on
// every CPU thread, the threads stop and one of them goes on alone, round after
// round over all blocks. What happens then is a function of the
// state (splits, scalars, frames, shared memory, allocations), so a state that
// comes back comes back for ever: nobody will get what they wait for. A state
// is known by its hash. First the blocks' own is watched, which is cheap; when
// that repeats, all memory is hashed, the period is run once more, and memory
// is hashed again. Attempts come ever less often, in rounds and in time, so
// that a program that spins long and gets on pays at most a tenth. Nothing is
// concluded where something else may step in: orders that follow a seed, memory
// that other threads of the host can write.
//
// A clock may step in as well: who waits may give up when it is late, as
// libcu++'s barriers can. So in a kernel that reads one the state, in which
// what a clock has left and nobody may read is blank, must first stay what it
// is for five seconds. Then time is made to pass: a second, two, four, ...
// years, with a turn for everybody each time, so that whatever was to end by a
// clock does. Only if the state is still the same, nothing will ever happen.
// Otherwise the clocks stay ahead, as they never go back: a kernel in which
// everybody does nothing for five seconds but to look at the clock finds that
// time flies.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Library.h"
#include "warpvm/run/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::warpvm {

/// This thread's blocks have long done nothing but yield. If all threads' have,
/// calls a meeting.
void Worker::suspect() {
  if (Clock::now() < NextLook)
    return;
  std::lock_guard<std::mutex> Guard(S.Meeting);
  if (!is_contained(S.Stuck, this))
    S.Stuck.push_back(this);
  if (S.Stuck.size() == S.Working.size())
    S.Called = true;
}

/// Waits until all threads are here; the last one judges, with the others'
/// blocks in its hands.
void Worker::meet() {
  std::unique_lock<std::mutex> Guard(S.Meeting);
  if (!S.Called)
    return;
  S.Present.push_back(this);
  if (S.Present.size() == S.Working.size()) {
    judge();
    S.Called = false;
    S.Over.notify_all();
  } else {
    S.Over.wait(Guard, [&] { return !S.Called.load(); });
  }
  llvm::erase(S.Present, this);
  llvm::erase(S.Stuck, this);
}

/// Runs each block of each thread once. True if they all yielded.
bool Worker::runRound() {
  for (Worker *Who : S.Working)
    for (size_t I = 0; I < Who->Active.size(); ++I) {
      auto Result = Who->Active[I].B->run(*Who->P, /*MayPause=*/false);
      if (Result && *Result != Status::Done)
        continue;
      if (!Result) {
        S.fail(Result.takeError());
      } else {
        Who->finish(Who->Active[I]);
        Who->Active.erase(Who->Active.begin() + I);
      }
      return false;
    }
  return true;
}

uint64_t Worker::digestOfBlocks(const LaunchState &S) {
  uint64_t H = 0;
  for (const Worker *Who : S.Working)
    for (const Job &J : Who->Active)
      H = mixed(H, J.B->digest());
  return H;
}

static uint64_t digestOfMemory(const LaunchContext &L) {
  uint64_t H = L.Grid ? L.Grid->Barrier : 0;
  DeviceMemory::instance().forEachLive([&](const Allocation &A) {
    H = mixed(H, xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(A.Base),
                                      A.Size)));
  });
  return H;
}

/// Whether the host can write what a kernel reads while the launch runs: it has
/// memory that both see, and threads besides \p Ours.
static bool hostMayStepIn(size_t Ours) {
  bool Sees = false;
  DeviceMemory::instance().forEachLive([&](const Allocation &A) {
    Sees |= A.Managed || A.Kind == MemoryKind::Host ||
            A.Kind == MemoryKind::Registered;
  });
  if (!Sees)
    return false;
  size_t Threads = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator I("/proc/self/task", EC), End;
       I != End && !EC; I.increment(EC))
    ++Threads;
  return EC || Threads > Ours;
}

/// Runs the blocks that are left until their state comes back, for a while. A
/// hash of it and of all memory; none if it does not.
std::optional<uint64_t> Worker::findCircle() {
  constexpr unsigned Rounds = 64;
  // Brent: compare with the state at the last power of two.
  uint64_t Saved = digestOfBlocks(S);
  unsigned Power = 1, Period = 0;
  for (unsigned Round = 0; Round < Rounds && runRound(); ++Round) {
    ++Period;
    const uint64_t Now = digestOfBlocks(S);
    if (Now == Saved) {
      const uint64_t Before = digestOfMemory(S.L);
      uint64_t Least = Now; // of the circle, wherever one looks into it
      while (Period--) {
        if (!runRound())
          return std::nullopt;
        Least = std::min(Least, digestOfBlocks(S));
      }
      if (digestOfBlocks(S) != Now || digestOfMemory(S.L) != Before)
        return std::nullopt;
      return mixed(Least, Before);
    }
    if (Period == Power) {
      Saved = Now;
      Power *= 2;
      Period = 0;
    }
  }
  return std::nullopt;
}

/// Whether \p State comes back for ever, whatever the time.
bool Worker::outlastsTime(uint64_t State) {
  constexpr auto Enough = std::chrono::seconds(5);
  constexpr unsigned Second = 30, TwoYears = 56; // powers of two, in ns
  const auto Now = Clock::now();
  if (State != S.Still) {
    S.Still = State;
    S.StillSince = Now;
  }
  if (Now - S.StillSince < Enough)
    return false;
  for (unsigned Power = Second; Power <= TwoYears; ++Power) {
    // The lower halves of clocks are to change as well.
    skipTime((uint64_t(1) << Power) + Power * 0x9e3779b9u);
    if (!runRound())
      return false;
  }
  return findCircle() == State;
}

/// Nobody else runs. Finds out whether the blocks that are left go round in
/// circles; if so, that is the launch's fault.
void Worker::judge() {
  const auto Begin = Clock::now();
  std::optional<uint64_t> Circle;
  if (!hostMayStepIn(S.Working.size()))
    Circle = findCircle();
  const bool Waits = Circle && S.L.plan().ReadsClock && !outlastsTime(*Circle);
  if (Circle && !Waits)
    for (Worker *Who : S.Working)
      if (!Who->Active.empty()) {
        S.fail(Who->Active.front().B->deadlock());
        break;
      }
  const auto Now = Clock::now();
  for (Worker *Who : S.Working) {
    Who->Yields = 0;
    if (!Waits)
      Who->Patience = std::min<uint64_t>(2 * Who->Patience, 1 << 20);
    Who->NextLook = Now + std::max<Clock::duration>(
                              10 * (Now - Begin),
                              std::chrono::milliseconds(Waits ? 500 : 0));
  }
}

} // namespace reconverge::warpvm
