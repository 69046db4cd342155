//===- warpvm/run/RaceClock.cpp - What comes before what ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before, as CUDA gives it to the threads of a launch. A vector clock
// for each thread over all others would be large, and is not needed: a launch
// that is checked runs on one CPU thread, so one counter serves as the clock of
// all threads. The counter is incremented after each synchronisation. That
// thread A's access at time t is over for thread B means: some chain of
// synchronisations leads from A, at t or later, to B. So B keeps one time for
// each other thread A: accesses of A up to that time come before what B does
// next. Most of these times are equal and are stored once:
//
//   Barrier       all threads of the block met: everything of theirs up to then
//   Group::Met    all 32 lanes of a warp met, by __syncwarp or a collective
//   Group::Pairs  some lanes met, or some pairs of lanes through others: a time
//                 for each pair
//   Foreign       all else (named barriers, mbarriers, flags): a VectorClock
//
// At a block's barrier the warp entries become obsolete, and the threads'
// Foreign clocks are merged into one for the block.
//
// Fences. By a relaxed atomic or volatile write a thread publishes what it did
// before its last fence (PTX: a fence and a strong write after it are a
// release), and all that it has learned from other threads by now, even after
// that fence. If some thread of the block executed a fence before a barrier,
// every thread may publish everything that all threads of the block did before
// that barrier. A reader learns what is published at once, with no fence of its
// own asked for, and learns all that was ever published at the place it reads.
// Each of these simplifications can miss a race and cannot report a false one:
// an order is assumed where PTX might give none.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/RaceClock.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

static constexpr uint32_t AllThreads = 0xffff;

static uint64_t keyOf(uint32_t Block, uint32_t Thread) {
  return uint64_t(Block) << 16 | Thread;
}

Time VectorClock::of(uint64_t Key) const {
  auto At = llvm::lower_bound(Known, Entry(Key, 0));
  return At != Known.end() && At->first == Key ? At->second : 0;
}

bool VectorClock::covers(uint32_t Block, uint32_t Thread, Time At) const {
  return At <= Everything || At <= of(keyOf(Block, AllThreads)) ||
         At <= of(keyOf(Block, Thread));
}

void VectorClock::add(uint64_t Key, Time At) {
  if (At <= Everything)
    return;
  auto Place = llvm::lower_bound(Known, Entry(Key, 0));
  if (Place != Known.end() && Place->first == Key)
    Place->second = std::max(Place->second, At);
  else
    Known.insert(Place, {Key, At});
  bound();
}

void VectorClock::addThread(uint32_t Block, uint32_t Thread, Time At) {
  add(keyOf(Block, Thread), At);
}

void VectorClock::addBlock(uint32_t Block, Time At) {
  add(keyOf(Block, AllThreads), At);
}

void VectorClock::bound() {
  if (Known.size() <= MaxEntries)
    return;
  for (const Entry &E : Known)
    Everything = std::max(Everything, E.second);
  Known.clear();
}

void VectorClock::join(const VectorClock &Other) {
  Everything = std::max(Everything, Other.Everything);
  std::vector<Entry> Both;
  Both.reserve(Known.size() + Other.Known.size());
  auto Take = [&](uint64_t Key, Time At) {
    if (At > Everything)
      Both.push_back({Key, At});
  };
  auto A = Known.begin();
  auto B = Other.Known.begin();
  while (A != Known.end() || B != Other.Known.end()) {
    if (B == Other.Known.end() || (A != Known.end() && A->first < B->first)) {
      Take(A->first, A->second);
      ++A;
    } else if (A == Known.end() || B->first < A->first) {
      Take(B->first, B->second);
      ++B;
    } else {
      Take(A->first, std::max(A->second, B->second));
      ++A, ++B;
    }
  }
  Known = std::move(Both);
  bound();
}

ClockRef joined(const ClockRef &A, const ClockRef &B) {
  if (!A || A == B)
    return B;
  if (!B)
    return A;
  auto Both = std::make_shared<VectorClock>(*A);
  Both->join(*B);
  return Both;
}

//===----------------------------------------------------------------------===//
// A thread block's
//===----------------------------------------------------------------------===//

void BlockClocks::start(uint32_t NewBlock, unsigned NumThreads, Time &Launch) {
  Block = NewBlock;
  Now = &Launch;
  Threads.assign(NumThreads, {});
  Groups.assign((NumThreads + GroupSize - 1) / GroupSize, {});
  Barrier = Fenced = 0;
  FencedSince = false;
  Foreign.reset();
  for (ClockRef &C : Arrived)
    C.reset();
}

/// Up to when \p Thread knows what \p Other, of its group, did.
Time BlockClocks::knownInGroup(unsigned Thread, unsigned Other) const {
  const Group &G = Groups[Thread / GroupSize];
  if (G.Pairs.empty())
    return G.Met;
  return std::max(G.Met,
                  G.Pairs[Thread % GroupSize * GroupSize + Other % GroupSize]);
}

bool BlockClocks::areAlike(unsigned Group) const {
  if (!Groups[Group].Pairs.empty())
    return false;
  const size_t First = Group * GroupSize;
  const size_t End = std::min(First + GroupSize, Threads.size());
  for (size_t T = First + 1; T < End; ++T)
    if (Threads[T].Foreign != Threads[First].Foreign)
      return false;
  return true;
}

