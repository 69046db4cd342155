//===- runtime/gpu/LaunchTimes.cpp - One launch, timed --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round runs the original and each candidate that was right once, in an order
// that changes, each from the memory before the launch.
//
// Times are of the kernel alone on the device, between two events, its caches
// filled by the copies that were made before, the same ones for all. The host's
// part of the launch is not in them (StreamGate.cpp). As the launches of a
// program follow upon their like, a timed run of a short launch follows upon an
// untimed one of the same code. Short launches have more rounds: they are
// cheap, and what disturbs them is as long as they are.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/LaunchTrial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <random>

using namespace llvm;

namespace reconverge::gpu {

LaunchTrial::End LaunchTrial::runTimed(CandidateCode *C) {
  constexpr float Short = 1; // ms; before a longer one nothing stays warm
  const End First = runAgain(C, /*Gated=*/true);
  if (First.Launched || First.Ran || First.Milliseconds > Short)
    return First;
  return runAgain(C, /*Gated=*/true);
}

/// Of a launch that takes \p Milliseconds.
static unsigned roundsFor(unsigned Samples, double Milliseconds) {
  constexpr double Enough = 0.5; // ms
  constexpr double Most = 5;
  return Samples *
         unsigned(std::clamp(Enough / std::max(Milliseconds, 1e-3), 1., Most));
}

void LaunchTrial::timeRounds() {
  if (Right.empty() || !In.Plan.Samples)
    return;
  constexpr unsigned Least = 6; // rounds from which something can be told
  const double From = now();
  std::vector<CandidateCode *> All = {nullptr};
  append_range(All, Right);
  std::vector<std::vector<double>> Times(All.size());
  SmallVector<size_t> Order;
  append_range(Order, seq<size_t>(0, All.size()));
  std::mt19937 Draw; // the same orders in each run
  unsigned Rounds = In.Plan.Samples;
  // The first round warms up.
  for (unsigned Round = 0; Round <= Rounds; ++Round) {
    if (Round > Least && now() - From > share())
      break;
    llvm::shuffle(Order.begin(), Order.end(), Draw);
    for (size_t Which : Order) {
      const End E = runTimed(All[Which]);
      if (CandidateCode *C = All[Which]) {
        if (!endedWell(*C, E))
          return;
      } else {
        must(E.Launched);
        must(E.Ran);
        if (!Round)
          Rounds = roundsFor(Rounds, E.Milliseconds);
      }
      if (Round)
        Times[Which].push_back(E.Milliseconds);
    }
  }
  for (size_t I = 1; I != All.size(); ++I) {
    TrialEvent E = Event;
    E.What = TrialEvent::Timed;
    E.Tried = All[I]->What;
    E.OriginalMs = Times.front();
    E.VariantMs = Times[I];
    In.Log->add(E);
  }
}

} // namespace reconverge::gpu
