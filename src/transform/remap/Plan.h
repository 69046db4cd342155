//===- transform/remap/Plan.h - What a round will do ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Legality.cpp hands to Rewrite.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_TRANSFORM_REMAP_PLAN_H
#define RECONVERGE_TRANSFORM_REMAP_PLAN_H

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <vector>

namespace llvm {
class BasicBlock;
class Instruction;
} // namespace llvm

namespace reconverge::transform::remap {

/// On a branch that has had its round, and on the reads of the thread's number
/// that ask for the place, not for whose data it works on.
inline constexpr const char *RoundKind = "rc.remapped";
inline constexpr const char *PlaceKind = "rc.place";

/// Successor \p Successor of \p From only returns: threads leave there.
struct ExitEdge {
  llvm::BasicBlock *From;
  unsigned Successor;
};

/// Where a value lies among the words of a thread's state.
struct Slot {
  unsigned Word = 0, Shift = 0, Bits = 0;
};

struct Moved {
  llvm::Instruction *V;
  Slot At;
};

struct RoundPlan {
  /// The round comes before its terminator.
  llvm::BasicBlock *Block = nullptr;
  /// Threads that have nothing to do come along, and leave after the round.
  llvm::SmallVector<ExitEdge, 2> Exits;
  std::vector<Moved> Values;                  ///< in program order
  std::vector<llvm::Instruction *> Recompute; ///< likewise; live as well
  /// Those, and what they are computed from; not what moves or is the same.
  llvm::SmallSetVector<llvm::Instruction *, 16> Copies;
  /// threadIdx.x, y and z, where they are used afterwards.
  std::array<bool, 3> Ids{};
  std::array<Slot, 3> IdAt;
  unsigned Words = 0;   ///< of state, a thread
  unsigned Threads = 0; ///< of the largest block that exchanges

  uint64_t bytes() const { return 4 * (32 + uint64_t(Words) * Threads); }
};

} // namespace reconverge::transform::remap

#endif
