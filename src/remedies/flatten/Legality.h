//===- remedies/flatten/Legality.h - What may be flattened ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_LEGALITY_H
#define RECONVERGE_REMEDIES_FLATTEN_LEGALITY_H

#include "remedies/common/Refusal.h"
#include "remedies/flatten/Ahead.h"
#include "remedies/flatten/Options.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace reconverge::remedies::flatten {

struct FlattenPlan {
  /// Of the inner loop; the outer one is right around it. With Skipped, of the
  /// one loop that there is yet.
  llvm::BasicBlock *Header;
  Skip Skipped; ///< its rounds without this are to be the inner loop, if any
  std::optional<AheadPlan> Ahead; ///< or they are looked ahead
  FlattenOptions Options; ///< what the source says of the loop among them
};

PlanOr<FlattenPlan> planFlatten(llvm::Function &F,
                                const FlattenOptions &Options);

} // namespace reconverge::remedies::flatten

#endif
