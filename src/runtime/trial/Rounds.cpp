//===- runtime/trial/Rounds.cpp - One launch, timed -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round runs the original and each candidate that was right once, in an order
// that changes, each from the memory before the launch. So what disturbs the
// device for a while falls upon all of them, and the times of one round belong
// together (driver/Decide.cpp). The first round warms up and is not counted.
//
// Short launches have more rounds: they are cheap, and what disturbs them is as
// long as they are. Long ones need no warming up, and what their rounds have shown
// is logged along the way: the process may be out of time before the last. Very
// long ones have fewer rounds: what disturbs them is short beside them.
//
// A remedy that has lost six rounds on end, and by more than decides what is
// kept, takes part in no more: the device's time is for those that may be kept.
// The rounds that it has are enough for an interval. One that loses its first
// long launch by half has no second, and one that loses three of them by a tenth
// no fourth. The builds of the kernel as it is stay, as gains are measured
// against them, until all but one build have lost.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Rounds.h"

#include "runtime/trial/Protocol.h"
#include "runtime/trial/Stopwatch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cassert>
#include <random>

using namespace llvm;

namespace reconverge::runtime {

/// Fewest rounds from which something can be told; of launches that leave no
/// time for more.
static constexpr unsigned Least = 6, LeastInHaste = 3;

/// Of a launch that takes \p Milliseconds.
static unsigned roundsFor(unsigned Samples, double Milliseconds) {
  constexpr double Enough = 0.5; // ms
  constexpr double Most = 5;
  const unsigned All =
      Samples *
      unsigned(std::clamp(Enough / std::max(Milliseconds, 1e-3), 1., Most));
  constexpr double Together = 4000; // ms of the original
  return std::min(All, std::max(unsigned(Together / Milliseconds), Least));
}

/// Milliseconds from which a launch is a long one; a very long one.
static constexpr double Long = 5, VeryLong = 100;

/// What a build costs in a round, over the fastest build of that round, if it
/// has lost the round; the first one, of a long launch.
static constexpr double Lost = 1.02, LostLong = 1.5, LostThreeLong = 1.1;

bool isLostCause(double Original, double Variant) {
  return Original >= VeryLong && Variant > LostLong * Original;
}

namespace {
/// The original and all builds that were right, in rounds.
class TimedRounds {
public:
  TimedRounds(Bench &On, LaunchLog &Log, ArrayRef<TriedCandidate *> Right)
      : On(On), Log(Log) {
    append_range(All, Right);
    Times.resize(All.size());
    append_range(Order, seq<size_t>(0, All.size()));
  }
  void run(unsigned Samples, double Seconds);

private:
  bool runRound();
  bool dropLosers(double By);
  void tell();
  size_t rounds() const { return Times.front().size(); }

  Bench &On;
  LaunchLog &Log;
  SmallVector<TriedCandidate *> All = {nullptr}; ///< the original first
  std::vector<std::vector<double>> Times;        ///< of all, milliseconds
  SmallVector<size_t> Order;                     ///< who takes part
  std::mt19937 Draw; ///< the same orders in each run
};
} // namespace

/// Takes out those remedies that have lost the last rounds, at most Least: each
/// took more than \p By times what the fastest did. Whether two builds are left
/// that have not, of which the rounds to come may tell the better.
bool TimedRounds::dropLosers(double By) {
  const size_t From = rounds() - std::min<size_t>(rounds(), Least);
  std::vector<double> Fastest = Times.front();
  for (size_t Which : Order)
    for (size_t R = From; R != rounds(); ++R)
      Fastest[R] = std::min(Fastest[R], Times[Which][R]);
  auto HasLost = [&](size_t Which) {
    return all_of(seq(From, rounds()),
                  [&](size_t R) { return Times[Which][R] > By * Fastest[R]; });
  };
  const bool IsOpen = count_if(Order, HasLost) + 1 < ptrdiff_t(Order.size());
  erase_if(Order, [&](size_t Which) {
    return All[Which] && All[Which]->What.changesCode() && HasLost(Which);
  });
  return IsOpen;
}

/// False if a candidate has ended badly.
bool TimedRounds::runRound() {
  RunOptions Timed;
  Timed.Timed = true;
  llvm::shuffle(Order.begin(), Order.end(), Draw);
  for (size_t Which : Order) {
    TriedCandidate *C = All[Which];
    On.restoreBefore();
    const RunEnd End = C ? On.run(*C, Timed) : On.runOriginal(Timed);
    assert((C || End.isWell()) && "the original has run before");
    if (C && !endedWell(On, Log, *C, End))
      return false;
    Times[Which].push_back(End.Milliseconds);
  }
  return true;
}

/// Logs what is known; of a launch, the last holds.
void TimedRounds::tell() {
  for (size_t I = 1; I != All.size(); ++I) {
    TrialEvent E = Log.event(TrialEvent::Timed, All[I]->What);
    E.OriginalMs = Times.front();
    E.VariantMs = Times[I];
    Log.add(E);
  }
}

void TimedRounds::run(unsigned Samples, double Seconds) {
  const Stopwatch Time;
  if (!runRound())
    return;
  const double First = Times.front().front();
  const unsigned Rounds = roundsFor(Samples, First);
  if (First >= Long)
    dropLosers(LostLong);
  else
    for (std::vector<double> &T : Times)
      T.clear();
  for (double Told = 0; rounds() < Rounds;) {
    constexpr double Often = 1; // seconds
    if (Time.seconds() - Told > Often) {
      tell();
      Told = Time.seconds();
    }
    if (rounds() >= LeastInHaste && Time.seconds() > Seconds)
      break;
    if (!runRound())
      return;
    if (First >= Long && rounds() == LeastInHaste)
      dropLosers(LostThreeLong);
    if (rounds() % Least == 0 && !dropLosers(Lost))
      break;
  }
  tell();
}

void timeRounds(Bench &On, LaunchLog &Log, ArrayRef<TriedCandidate *> Right,
                unsigned Samples, double Seconds) {
  TimedRounds(On, Log, Right).run(Samples, Seconds);
}

} // namespace reconverge::runtime
