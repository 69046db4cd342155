//===- warpvm/run/Launch.cpp - All blocks of a launch over all cores ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch hands out thread blocks to the CPU's threads through one counter, a
// few neighbours at a time: they are short, and they share data. Those of a
// cluster are handed out together. Each thread works on one block at a time; only
// when that block yields or pauses (its warps spin, waiting for another block) does
// it begin a further one, so that any block that others wait for comes to run (or
// never does: Deadlock.cpp). A block begins in the best code that there is by then,
// and takes better code where a barrier opens, so that a launch which runs for long
// does not end in code that was compiled fast. Counters are private to a thread and
// summed at the end: sums of integers, the same in any order.
//
// Another thread that helps (Helpers.cpp) has to wake up, and finds none of the
// launch's memory in its caches. That takes longer than many a launch. So there are
// as many threads as there is work for, a quarter of a millisecond each: by what the
// kernel's last launch took, and once the thread that launches has been alone for so
// long, by what it has done until then. Of a kernel's first launch nothing is known;
// as it may be a long one of few blocks, who launches looks after each warp. Where a
// thread can have a block each, all have: one may wait for another in a loop that
// does not look like waiting.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Launch.h"
#include "warpvm/run/Worker.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace llvm;

namespace reconverge::warpvm {

/// Threads that a GPU runs side by side, an H200's: blocks that pause, but would
/// get on alone, need no more company than they have there.
static constexpr uint64_t MostThreads = 132 * 2048;

/// The first fault is the message; others often follow from it.
void LaunchState::fail(Error E) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Stop.exchange(true))
    consumeError(std::move(E));
  else
    Failure = joinErrors(std::move(Failure), std::move(E));
}

/// Work that is worth a thread.
static constexpr std::chrono::microseconds Share(250);
using Seconds = std::chrono::duration<double>;

LaunchState::LaunchState(const LaunchContext &L, PolicyKind Kind,
                         unsigned Threads, VectorObserver *Observer)
    : L(L), Kind(Kind), Observer(Observer),
      Order(L.Clusters.clusters(), L.Seed),
      Chunk(
          std::clamp<uint64_t>(L.Clusters.clusters() / (64 * Threads), 1, 16)),
      MayConclude(L.OwnMemory && L.Seed == NaturalOrder),
      MostOthers(Threads - 1), LookAt(Begin + Share),
      Others([this] { Worker(*this).run(); }), Sets(2 * L.plan().NumCounters),
      Accesses(L.plan().NumAccesses) {}

unsigned othersWorth(double Seconds, unsigned Most) {
  const double Shares = Seconds / warpvm::Seconds(Share).count();
  return unsigned(std::clamp<double>(Shares - 1, 0, Most));
}

void LaunchState::callOthers(double Seconds) {
  const unsigned Worth = othersWorth(Seconds, MostOthers);
  if (Worth > NumOthers)
    Others.call(Worth - std::exchange(NumOthers, Worth));
}

void LaunchState::look(uint64_t Begun) {
  const auto Now = Clock::now();
  if (Now < LookAt)
    return;
  LookAt = Now + (Now - Begin);
  const uint64_t All = L.Clusters.clusters(),
                 Left = All - std::min<uint64_t>(Next, All);
  callOthers(Seconds(Now - Begin).count() / Begun * Left);
}

void Worker::look() {
  if (Calls && Begun && S.NumOthers < S.MostOthers && hasNext())
    S.look(Begun);
}

/// Starts the blocks of the next cluster, if any is left.
Expected<bool> Worker::begin() {
  if (Taken == TakenEnd) {
    if (!hasNext())
      return false;
    const uint64_t First = S.Next.fetch_add(S.Chunk);
    if (First >= S.L.Clusters.clusters())
      return false;
    Taken = First;
    TakenEnd = std::min(First + S.Chunk, S.L.Clusters.clusters());
  }
  const uint64_t I = Taken++;
  look();
  ++Begun;
  if (Idle.empty()) {
    auto Of = Cluster::create(S.L);
    if (!Of)
      return Of.takeError();
    Idle.push_back(std::move(*Of));
  }
  InFlight.push_back(std::move(Idle.back()));
  Idle.pop_back();
  begin(*InFlight.back(), S.Order(I));
  return true;
}

