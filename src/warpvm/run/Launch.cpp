//===- warpvm/run/Launch.cpp - All blocks of a launch over all cores ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch hands out thread blocks to the CPU's threads through one counter, a
// few neighbours at a time: they are short, and they share data.
// Each thread works on one block at a time; only when that block yields (its
// warps spin, waiting for another block) does it begin a further one, so that
// any block that others wait for comes to run. A block runs one and the same
// code from its beginning to its end; each begins in the best that there is by
// then, so that a launch which runs for long does not end in code that was
// compiled fast. Counters are private to a thread
// and summed at the end: sums of integers, the same in any order.
//
// Deadlock. When all blocks have begun and those that are left do nothing but
// yield, on every CPU thread, the threads stop and one of them goes on alone,
// round after round over all blocks. What happens then is a function of the
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

#include "warpvm/run/Launch.h"
#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/run/Library.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

using namespace llvm;

namespace reconverge::warpvm {

namespace {

using Clock = std::chrono::steady_clock;

class Worker;

/// What the CPU threads of one launch share.
struct Shared {
  const LaunchContext &L;
  PolicyKind Kind;
  VectorObserver *Observer;
  warpvm::Order Order;  ///< of blocks
  const uint64_t Chunk; ///< blocks that a thread takes at once
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

  std::mutex Lock; ///< of what follows
  Error Failure = Error::success();
  std::map<uint64_t, std::string> Printed;
  std::vector<uint64_t> Sets; ///< counters of full warps, then of partial ones
  uint64_t DivergentWarps = 0;

  Shared(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
         VectorObserver *Observer)
      : L(L), Kind(Kind), Observer(Observer), Order(L.blocks(), L.Seed),
        Chunk(std::clamp<uint64_t>(L.blocks() / (64 * Threads), 1, 16)),
        MayConclude(L.OwnMemory && L.Seed == NaturalOrder),
        Sets(2 * L.plan().NumCounters) {}

  void fail(Error E);
};

/// One CPU thread's part in a launch.
class Worker {
public:
  explicit Worker(Shared &S)
      : S(S), P(Policy::create(S.Kind)), Sets(2 * S.L.plan().NumCounters) {}

  void run();

private:
  struct Job {
    std::unique_ptr<Block> B;
    std::vector<uint64_t> OwnSets; ///< of a block with vectors
  };
  Expected<bool> begin();
  void finish(Job &J);
  void work();
  void suspect();
  void meet();
  void judge();
  bool runRound();
  std::optional<uint64_t> findCircle();
  bool outlastsTime(uint64_t State);
  static uint64_t digestOfBlocks(const Shared &S);

  Shared &S;
  std::unique_ptr<Policy> P;
  std::vector<uint64_t> Sets;
  std::vector<Job> Active;
  std::vector<std::unique_ptr<Block>> Idle;
  uint64_t DivergentWarps = 0;
  uint64_t Taken = 0, TakenEnd = 0; ///< of its chunk, not yet begun
  uint64_t Yields = 0;              ///< in a row, with nothing else in between
  uint64_t Patience = 16; ///< rounds of yields before a deadlock is looked for
  Clock::time_point NextLook; ///< not before
};

/// The first fault is the message; others often follow from it.
void Shared::fail(Error E) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Stop.exchange(true))
    consumeError(std::move(E));
  else
    Failure = joinErrors(std::move(Failure), std::move(E));
}

