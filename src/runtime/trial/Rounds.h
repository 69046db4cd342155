//===- runtime/trial/Rounds.h - One launch, timed ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_ROUNDS_H
#define RECONVERGE_RUNTIME_TRIAL_ROUNDS_H

#include "runtime/trial/Bench.h"

namespace reconverge::runtime {

/// Whether one run of so many milliseconds tells that it is not worth a second:
/// of very long launches.
bool isLostCause(double Original, double Variant);

/// Times the original and \p Right in rounds, so many as \p Samples says, and
/// logs the times. \p Seconds: after these there are no more than need be. A
/// candidate that clearly loses has fewer times than the original, and there are
/// fewer rounds where all builds but one do.
void timeRounds(Bench &On, LaunchLog &Log,
                llvm::ArrayRef<TriedCandidate *> Right, unsigned Samples,
                double Seconds);

} // namespace reconverge::runtime

#endif
