//===- launch/StopRule.h - Which launches are stopped -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_STOPRULE_H
#define RECONVERGE_LAUNCH_STOPRULE_H

#include "core/Recipe.h"
#include "launch/Switch.h"

#include <cstdint>

namespace reconverge::launch {

/// The rule of RecipeStop for the launches of one stream: which form each takes
/// follows from what those before it have counted, and from nothing else.
class StopRule {
public:
  explicit StopRule(uint32_t Recheck) : Recheck(Recheck) {}
  static constexpr unsigned Lag = RecipeStop::Lag;

  /// Of the next launch. All before the last Lag - 1 have been heard.
  Form next();
  /// A launch has counted \p Lanes and might have \p Most; in order.
  void heard(uint64_t Lanes, uint64_t Most);

  bool isStopped() const { return IsStopped; }
  uint64_t stops() const { return Stops; }
  uint64_t resumptions() const { return Resumptions; }

private:
  uint32_t Recheck;
  bool IsStopped = false;
  uint32_t Since = 0; ///< launches since the last by the recipe
  uint64_t Stops = 0, Resumptions = 0;
};

} // namespace reconverge::launch

#endif