/// Starts the next thread block, if any is left.
Expected<bool> Worker::begin() {
  if (Taken == TakenEnd) {
    if (S.Next.load(std::memory_order_relaxed) >= S.L.blocks())
      return false;
    const uint64_t First = S.Next.fetch_add(S.Chunk);
    if (First >= S.L.blocks())
      return false;
    Taken = First;
    TakenEnd = std::min(First + S.Chunk, S.L.blocks());
  }
  const uint64_t I = Taken++;
  Job J;
  const uint64_t Linear = S.Order(I);
  const bool Vectors = S.Observer && S.Observer->wants(Linear);
  const Code &Now = S.L.code(Vectors);
  if (Now.By == Effort::Fast && S.L.Running)
    S.L.Running(std::chrono::duration<double>(Clock::now() - S.Begin).count());
  llvm::erase_if(Idle, [&](auto &B) { return !B->suits(Now); });
  if (Idle.empty()) {
    if (Error E = Block::create(S.L, Now).moveInto(J.B))
      return std::move(E);
  } else {
    J.B = std::move(Idle.back());
    Idle.pop_back();
  }
  if (Vectors)
    J.OwnSets.resize(Sets.size());
  J.B->start(Linear, Now, *P, Vectors ? J.OwnSets.data() : Sets.data(),
             Vectors);
  Active.push_back(std::move(J));
  return true;
}

void Worker::finish(Job &J) {
  const KernelPlan &Plan = S.L.plan();
  DivergentWarps += J.B->divergentWarps();
  if (!J.OwnSets.empty()) {
    std::vector<uint64_t> AsRun(Plan.NumBlocks);
    for (uint32_t B = 0; B < Plan.NumBlocks; ++B)
      AsRun[B] = J.OwnSets[3 * B] + J.OwnSets[Plan.NumCounters + 3 * B];
    for (size_t I = 0; I < Sets.size(); ++I)
      Sets[I] += J.OwnSets[I];
    S.Observer->record(J.B->linear(), S.L.threads(), J.B->takeVectors(), AsRun);
  }
  if (!J.B->output().empty()) {
    std::lock_guard<std::mutex> Guard(S.Lock);
    S.Printed[J.B->linear()] = std::move(J.B->output());
  }
  Idle.push_back(std::move(J.B));
}

void Worker::run() {
  {
    std::lock_guard<std::mutex> Guard(S.Meeting);
    S.Working.push_back(this);
  }
  work();
  {
    std::lock_guard<std::mutex> Guard(S.Meeting);
    llvm::erase(S.Working, this);
    llvm::erase(S.Stuck, this);
    // Whoever waits for this thread at a meeting has one less to wait for, and
    // no reason left to meet.
    S.Called = false;
    S.Over.notify_all();
  }
  std::lock_guard<std::mutex> Guard(S.Lock);
  for (size_t I = 0; I < Sets.size(); ++I)
    S.Sets[I] += Sets[I];
  S.DivergentWarps += DivergentWarps;
}

