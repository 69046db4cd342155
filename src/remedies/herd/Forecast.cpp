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

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies::herd {

static constexpr size_t MostBranches = 3;
/// Share of what idles in the kernel that a branch must have.
static constexpr double LeastPart = 0.05;

/// Adds ways to herd \p Branch, or all branches if it is empty: votes that drop
/// fewer lanes, where results may change less, and in loops more and fewer votes.
static void addWays(std::vector<std::string> &All, const std::string &Branch,
                    bool IsLoop) {
  static constexpr StringLiteral OfLoops[] = {"", "every=4", "every=16",
                                              "threshold=8", "threshold=4"},
                                 OfIfs[] = {"", "threshold=8"};
  for (StringRef Way : IsLoop ? ArrayRef(OfLoops) : ArrayRef(OfIfs)) {
    const bool Both = !Way.empty() && !Branch.empty();
    All.push_back(Way.str() + (Both ? ";" : "") + Branch);
  }
}

std::vector<std::string> guess(const KernelProfile &K) {
  const std::vector<double> Self = model::KernelSlots(K).self();
  double Sum = 0;
  std::vector<std::pair<double, uint32_t>> Order; // greatest first
  for (uint32_t B = 0; B != Self.size(); ++B) {
    Sum += Self[B];
    Order.push_back({-Self[B], B});
  }
  sort(Order);
  std::vector<std::string> All;
  size_t Branches = 0;
  bool AnyLoop = false;
  for (auto [Less, B] : Order)
    if (Less < -LeastPart * Sum && Branches++ < MostBranches) {
      const BranchInfo &Branch = K.Info.Branches[B];
      const bool IsLoop = Branch.Kind == BranchKind::LoopExit;
      addWays(All, "branch=" + std::to_string(Branch.Id), IsLoop);
      AnyLoop |= IsLoop;
    }
  if (Branches)
    addWays(All, "", AnyLoop);
  return All;
}

} // namespace reconverge::remedies::herd
