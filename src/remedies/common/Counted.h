//===- remedies/common/Counted.h - What counts tell of kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTED_H
#define RECONVERGE_REMEDIES_COMMON_COUNTED_H

#include "core/Profile.h"
#include "model/Slots.h"

#include <algorithm>

namespace reconverge::remedies {

/// Its own shared memory, or what launches add to it.
inline bool usesShared(const KernelProfile &K) {
  return K.Info.StaticShared ||
         std::ranges::any_of(K.Shapes, [](const LaunchShape &S) {
           return S.DynamicShared != 0;
         });
}

/// The branch is on the thread's number alone: analysis::describe(ThreadId).
inline bool isByThread(const BranchInfo &Branch) {
  return Branch.Reason == "thread id";
}

/// Lanes that branch \p B sends out of its loop.
inline double leaving(const KernelProfile &K, uint32_t B) {
  const BranchInfo &Info = K.Info.Branches[B];
  const std::vector<uint64_t> &To = K.Branches[B].LanesTo;
  double Out = 0, Least = To.empty() ? 0 : double(To[0]);
  bool Known = false;
  for (size_t S = 0; S != To.size(); ++S) {
    Least = std::min(Least, double(To[S]));
    if (!model::inRegion(Info, Info.Successors[S])) {
      Out += double(To[S]);
      Known = true;
    }
  }
  return Known ? Out : Least; // else both sides have code before they meet
}

} // namespace reconverge::remedies

#endif
