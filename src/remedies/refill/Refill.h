//===- remedies/refill/Refill.h - Lanes take the next item ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_REFILL_H
#define RECONVERGE_REMEDIES_REFILL_REFILL_H

#include "core/Recipe.h"
#include "remedies/common/Refusal.h"
#include "remedies/refill/Options.h"

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies {

struct Refilled {
  Recipe Launch;               ///< in place of the kernel's
  llvm::DebugLoc Where;        ///< of the loop
  RefillOptions Options;       ///< what the source says of the loop among them
  std::vector<Refusal> Others; ///< why not other loops that pragmas name
  bool Prologue = false;       ///< blocks do something before their items
  std::string Registers;       ///< WarpCost::note()
};

/// Has lanes of \p Kernel go on with another thread's work when they are through
/// with a loop whose number of rounds differs. A kernel of the same name and
/// more parameters takes its place.
PlanOr<Refilled> refillKernel(llvm::Function &Kernel,
                              const RefillOptions &Options);

} // namespace reconverge::remedies

#endif
