//===- remedies/reorder_blocks/Forecast.cpp - What it should gain ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread blocks of a launch, with the time that their block vectors say, are
// dealt out to the slots of a GPU in the order of their numbers and in others:
// the time until the last one ends (BBV-weighted-scheduled, docs/metrics.md).
// Where all take as long, or where all have a slot at once, no order gains. An
// earlier launch's times are asked for where that gains more than to reverse the
// order, and where there are launches to come; what each launch will do then, too,
// as far as the kernel's code tells.
//
//===----------------------------------------------------------------------===//

#include "remedies/reorder_blocks/Forecast.h"

#include "model/BlockVectorTime.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace reconverge::remedies::reorder_blocks {

/// Part of the time that an order saves at least, to be tried.
static constexpr double LeastGain = 0.02;

/// The thread blocks of the sample, the last one first; their threads stay.
static std::vector<uint32_t> lastBlocksFirst(const ThreadVectors &V) {
  std::vector<uint32_t> Order;
  uint32_t End = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    End += uint32_t(B.ClassOf.size());
  Order.reserve(End);
  for (size_t I = V.Blocks.size(); I-- != 0;) {
    const uint32_t Threads = uint32_t(V.Blocks[I].ClassOf.size());
    End -= Threads;
    for (uint32_t T = 0; T != Threads; ++T)
      Order.push_back(End + T);
  }
  return Order;
}

/// The blocks as they are, as an order: one that the model treats like others.
static std::vector<uint32_t> sameOrder(size_t Threads) {
  std::vector<uint32_t> Order(Threads);
  std::iota(Order.begin(), Order.end(), 0);
  return Order;
}

/// Launches of a kernel from which on an earlier one is worth timing.
static constexpr uint64_t LeastLaunches = 8;

std::vector<std::string> guess(const KernelProfile &K,
                               const analysis::MachineLimits &Limits) {
  const std::vector<uint32_t> Reversed = lastBlocksFirst(K.Vectors);
  const auto Before =
      model::blockVectorTimes(K, Limits, sameOrder(Reversed.size()));
  if (!Before)
    return {};
  auto GainOf = [&](ArrayRef<uint32_t> Order) {
    const auto After = model::blockVectorTimes(K, Limits, Order);
    return After ? model::improvement(*Before, *After).Scheduled : 0;
  };
  std::vector<double> Latency;
  for (const BlockInfo &B : K.Info.Blocks)
    Latency.push_back(B.Latency);
  const double OfReversed = GainOf(Reversed);
  const double OfLongest =
      GainOf(model::longestBlocksFirst(K.Vectors, Latency, K.WarpSize));
  std::vector<std::string> Ways;
  if (OfReversed >= LeastGain)
    Ways.push_back("order=reversed");
  if (OfLongest >= std::max(OfReversed, 0.) + LeastGain) {
    Ways.insert(Ways.begin(), "order=slice");
    if (K.Launches >= LeastLaunches)
      Ways.insert(Ways.begin(), "order=last");
  }
  return Ways;
}

} // namespace reconverge::remedies::reorder_blocks
