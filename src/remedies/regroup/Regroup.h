//===- remedies/regroup/Regroup.h - Threads in order of a key ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_REGROUP_H
#define RECONVERGE_REMEDIES_REGROUP_REGROUP_H

#include "core/Recipe.h"
#include "remedies/regroup/Slice.h"

namespace reconverge::remedies {

struct Regrouped {
  Recipe Launch;
  regroup::Key By;
  unsigned ClassBits = 0;
  unsigned Loads = 0, Stores = 0;    ///< that are moved
  uint32_t MovedBytes = 0;           ///< of a thread
  unsigned Arrays = 0, Accesses = 0; ///< of rows, in the order
  std::vector<uint32_t> InRows;      ///< numbers of those accesses
  unsigned Locality = 0;             ///< bits of By's gather
  std::vector<Refusal> Others;       ///< why not what the source names besides
};

/// Has \p Kernel, whose branches and accesses are numbered, run the threads of a
/// launch in order of what they will do. A kernel of the same name and more
/// parameters takes its place, beside kernels that find the order.
PlanOr<Regrouped> regroupKernel(llvm::Function &Kernel,
                                const RegroupOptions &Given);

} // namespace reconverge::remedies

#endif
