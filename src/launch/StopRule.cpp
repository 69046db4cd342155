//===- launch/StopRule.cpp - Which launches are stopped -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch/StopRule.h"

namespace reconverge::launch {

Form StopRule::next() {
  if (IsStopped && ++Since < Recheck)
    return Form::Original;
  Since = 0;
  return Form::Recipe;
}

void StopRule::heard(uint64_t Lanes, uint64_t Most) {
  const bool IsTooMuch = Lanes > Most;
  Stops += IsTooMuch && !IsStopped;
  Resumptions += !IsTooMuch && IsStopped;
  IsStopped = IsTooMuch;
}

} // namespace reconverge::launch
