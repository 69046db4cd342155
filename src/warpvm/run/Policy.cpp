//===- warpvm/run/Policy.cpp - Which lanes run next, where they meet ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all policies have in common. Frontier.cpp and PostDominator.cpp are the
// two; Calls.cpp runs either over a warp and the calls that it is in.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Policy.h"

#include <memory>

namespace reconverge::warpvm {

void Policy::start(Warp &W, Mask Lanes) {
  for (Split &S : W.Splits)
    W.freeScalars(S.Scalars);
  W.Splits.clear();
  W.Apart = W.Finished = false;
  W.forgetLoops();
  W.Splits.push_back({0, EdgeKind::Plain, false, Lanes, W.newScalars()});
  if (W.Caller)
    return;
  W.Local = W.Context.Local;
  W.Context.Ended = 0;
}

// Too large for a stack that host threads share with the program.
Mask *outMasks() {
  thread_local const std::unique_ptr<Mask[]> Masks(new Mask[MaxTargets]);
  return Masks.get();
}

std::unique_ptr<Policy> Policy::create(PolicyKind Kind) {
  if (Kind == PolicyKind::Frontier)
    return createFrontier();
  return createPostDominator();
}

const char *Policy::name(PolicyKind Kind) {
  return Kind == PolicyKind::Frontier ? "frontier" : "ipdom";
}

} // namespace reconverge::warpvm
