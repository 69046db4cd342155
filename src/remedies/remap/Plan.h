//===- remedies/remap/Plan.h - What a round will do ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Legality.cpp hands to Rewrite.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_REMAP_PLAN_H
#define RECONVERGE_REMEDIES_REMAP_PLAN_H

#include "remedies/remap/Options.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class BasicBlock;
class GlobalVariable;
class Instruction;
} // namespace llvm

namespace reconverge::remedies::remap {

/// On a branch that has had its round, and on the reads of the thread's number
/// that ask for the place, not for whose data it works on.
inline constexpr const char *RoundKind = "rc.remapped";
inline constexpr const char *PlaceKind = "rc.place";

/// Successor \p Successor of \p From only returns: threads leave there, at once or
/// behind what they do in \p From.
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

/// A way on from a branch.
struct Way {
  llvm::BasicBlock *To; ///< each successor once; not one that is unreachable
  unsigned FirstLeaf;   ///< of the tree, that is behind it
  int Inner = -1;       ///< the Choice that it leads to at once, if any
};

/// A branch or switch that goes by the round's path from now on.
struct Choice {
  llvm::BasicBlock *Block;
  std::vector<Way> Ways;
};

/// A branch with those right behind it, whose conditions are known before it.
/// Each way through is a leaf, numbered in order.
struct Tree {
  unsigned Root; ///< a Choice
  unsigned Leaves;
  std::vector<unsigned> Also = {}; ///< others that go by the same condition
};

/// The shared memory of a kernel's rounds. Counts and words are apart, because
/// the next round may write counts while this one's words are read.
struct RoundMemory {
  llvm::GlobalVariable *Counts = nullptr, *Words = nullptr;
};

struct RoundPlan {
  /// The round comes before its terminator.
  llvm::BasicBlock *Block = nullptr;
  std::vector<Choice> Choices;
  /// The first is that of Block; others come later, and all threads to them.
  std::vector<Tree> Trees;
  /// What computes conditions after Block is done before the round as well;
  /// operands first.
  llvm::SmallSetVector<llvm::Instruction *, 16> Early;
  /// The branches, and of Early what nothing else needs.
  llvm::SmallPtrSet<const llvm::Instruction *, 8> Obsolete;
  /// Threads that have nothing to do come along, and leave after the round.
  llvm::SmallVector<ExitEdge, 2> Exits;
  std::vector<Moved> Values;                  ///< in program order
  std::vector<llvm::Instruction *> Recompute; ///< likewise; live as well
  /// Those, and what they are computed from; not what moves or is the same.
  llvm::SmallSetVector<llvm::Instruction *, 16> Copies;
  /// threadIdx.x, y and z, where they are used afterwards.
  std::array<bool, 3> Ids{};
  std::array<Slot, 3> IdAt;
  unsigned Words = 0; ///< of state, a thread
  /// All blocks that exchange have Threads threads, whole warps (Places.cpp).
  bool Exact = false;
  std::optional<Slot> PathAt; ///< where the path moves, too
  unsigned Threads = 0;       ///< of the largest block that exchanges
  const char *Bound = "";     ///< why not larger ones
  RemapAlgorithm Algorithm = RemapAlgorithm::Automatic;
  bool Fell = false;        ///< from head_or_tail, for it has too many groups
  unsigned Neighbours = 16; ///< data_group_indexing: threads that count as one

  /// Of threads that do not leave.
  unsigned paths() const {
    unsigned Paths = 1;
    for (const Tree &T : Trees)
      Paths *= T.Leaves;
    return Paths;
  }
  /// Those that leave are one more path, the last.
  unsigned groups() const { return paths() + !Exits.empty(); }
  /// Threads of blocks of one size find places without knowing those of all paths.
  bool movesPath() const {
    return Exact && groups() <= 32 &&
           (Algorithm == RemapAlgorithm::Automatic ||
            Algorithm == RemapAlgorithm::WarpAggregated);
  }
  unsigned neighbourhoods() const {
    return llvm::divideCeil(Threads, Neighbours);
  }
  /// In bytes: of counters, of all that finds places (Places.cpp), and of the
  /// words.
  uint64_t counterBytes() const {
    const uint64_t Counted = groups() - 1;
    if (PathAt)
      return uint64_t(groups()) * (Threads / 32);
    switch (Algorithm) {
    case RemapAlgorithm::HeadOrTail:
      return 2 * 4;
    case RemapAlgorithm::DataGroupIndexing:
      return 4 * Counted * neighbourhoods();
    default:
      return 32 * Counted;
    }
  }
  uint64_t countBytes() const {
    const bool HasPaths = Algorithm == RemapAlgorithm::DataGroupIndexing;
    return llvm::alignTo(counterBytes() + (HasPaths ? Threads : 0), 16);
  }
  uint64_t wordBytes() const { return 4 * uint64_t(Words) * Threads; }
  uint64_t bytes() const { return countBytes() + wordBytes(); }
};

/// What was made of a plan.
struct RoundMade {
  std::vector<uint32_t> Branches; ///< their numbers (!rc.branch)
  unsigned Groups;                ///< RoundPlan's groups()
  unsigned Words, Threads;        ///< RoundPlan's
  RemapAlgorithm Algorithm;
  unsigned Neighbours;
  bool HasExits;      ///< threads that had left come along
  bool Exact = false; ///< for blocks of no other size
  bool MovesPath = false;
};

/// Of a kernel.
struct Rounds {
  std::vector<RoundMade> All;
  uint64_t SharedBytes = 0; ///< that they share
};

} // namespace reconverge::remedies::remap

#endif
