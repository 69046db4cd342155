//===- warpvm/run/Mbarrier.cpp - Barriers in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX's mbarrier is 64 opaque bits in shared memory. Ours:
//
//   bit 63      phase, even or odd
//   bits 40-60  bytes of transactions still to come, two's complement
//   bits 20-39  arrivals that a phase takes
//   bits 0-19   arrivals that this phase still waits for
//
// A phase is over when it waits for neither arrivals nor bytes: the phase bit
// turns and the count begins again. The state that an arrival returns is the
// word as it was, so "is my phase over" compares phase bits. No thread waits in
// here: waiting is the program's loop around test_wait, which the scheduler
// takes for what it is (Regions.cpp). A thread block runs on one CPU thread, so
// no atomics.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Mbarrier.h"

#include "warpvm/Layout.h"
#include "warpvm/run/Library.h"
#include "warpvm/run/Races.h"

namespace reconverge::warpvm {

namespace {
struct State {
  uint32_t Pending, Expected;
  int32_t Bytes;
  bool Odd;

  explicit State(uint64_t Word)
      : Pending(Word & Count), Expected(Word >> 20 & Count),
        Bytes(int32_t(uint32_t(Word >> 40) << 11) >> 11), Odd(Word >> 63) {}
  uint64_t word() const {
    return Pending | uint64_t(Expected) << 20 |
           uint64_t(uint32_t(Bytes) & 0x1fffff) << 40 | uint64_t(Odd) << 63;
  }
  void completeIfOver() {
    if (Pending || Bytes)
      return;
    Pending = Expected;
    Odd = !Odd;
  }
  static constexpr uint32_t Count = (1 << 20) - 1;
};
} // namespace

/// \p N threads arrive, who leave the barrier's count for good if \p Drop.
static uint64_t arrive(uint64_t *Barrier, uint32_t N, bool Drop = false,
                       uint32_t Bytes = 0) {
  const uint64_t Before = *Barrier;
  State S(Before);
  S.Bytes += int32_t(Bytes);
  S.Pending = (S.Pending - N) & State::Count;
  if (Drop)
    S.Expected = (S.Expected - N) & State::Count;
  S.completeIfOver();
  *Barrier = S.word();
  return Before;
}

static void init(WarpContext *, uint64_t, uint64_t *Barrier, uint32_t N) {
  State S(0);
  S.Pending = S.Expected = N & State::Count;
  *Barrier = S.word();
}

static void inval(WarpContext *, uint64_t, uint64_t *Barrier) { *Barrier = 0; }

/// Where races are looked for: what \p Lane did so far comes before what those
/// do who wait for the phase.
static void publish(WarpContext *Context, uint64_t Lane,
                    const uint64_t *Barrier) {
  if (BlockRaces *Races = racesOf(Context))
    Races->publishAt(threadOf(Context, Lane), Barrier);
}

static uint8_t seen(WarpContext *Context, uint64_t Lane,
                    const uint64_t *Barrier, bool Over) {
  if (Over)
    if (BlockRaces *Races = racesOf(Context))
      Races->acquireAt(threadOf(Context, Lane), Barrier);
  return Over;
}

static uint64_t arriveOne(WarpContext *Context, uint64_t Lane,
                          uint64_t *Barrier) {
  publish(Context, Lane, Barrier);
  return arrive(Barrier, 1);
}

static uint64_t dropOne(WarpContext *Context, uint64_t Lane,
                        uint64_t *Barrier) {
  publish(Context, Lane, Barrier);
  return arrive(Barrier, 1, true);
}

static uint64_t arriveMany(WarpContext *Context, uint64_t Lane,
                           uint64_t *Barrier, uint32_t N) {
  publish(Context, Lane, Barrier);
  return arrive(Barrier, N);
}

static uint64_t dropMany(WarpContext *Context, uint64_t Lane, uint64_t *Barrier,
                         uint32_t N) {
  publish(Context, Lane, Barrier);
  return arrive(Barrier, N, true);
}

static void changeBytes(uint64_t *Barrier, int32_t Bytes) {
  State S(*Barrier);
  S.Bytes += Bytes;
  S.completeIfOver();
  *Barrier = S.word();
}

static void expectBytes(WarpContext *, uint64_t, uint64_t *Barrier,
                        uint32_t Bytes) {
  changeBytes(Barrier, int32_t(Bytes));
}

static void completeBytes(WarpContext *Context, uint64_t Lane,
                          uint64_t *Barrier, uint32_t Bytes) {
  publish(Context, Lane, Barrier);
  changeBytes(Barrier, -int32_t(Bytes));
}

static uint64_t arriveExpecting(WarpContext *Context, uint64_t Lane,
                                uint64_t *Barrier, uint32_t Bytes) {
  publish(Context, Lane, Barrier);
  return arrive(Barrier, 1, false, Bytes);
}

static uint8_t isOver(WarpContext *Context, uint64_t Lane,
                      const uint64_t *Barrier, uint64_t Before) {
  return seen(Context, Lane, Barrier, State(*Barrier).Odd != State(Before).Odd);
}

/// The phase of parity \p Parity is over if the barrier is in the other one.
static uint8_t isParityOver(WarpContext *Context, uint64_t Lane,
                            const uint64_t *Barrier, uint32_t Parity) {
  return seen(Context, Lane, Barrier, State(*Barrier).Odd != (Parity & 1));
}

static uint32_t pendingCount(WarpContext *, uint64_t, uint64_t Before) {
  return State(Before).Pending;
}

llvm::ArrayRef<std::pair<const char *, void *>> mbarrierSymbols() {
#define ENTRY(NAME, FUNCTION)                                                  \
  {"rcvm_mbarrier_" NAME, reinterpret_cast<void *>(&FUNCTION)}
  static const std::pair<const char *, void *> Symbols[] = {
      ENTRY("init", init),
      ENTRY("inval", inval),
      ENTRY("arrive", arriveOne),
      ENTRY("arrive_drop", dropOne),
      ENTRY("arrive_noComplete", arriveMany),
      ENTRY("arrive_drop_noComplete", dropMany),
      ENTRY("arrive_many", arriveMany),
      ENTRY("arrive_drop_many", dropMany),
      ENTRY("arrive_expect_tx", arriveExpecting),
      ENTRY("expect_tx", expectBytes),
      ENTRY("complete_tx", completeBytes),
      ENTRY("test_wait", isOver),
      ENTRY("try_wait", isOver),
      ENTRY("test_wait_parity", isParityOver),
      ENTRY("try_wait_parity", isParityOver),
      ENTRY("pending_count", pendingCount),
  };
#undef ENTRY
  return Symbols;
}

} // namespace reconverge::warpvm
