//===- remedies/common/Counted.h - What counts tell of kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTED_H
#define RECONVERGE_REMEDIES_COMMON_COUNTED_H

#include "core/Profile.h"

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

} // namespace reconverge::remedies

#endif
