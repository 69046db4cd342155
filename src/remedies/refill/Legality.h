//===- remedies/refill/Legality.h - What may be refilled --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_LEGALITY_H
#define RECONVERGE_REMEDIES_REFILL_LEGALITY_H

#include "remedies/common/BlockPrologue.h"
#include "remedies/common/Skips.h"
#include "remedies/refill/Options.h"

namespace llvm {
class BasicBlock;
} // namespace llvm

namespace reconverge::remedies::refill {

struct RefillPlan {
  ItemsPlan Items;
  BlockPrologue Prologue;   ///< what each block does before its items, if any
  llvm::BasicBlock *Header; ///< of the loop, which has no other entry
  Skip Skipped;             ///< its rounds without this are the loop, if any
  RefillOptions Options;    ///< what the source says of the loop among them
  std::vector<Refusal> Others; ///< why not other loops that pragmas name
};

PlanOr<RefillPlan> planRefill(llvm::Function &Kernel,
                              const RefillOptions &Options);

} // namespace reconverge::remedies::refill

#endif
