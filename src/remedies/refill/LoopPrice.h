//===- remedies/refill/LoopPrice.h - What a refilled loop costs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_LOOPPRICE_H
#define RECONVERGE_REMEDIES_REFILL_LOOPPRICE_H

#include "core/Profile.h"
#include "model/Slots.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::remedies::refill {

/// Parameters that decide how often a warp stops, and what the kernel then costs.
struct Way {
  double Slots; ///< issue slots of all of the kernel
  unsigned Threshold, Rounds, Items;
  auto operator<=>(const Way &) const = default;
  /// Lanes that are at work in a round, if each makes \p OfLane rounds.
  double lanesAtWork(double OfLane) const;
  std::string text() const {
    return "threshold=" + std::to_string(Threshold) +
           (Rounds > 1 ? ";rounds=" + std::to_string(Rounds) : "");
  }
};

/// A loop, or the rounds of one that skip some work, by which a kernel may be
/// refilled.
struct LoopGain {
  std::vector<uint32_t> Exits;  ///< positions of branches
  uint32_t Exit = 0;            ///< of them, where most lanes part
  double Gain = 0, Price = 0;   ///< slots
  std::vector<Way> Ways;        ///< cheapest first
  std::vector<uint32_t> Blocks; ///< of the loop, with work that rounds skip
  double OfLane = 0;            ///< its rounds for each item
  double net() const { return Gain - Price; }
};

/// Of the loop of \p Slots' kernel that gains most; none if none does. \p Self:
/// slots wasted at each branch itself.
std::optional<LoopGain> bestLoop(const model::KernelSlots &Slots,
                                 llvm::ArrayRef<double> Self);
/// The same of rounds that skip work.
std::optional<LoopGain> bestSkip(const model::KernelSlots &Slots,
                                 llvm::ArrayRef<double> Self);

/// Threads of the blocks that are launched.
uint64_t threadsOfBlock(const KernelProfile &K);

} // namespace reconverge::remedies::refill

#endif
