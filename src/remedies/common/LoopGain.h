//===- remedies/common/LoopGain.h - The loop that gives most back -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For remedies that change one loop of a kernel, where its lanes leave at
// different times.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_LOOPGAIN_H
#define RECONVERGE_REMEDIES_COMMON_LOOPGAIN_H

#include "remedies/common/Counted.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

namespace reconverge::remedies {

struct LoopGain {
  std::vector<uint32_t> Exits; ///< positions of branches
  uint32_t Exit = 0;           ///< of them, where most idles
  double Gain = 0, Price = 0;  ///< slots
  double net() const { return Gain - Price; }
};

/// The loop whose gain, what idles at its exits by \p Self, is most above its
/// price; none: nowhere is it above. \p PriceOf gets the exits, their gain and
/// the loop's rounds, of lanes; none: the loop is not for the remedy.
inline std::optional<LoopGain> bestLoop(
    const KernelProfile &K, llvm::ArrayRef<double> Self,
    llvm::function_ref<std::optional<double>(llvm::ArrayRef<uint32_t> Exits,
                                             double Gain, double Rounds)>
        PriceOf) {
  std::optional<LoopGain> Best;
  for (const std::vector<uint32_t> &OfOne : loopExits(K)) {
    LoopGain Here;
    Here.Exits = OfOne;
    Here.Exit = *std::ranges::max_element(OfOne, {},
                                          [&](uint32_t B) { return Self[B]; });
    double Rounds = 0;
    for (uint32_t B : OfOne) {
      Here.Gain += Self[B];
      Rounds =
          std::max(Rounds, double(K.Blocks[K.Info.Branches[B].Block].Lanes));
    }
    const std::optional<double> Price = PriceOf(OfOne, Here.Gain, Rounds);
    if (!Price)
      continue;
    Here.Price = *Price;
    if (Here.net() > (Best ? Best->net() : 0))
      Best = std::move(Here);
  }
  return Best;
}

/// Of \p Best, what branch \p B answers for.
inline BranchBound boundOf(const std::optional<LoopGain> &Best,
                           llvm::ArrayRef<double> Self, uint32_t B) {
  if (!Best || !llvm::is_contained(Best->Exits, B))
    return {};
  return {Self[B], Best->Price * Self[B] / Best->Gain};
}

} // namespace reconverge::remedies

#endif
