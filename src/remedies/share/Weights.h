//===- remedies/share/Weights.h - What a shared round takes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_WEIGHTS_H
#define RECONVERGE_REMEDIES_SHARE_WEIGHTS_H

#include <cstdint>

namespace llvm {
class Loop;
class LoopInfo;
} // namespace llvm

namespace reconverge::remedies::share {

struct Carried;

/// A warp shares where Alone * n >= (PerRound + PerStep * min(n, 32)) * rounds +
/// Once, with n the most iterations of a lane, and rounds the sum of all lanes'
/// / 32.
struct Weights {
  int64_t Alone = 0, PerRound = 0, PerStep = 0, Once = 0;
  int64_t Step = 0; ///< of the chain, instructions
  /// Whether there are iterations of which so many pay.
  bool mayPay() const { return Alone > PerStep; }
  /// Iterations of which some lane must have as many if that is to hold.
  uint32_t least() const;
};

/// Steps of \p Values' chain from one vote to the next: several where they are
/// short.
unsigned stepsAtOnce(const Carried &Values);

/// Of \p L, whose longest lane must take at least \p Percent of what sharing
/// takes.
Weights weightsOf(const llvm::Loop &L, const llvm::LoopInfo &Loops,
                  const Carried &Values, unsigned Percent);

} // namespace reconverge::remedies::share

#endif
