//===- remedies/herd/Forecast.cpp - What herding may gain -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What herding gives back hangs on how lanes vote, which counts of blocks do not
// tell: at most the slots that idle at a branch. So there is no forecast that
// weighs it against other remedies, and no line of advice: it is tried where the
// user allows a bound, at the branches at which most idles.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Forecast.h"

#include "model/Slots.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace reconverge::remedies::herd {

static constexpr size_t MostBranches = 3;
/// Share of what idles in the kernel that a branch must have.
static constexpr double LeastPart = 0.05;

std::vector<std::string> guess(const KernelProfile &K) {
  const std::vector<double> Self = model::KernelSlots(K).self();
  double Sum = 0;
  std::vector<std::pair<double, uint32_t>> Order; // greatest first
  for (uint32_t B = 0; B != Self.size(); ++B) {
    Sum += Self[B];
    Order.push_back({-Self[B], B});
  }
  llvm::sort(Order);
  std::vector<std::string> All;
  for (auto [Less, B] : Order)
    if (Less < -LeastPart * Sum && All.size() != MostBranches)
      All.push_back("branch=" + std::to_string(K.Info.Branches[B].Id));
  if (!All.empty())
    All.push_back("");
  return All;
}

} // namespace reconverge::remedies::herd
