//===- remedies/remap/State.h - What moves with a thread -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_STATE_H
#define RECONVERGE_REMEDIES_REMAP_STATE_H

#include "remedies/common/Refusal.h"
#include "remedies/remap/Control.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

namespace reconverge::remedies::remap {

using BlockSet = llvm::SmallSetVector<const llvm::BasicBlock *, 16>;

/// The blocks that control can come to from the end of \p BB.
BlockSet blocksAfter(const llvm::BasicBlock &BB);

/// 0, 1 or 2 if \p I reads threadIdx.x, .y or .z as a user wrote it.
std::optional<unsigned> threadIdDimension(const llvm::Instruction &I);

/// Can be run again, at any place, for the price of an instruction.
bool isCheap(const llvm::Instruction &I);

/// \p V is a function of the thread's number and of what is the same for the
/// whole block at \p At.
bool followsFromId(const llvm::Value &V, const llvm::BasicBlock &At,
                   const Facts &Now);

/// Fills in what Plan.Block's threads must exchange or compute again; refuses
/// if a value is of a type that cannot move.
std::optional<Refusal> planState(RoundPlan &Plan, const Facts &Now);

} // namespace reconverge::remedies::remap

#endif