bool BlockClocks::ordersOtherwise(unsigned Thread, uint32_t ByBlock,
                                  uint32_t ByThread, Time At) const {
  if (ByBlock == Block && ByThread / GroupSize == Thread / GroupSize &&
      At <= knownInGroup(Thread, ByThread))
    return true;
  const ClockRef &Own = Threads[Thread].Foreign;
  return (Own && Own->covers(ByBlock, ByThread, At)) ||
         (Foreign && Foreign->covers(ByBlock, ByThread, At));
}

void BlockClocks::meetAll() {
  for (ThreadClock &T : Threads)
    if (T.Foreign) {
      Foreign = joined(Foreign, T.Foreign);
      T.Foreign.reset();
    }
  Barrier = *Now;
  if (FencedSince)
    Fenced = Barrier;
  FencedSince = false;
  ++*Now;
}

ClockRef BlockClocks::meetOthers() {
  meetAll();
  auto All = std::make_shared<VectorClock>();
  if (Foreign)
    All->join(*Foreign);
  All->addBlock(Block, Barrier);
  return All;
}

/// What \p Thread did until \p Until, and what it knows of its warp and block.
void BlockClocks::addOwn(VectorClock &To, unsigned Thread, Time Until) const {
  To.addThread(Block, Thread, Until);
  const unsigned First = Thread / GroupSize * GroupSize;
  for (unsigned T = First; T < First + GroupSize && T < Threads.size(); ++T)
    if (const Time At = knownInGroup(Thread, T); T != Thread && At > Barrier)
      To.addThread(Block, T, At);
}

/// What \p Thread learned from others.
void BlockClocks::addKnowledge(VectorClock &To, unsigned Thread) const {
  if (const ClockRef &Own = Threads[Thread].Foreign)
    To.join(*Own);
  if (Foreign)
    To.join(*Foreign);
}

void BlockClocks::meet(unsigned Id, llvm::ArrayRef<unsigned> Those) {
  if (Those.size() == Threads.size()) {
    for (unsigned T : Those) // who arrived may have come from elsewhere
      Threads[T].Foreign = joined(Threads[T].Foreign, Arrived[Id]);
    Arrived[Id].reset();
    return meetAll();
  }
  auto All = std::make_shared<VectorClock>();
  if (Arrived[Id])
    All->join(*Arrived[Id]);
  Arrived[Id].reset();
  const VectorClock *Last = nullptr;
  for (unsigned T : Those) {
    addOwn(*All, T, *Now);
    if (const ClockRef &Own = Threads[T].Foreign; Own && Own.get() != Last) {
      All->join(*Own);
      Last = Own.get();
    }
  }
  for (unsigned T : Those)
    Threads[T].Foreign = All;
  ++*Now;
}

void BlockClocks::arrive(unsigned Id, unsigned Thread) {
  auto Mine = std::make_shared<VectorClock>();
  addOwn(*Mine, Thread, *Now);
  addKnowledge(*Mine, Thread);
  Arrived[Id] = joined(Arrived[Id], Mine);
  ++*Now;
}

void BlockClocks::meetInGroup(unsigned Group, uint32_t Lanes, bool All) {
  auto &G = Groups[Group];
  const unsigned First = Group * GroupSize;
  ClockRef Seen;
  for (uint32_t Left = Lanes; Left; Left &= Left - 1)
    Seen = joined(Seen, Threads[First + __builtin_ctz(Left)].Foreign);
  if (Seen)
    for (uint32_t Left = Lanes; Left; Left &= Left - 1)
      Threads[First + __builtin_ctz(Left)].Foreign = Seen;
  if (All) {
    G.Met = *Now;
    return;
  }
  if (G.Pairs.empty())
    G.Pairs.assign(GroupSize * GroupSize, 0);
  Time Known[GroupSize] = {};
  for (uint32_t Left = Lanes; Left; Left &= Left - 1)
    for (unsigned O = 0; O < GroupSize; ++O)
      Known[O] =
          std::max(Known[O], G.Pairs[__builtin_ctz(Left) * GroupSize + O]);
  for (uint32_t Left = Lanes; Left; Left &= Left - 1)
    Known[__builtin_ctz(Left)] = *Now;
  for (uint32_t Left = Lanes; Left; Left &= Left - 1)
    std::copy(std::begin(Known), std::end(Known),
              G.Pairs.begin() + __builtin_ctz(Left) * GroupSize);
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

void BlockClocks::fence(unsigned Thread) {
  Threads[Thread].Fence = *Now;
  Threads[Thread].BlockAtFence = Barrier;
  FencedSince = true;
}

ClockRef BlockClocks::published(unsigned Thread, bool Releases) {
  if (Releases) {
    fence(Thread);
    ++*Now;
  }
  const ThreadClock &T = Threads[Thread];
  if (!T.Fence && !Fenced)
    return nullptr;
  auto C = std::make_shared<VectorClock>();
  if (T.Fence)
    addOwn(*C, Thread, T.Fence);
  C->addBlock(Block, std::max(Fenced, T.BlockAtFence));
  addKnowledge(*C, Thread);
  return C;
}

void BlockClocks::acquire(unsigned Thread, const ClockRef &Seen) {
  ThreadClock &T = Threads[Thread];
  if (!Seen || Seen == T.LastSeen)
    return;
  T.LastSeen = Seen;
  T.Foreign = joined(T.Foreign, Seen);
}

} // namespace reconverge::warpvm
