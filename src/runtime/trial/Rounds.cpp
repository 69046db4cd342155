//===- runtime/trial/Rounds.cpp - One launch, timed -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round runs the original and each candidate that was right once, in an order
// that changes, each from the memory before the launch. So what disturbs the
// device for a while falls upon all of them, and the times of one round belong
// together (driver/Decide.cpp). The first round warms up and is not counted.
//
// Short launches have more rounds: they are cheap, and what disturbs them is as
// long as they are.
//
// A remedy that has lost each of the first rounds, and not by a little, takes
// part in no more: the device's time is for those that may be kept. The rounds
// that it has are enough for an interval. Other compilers' builds stay: gains
// are measured against them.
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

/// Of a launch that takes \p Milliseconds.
static unsigned roundsFor(unsigned Samples, double Milliseconds) {
  constexpr double Enough = 0.5; // ms
  constexpr double Most = 5;
  return Samples *
         unsigned(std::clamp(Enough / std::max(Milliseconds, 1e-3), 1., Most));
}

/// Fewest rounds from which something can be told.
static constexpr unsigned Least = 6;

/// What a build costs in a round, over the fastest build of that round, if it
/// has lost the round.
static constexpr double Lost = 1.1;

/// Takes out of \p Order the remedies that the rounds so far show as lost.
/// \p Times: of \p All, the original (null) first.
static void dropLosers(ArrayRef<TriedCandidate *> All,
                       ArrayRef<std::vector<double>> Times,
                       SmallVectorImpl<size_t> &Order) {
  const size_t Rounds = Times.front().size();
  std::vector<double> Fastest = Times.front();
  for (size_t Which : Order)
    for (size_t R = 0; R != Rounds; ++R)
      Fastest[R] = std::min(Fastest[R], Times[Which][R]);
  erase_if(Order, [&](size_t Which) {
    return All[Which] && All[Which]->What.changesCode() &&
           all_of(zip(Times[Which], Fastest), [](auto Round) {
             return std::get<0>(Round) > Lost * std::get<1>(Round);
           });
  });
}

void timeRounds(Bench &On, LaunchLog &Log, ArrayRef<TriedCandidate *> Right,
                unsigned Samples, double Seconds) {
  const Stopwatch Time;
  SmallVector<TriedCandidate *> All = {nullptr}; // the original
  append_range(All, Right);
  std::vector<std::vector<double>> Times(All.size());
  SmallVector<size_t> Order;
  append_range(Order, seq<size_t>(0, All.size()));
  std::mt19937 Draw; // the same orders in each run
  RunOptions Timed;
  Timed.Timed = true;
  unsigned Rounds = Samples;
  for (unsigned Round = 0; Round <= Rounds; ++Round) {
    if (Round > Least && Time.seconds() > Seconds)
      break;
    if (Round == Least + 1)
      dropLosers(All, Times, Order);
    llvm::shuffle(Order.begin(), Order.end(), Draw);
    for (size_t Which : Order) {
      TriedCandidate *C = All[Which];
      On.restoreBefore();
      const RunEnd End = C ? On.run(*C, Timed) : On.runOriginal(Timed);
      assert((C || End.isWell()) && "the original has run before");
      if (C && !endedWell(On, Log, *C, End))
        return;
      if (!C && !Round)
        Rounds = roundsFor(Rounds, End.Milliseconds);
      if (Round)
        Times[Which].push_back(End.Milliseconds);
    }
  }
  for (size_t I = 1; I != All.size(); ++I) {
    TrialEvent E = Log.event(TrialEvent::Timed, All[I]->What);
    E.OriginalMs = Times.front();
    E.VariantMs = Times[I];
    Log.add(E);
  }
}

} // namespace reconverge::runtime
