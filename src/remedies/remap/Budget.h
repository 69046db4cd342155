//===- remedies/remap/Budget.h - What a round may cost --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_BUDGET_H
#define RECONVERGE_REMEDIES_REMAP_BUDGET_H

#include "remedies/common/Refusal.h"
#include "remedies/remap/Plan.h"

#include <optional>
#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::remedies::remap {

/// Chooses Plan.Threads, the largest block that there is shared memory for;
/// refuses if there is none for any. \p Memory is what rounds of the kernel use
/// already. \p MayLower: also if fewer blocks then fit on a processor.
std::optional<Refusal> planBudget(RoundPlan &Plan, const RemapOptions &Options,
                                  const RoundMemory &Memory, bool MayLower);

/// What the registers of kernel \p F, which has rounds, come to.
struct RegisterCost {
  bool Lowers;      ///< fewer blocks run at a time than with Options.Registers
  std::string Text; ///< "47 registers instead of 32, 5 blocks of 256 ..."
};
RegisterCost registerCost(const llvm::Function &F, const RemapOptions &Options,
                          unsigned Registers);

} // namespace reconverge::remedies::remap

#endif
