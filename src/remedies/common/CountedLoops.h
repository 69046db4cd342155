//===- remedies/common/CountedLoops.h - Loops of a profile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTEDLOOPS_H
#define RECONVERGE_REMEDIES_COMMON_COUNTEDLOOPS_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace reconverge::remedies {

/// The blocks of the smallest loop that has all of \p Inner and more, ascending,
/// by the blocks that may come next; empty if there is none. A profile of an
/// earlier version does not have these: there it is the smallest that a
/// divergent branch leaves, or the outermost.
std::vector<uint32_t> loopAround(const KernelInfo &Info,
                                 llvm::ArrayRef<uint32_t> Inner);

/// Lanes that come into \p Loop from outside, at most: of a block before it that
/// may go elsewhere and has no branch in the profile, all.
double entering(const KernelProfile &K, llvm::ArrayRef<uint32_t> Loop);

} // namespace reconverge::remedies

#endif
