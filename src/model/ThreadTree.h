//===- model/ThreadTree.h - What threads take, by a tree --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_THREADTREE_H
#define RECONVERGE_MODEL_THREADTREE_H

#include "core/PathTree.h"
#include "model/ThreadRows.h"

namespace reconverge::model {

/// The tree that parts \p R by what they took, \p Loads being the numbers of
/// their loads; a single leaf where no question parts them, empty without rows.
PathTree growTree(const ThreadRows &R, llvm::ArrayRef<uint32_t> Loads);

/// What the threads \p R should take by \p T, cycles.
std::vector<double> estimated(const PathTree &T, llvm::ArrayRef<uint32_t> Loads,
                              const ThreadRows &R);

} // namespace reconverge::model

#endif