void Worker::begin(Cluster &Of, uint64_t Number) {
  Of.Left = Of.size();
  for (uint32_t Rank = 0; Rank < Of.size(); ++Rank) {
    const uint64_t Linear = S.L.Clusters.block(Number, Rank);
    Job J{&Of.block(Rank), &Of, {}};
    const bool Vectors = S.Observer && S.Observer->wants(Linear);
    const Code &Now = S.L.code(Vectors);
    if (Now.By == Effort::Fast && S.L.Running)
      S.L.Running();
    if (Vectors)
      J.OwnSets.resize(Sets.size());
    J.B->start(Linear, Now, *P, Vectors ? J.OwnSets.data() : Sets.data(),
               Accesses.data(), Vectors);
    Active.push_back(std::move(J));
  }
}

void Worker::finish(Job &J) {
  const KernelPlan &Plan = S.L.plan();
  DivergentWarps += J.B->divergentWarps();
  if (!Accesses.empty()) {
    BlockLoads += J.B->touched().blockLoads();
    Touched.add(J.B->touched());
  }
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
  if (--J.Of->Left)
    return;
  auto At = find_if(InFlight, [&](auto &C) { return C.get() == J.Of; });
  Idle.push_back(std::move(*At));
  InFlight.erase(At);
}

void Worker::run() {
  const auto Begin = Clock::now();
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
  S.Busy += Clock::now() - Begin;
  S.DivergentWarps += DivergentWarps;
  for (size_t I = 0; I < Accesses.size(); ++I)
    S.Accesses[I] += Accesses[I];
  S.BlockLoads += BlockLoads;
  S.Touched.add(Touched);
}

void Worker::work() {
  size_t Turn = 0;
  const auto Look = [this] { look(); };
  function_ref<void()> AfterWarp;
  if (Calls && S.IsFirst)
    AfterWarp = Look;
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
    auto Result = Active[Turn].B->run(*P, /*MayPause=*/true, AfterWarp);
    if (!Result) {
      S.fail(Result.takeError());
      std::lock_guard<std::mutex> Guard(S.Lock);
      if (Active[Turn].B->output().size())
        S.Printed[Active[Turn].B->linear()] = Active[Turn].B->output();
      return;
    }
    if (*Result == Status::Paused) {
      if (Active.size() * S.L.threads() < MostThreads)
        if (Expected<bool> Begun = begin(); !Begun)
          return S.fail(Begun.takeError());
      ++Turn;
      continue;
    }
    if (*Result != Status::Done) {
      // Whoever it waits for may not have begun, unless that is in its cluster.
      Expected<bool> Begun = *Result == Status::Yielded ? begin() : false;
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

/// Adds what compiled code counted by itself.
static void addSimpleRequests(const LaunchState &S,
                              std::vector<AccessCounts> &To) {
  const KernelPlan &P = S.L.plan();
  for (unsigned Set = 0; Set < 2; ++Set) {
    const uint64_t *C =
        S.Sets.data() + Set * P.NumCounters + P.BranchOffset[P.NumBranches];
    for (size_t I = 0; I < To.size(); ++I) {
      To[I].Requests += C[2 * I];
      To[I].Lanes += C[2 * I + 1];
      To[I].Wavefronts += C[2 * I];
      To[I].LeastWavefronts += C[2 * I];
    }
  }
}

/// The launch's counters in the form that observers get.
static LaunchCounts collect(const LaunchState &S) {
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
  Counts.Prints = !S.Printed.empty();
  if (!S.Accesses.empty()) {
    Counts.Accesses = S.Accesses;
    addSimpleRequests(S, Counts.Accesses);
    Counts.Touched = {S.L.blocks(), S.BlockLoads, S.Touched.loads(),
                      S.Touched.stores()};
  }
  return Counts;
}

Error runLaunch(const LaunchContext &L, PolicyKind Kind, unsigned Threads,
                double &BlockSeconds, LaunchCounts *Counts,
                VectorObserver *Observer) {
  // Races are found in the order in which one thread makes the accesses.
  Threads =
      L.Races
          ? 1
          : unsigned(std::clamp<uint64_t>(L.Clusters.clusters(), 1, Threads));
  LaunchState S(L, Kind, Threads, Observer);
  S.IsFirst = std::isinf(BlockSeconds) && L.Clusters.clusters() > Threads;
  if (!S.IsFirst)
    S.callOthers(BlockSeconds * L.blocks());
  Worker(S, /*Calls=*/true).run();
  S.Others.dismiss();
  BlockSeconds = Seconds(S.Busy).count() / L.blocks();
  if (!L.Quiet)
    for (auto &[Block, Text] : S.Printed)
      std::fwrite(Text.data(), 1, Text.size(), stdout);
  if (Counts) {
    *Counts = collect(S);
    Counts->Seconds =
        std::chrono::duration<double>(LaunchState::Clock::now() - S.Begin)
            .count();
  }
  return std::move(S.Failure);
}

} // namespace reconverge::warpvm
