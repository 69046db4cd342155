//===- warpvm/Launch.cpp - All blocks of a launch over all cores ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch hands out thread blocks to the CPU's threads through one counter, a
// few neighbours at a time: they are short, and they share data.
// Each thread works on one block at a time; only when that block yields (its
// warps spin, waiting for another block) does it begin a further one, so that
// any block that others wait for comes to run. Counters are private to a thread
// and summed at the end: sums of integers, the same in any order.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

using namespace llvm;

namespace reconverge::warpvm {

namespace {

/// A permutation of 0..N-1 for a seed: i -> (A i + B) mod N, A prime to N.
struct BlockOrder {
  uint64_t N, A = 1, B = 0;

  BlockOrder(uint64_t N, uint64_t Seed) : N(N) {
    if (!Seed || N < 3)
      return;
    B = Seed % N;
    A = Seed * 0x9e3779b97f4a7c15 % N;
    while (std::gcd(A, N) != 1)
      A = (A + 1) % N;
  }
  uint64_t operator()(uint64_t I) const {
    return uint64_t((static_cast<unsigned __int128>(A) * I + B) % N);
  }
};

/// What the CPU threads of one launch share.
struct Shared {
  const LaunchContext &L;
  PolicyKind Kind;
  VectorObserver *Observer;
  BlockOrder Order;
  const uint64_t Chunk; ///< blocks that a thread takes at once
  std::atomic<uint64_t> Next{0};
  std::atomic<bool> Stop{false};

  std::mutex Lock; ///< of what follows
  Error Failure = Error::success();
  std::map<uint64_t, std::string> Printed;
  std::vector<uint64_t> Sets; ///< counters of full warps, then of partial ones
  uint64_t DivergentWarps = 0;

  Shared(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
         VectorObserver *Observer)
      : L(L), Kind(Kind), Observer(Observer), Order(L.blocks(), L.Seed),
        Chunk(std::clamp<uint64_t>(L.blocks() / (64 * Threads), 1, 16)),
        Sets(2 * L.Plan->NumCounters) {}
};

/// One CPU thread's part in a launch.
class Worker {
public:
  explicit Worker(Shared &S)
      : S(S), P(Policy::create(S.Kind)), Sets(2 * S.L.Plan->NumCounters) {}

  void run();

private:
  struct Job {
    std::unique_ptr<Block> B;
    std::vector<uint64_t> OwnSets; ///< of a block with vectors
  };
  bool begin();
  void finish(Job &J);

  Shared &S;
  std::unique_ptr<Policy> P;
  std::vector<uint64_t> Sets;
  std::vector<Job> Active;
  std::vector<std::unique_ptr<Block>> Idle;
  uint64_t DivergentWarps = 0;
  uint64_t Taken = 0, TakenEnd = 0; ///< of its chunk, not yet begun
};

/// Starts the next thread block, if any is left.
bool Worker::begin() {
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
  if (Idle.empty()) {
    J.B = std::make_unique<Block>(S.L);
  } else {
    J.B = std::move(Idle.back());
    Idle.pop_back();
  }
  const uint64_t Linear = S.Order(I);
  const bool Vectors = S.Observer && S.Observer->wants(Linear);
  if (Vectors)
    J.OwnSets.resize(Sets.size());
  J.B->start(Linear, *P, Vectors ? J.OwnSets.data() : Sets.data(), Vectors);
  Active.push_back(std::move(J));
  return true;
}

void Worker::finish(Job &J) {
  const KernelPlan &Plan = *S.L.Plan;
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
  size_t Turn = 0;
  while (!S.Stop.load(std::memory_order_relaxed)) {
    if (Active.empty() && !begin())
      break;
    Turn %= Active.size();
    auto Result = Active[Turn].B->run(*P);
    if (!Result) {
      std::lock_guard<std::mutex> Guard(S.Lock);
      // The first fault is the message; others often follow from it.
      if (S.Stop.exchange(true))
        consumeError(Result.takeError());
      else
        S.Failure = joinErrors(std::move(S.Failure), Result.takeError());
      if (Active[Turn].B->output().size())
        S.Printed[Active[Turn].B->linear()] = Active[Turn].B->output();
      break;
    }
    if (*Result == Status::Yielded) {
      begin(); // whoever it waits for may not have begun
      ++Turn;
      continue;
    }
    finish(Active[Turn]);
    Active.erase(Active.begin() + Turn);
  }
  std::lock_guard<std::mutex> Guard(S.Lock);
  for (size_t I = 0; I < Sets.size(); ++I)
    S.Sets[I] += Sets[I];
  S.DivergentWarps += DivergentWarps;
}

/// The launch's counters in the form that observers get.
LaunchCounts collect(const Shared &S) {
  const KernelPlan &P = *S.L.Plan;
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
  const auto Start = std::chrono::steady_clock::now();
  Threads = unsigned(std::clamp<uint64_t>(L.blocks(), 1, Threads));
  Shared S(L, Kind, Threads, Observer);
  std::vector<std::thread> Others;
  for (unsigned I = 1; I < Threads; ++I)
    Others.emplace_back([&S] { Worker(S).run(); });
  Worker(S).run();
  for (std::thread &T : Others)
    T.join();
  for (auto &[Block, Text] : S.Printed)
    std::fwrite(Text.data(), 1, Text.size(), stdout);
  if (Counts) {
    *Counts = collect(S);
    Counts->Seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
            .count();
  }
  return std::move(S.Failure);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static struct sigaction OldSegv, OldBus;

static void onSignal(int Signal, siginfo_t *Info, void *Context) {
  if (FaultGuard *Guard = currentGuard()) {
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
