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

/// A warp shares where Saved * n >= PerRound * rounds + Once, with n the most
/// iterations of a lane, and rounds the sum of all lanes' / 32.
struct Weights {
  int64_t Saved = 0, PerRound = 0, Once = 0;
  int64_t Step = 0; ///< of the chain, instructions
};

/// Of \p L, whose longest lane must take at least \p Percent of what sharing
/// takes.
Weights weightsOf(const llvm::Loop &L, const llvm::LoopInfo &Loops,
                  const Carried &Values, unsigned Percent);

} // namespace reconverge::remedies::share

#endif