void Worker::work() {
  size_t Turn = 0;
  while (!S.Stop.load(std::memory_order_relaxed)) {
    if (S.Called.load(std::memory_order_relaxed))
      meet();
    if (Active.empty()) {
      Expected<bool> Begun = begin();
      if (!Begun)
        return S.fail(Begun.takeError());
      if (!*Begun)
        return;
    }
    Turn %= Active.size();
    auto Result = Active[Turn].B->run(*P);
    if (!Result) {
      S.fail(Result.takeError());
      std::lock_guard<std::mutex> Guard(S.Lock);
      if (Active[Turn].B->output().size())
        S.Printed[Active[Turn].B->linear()] = Active[Turn].B->output();
      return;
    }
    if (*Result == Status::Yielded) {
      // Whoever it waits for may not have begun.
      Expected<bool> Begun = begin();
      if (!Begun)
        return S.fail(Begun.takeError());
      Yields = *Begun ? 0 : Yields + 1;
      if (S.MayConclude && Yields >= Patience * Active.size())
        suspect();
      ++Turn;
      continue;
    }
    Yields = 0;
    finish(Active[Turn]);
    Active.erase(Active.begin() + Turn);
  }
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

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
      auto Result = Who->Active[I].B->run(*Who->P);
      if (Result && *Result == Status::Yielded)
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

uint64_t Worker::digestOfBlocks(const Shared &S) {
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

/// The launch's counters in the form that observers get.
LaunchCounts collect(const Shared &S) {
  const KernelPlan &P = S.L.plan();
  LaunchCounts Counts;
  Counts.Blocks.resize(P.NumBlocks);
  Counts.Branches.resize(P.NumBranches);
  const unsigned Tail = S.L.threads() % P.WarpSize;
  for (unsigned Set = 0; Set < 2; ++Set) {
    const uint64_t *C = S.Sets.data() + Set * P.NumCounters;
    for (uint32_t B = 0; B < P.NumBlocks; ++B) {
      BlockCounts &To = Counts.Blocks[B];
      To.Warps += C[3 * B];
      To.Lanes += C[3 * B + 1];
      To.ExitedIdle += C[3 * B + 2];
      if (Set == 1)
        To.PartialIdle += C[3 * B] * (P.WarpSize - Tail);
    }
    for (uint32_t B = 0; B < P.NumBranches; ++B) {
      BranchCounts &To = Counts.Branches[B];
      const uint32_t First = P.BranchOffset[B];
      const uint32_t Block = P.BranchBlock[B];
      uint64_t Rest = C[3 * Block + 1];
      To.LanesTo.resize(P.BranchOffset[B + 1] - First);
      To.Warps += C[3 * Block];
      To.Splits += C[First];
      for (size_t I = 0; I + 1 < To.LanesTo.size(); ++I) {
        To.LanesTo[I] += C[First + 1 + I];
        Rest -= C[First + 1 + I];
      }
      To.LanesTo.back() += Rest;
    }
  }
  Counts.Warps = S.L.blocks() * ((S.L.threads() + P.WarpSize - 1) / P.WarpSize);
  Counts.DivergentWarps = S.DivergentWarps;
  return Counts;
}

} // namespace

Error runLaunch(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
                LaunchCounts *Counts, VectorObserver *Observer) {
  // Races are found in the order in which one thread makes the accesses.
  Threads =
      L.Races ? 1 : unsigned(std::clamp<uint64_t>(L.blocks(), 1, Threads));
  Shared S(L, Kind, Threads, Observer);
  std::vector<std::thread> Others;
  for (unsigned I = 1; I < Threads; ++I)
    Others.emplace_back([&S] { Worker(S).run(); });
  Worker(S).run();
  for (std::thread &T : Others)
    T.join();
  if (L.Quiet)
    S.Printed.clear();
  for (auto &[Block, Text] : S.Printed)
    std::fwrite(Text.data(), 1, Text.size(), stdout);
  if (Counts) {
    *Counts = collect(S);
    Counts->Seconds =
        std::chrono::duration<double>(Clock::now() - S.Begin).count();
  }
  return std::move(S.Failure);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static struct sigaction OldSegv, OldBus;

static void onSignal(int Signal, siginfo_t *Info, void *Context) {
  if (FaultGuard *Guard = currentGuard()) {
    if (Guard->Tolerant && DeviceMemory::instance().openSlack(
                               reinterpret_cast<uint64_t>(Info->si_addr)))
      return; // the access is made again
    Guard->Kind = FaultKind::IllegalAddress;
    Guard->Address = reinterpret_cast<uint64_t>(Info->si_addr);
    Guard->HasAddress = true;
    siglongjmp(Guard->Landing, 1);
  }
  const struct sigaction &Old = Signal == SIGSEGV ? OldSegv : OldBus;
  if ((Old.sa_flags & SA_SIGINFO) && Old.sa_sigaction) {
    Old.sa_sigaction(Signal, Info, Context);
  } else if (Old.sa_handler != SIG_DFL && Old.sa_handler != SIG_IGN) {
    Old.sa_handler(Signal);
  } else {
    // Back to the default; returning repeats the access and ends the process.
    signal(Signal, SIG_DFL);
  }
}

void installSignalHandlers() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    struct sigaction Action = {};
    Action.sa_sigaction = onSignal;
    Action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &Action, &OldSegv);
    sigaction(SIGBUS, &Action, &OldBus);
  });
}

} // namespace reconverge::warpvm
