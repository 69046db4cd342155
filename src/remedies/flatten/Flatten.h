//===- remedies/flatten/Flatten.h - One loop of two -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_FLATTEN_FLATTEN_H
#define RECONVERGE_REMEDIES_FLATTEN_FLATTEN_H

#include "remedies/common/Refusal.h"
#include "remedies/flatten/Options.h"

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

struct Flattened {
  llvm::DebugLoc Where;   ///< of the inner loop, or of the only one
  FlattenOptions Options; ///< what the source says of the loop among them
  std::string Registers;  ///< WarpCost::note()
  bool Skips = false;     ///< rounds of one loop that skip some work
  bool Ahead = false;     ///< they are looked ahead
};

/// Has lanes of \p F that are through with an inner loop go on in the outer one
/// while others are inside; or those whose rounds skip some work go on while
/// others wait to do it together.
PlanOr<Flattened> flattenFunction(llvm::Function &F,
                                  const FlattenOptions &Options);

} // namespace reconverge::remedies

#endif
