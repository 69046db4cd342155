//===- remedies/meld/Plan.h - What melding will do -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Legality.cpp hands to Rewrite.cpp. Side 0 is the arm that lanes take
// whose condition is true, side 1 the other.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_MELD_PLAN_H
#define RECONVERGE_REMEDIES_MELD_PLAN_H

#include "remedies/meld/Matching.h"
#include "remedies/meld/Structure.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

namespace llvm {
class PHINode;
} // namespace llvm

namespace reconverge::remedies::meld {

struct RegionMeld;

struct Step {
  enum Kind {
    Both,    ///< items A and B, instructions, become one
    Regions, ///< items A and B, regions of the same shape, become one
    Along,   ///< a run of one side's instructions goes along a path of the
             ///< other side's region
    Alone    ///< item A or item B has no partner
  };
  Kind What = Alone;
  /// Items, by side. Of an Along step: the region's item on its side, and the
  /// first of the run on the other.
  std::array<unsigned, 2> Item{0, 0};
  unsigned Side = 0;  ///< Alone: whose; Along: whose the run is
  unsigned Count = 1; ///< Along: instructions in the run
  /// Alone: runs in a block that only its side's lanes enter, together with the
  /// neighbouring guarded steps. Otherwise all lanes run it, which is harmless,
  /// or a load that the other side's lanes do from \c Elsewhere.
  bool Guarded = false;
  llvm::Value *Elsewhere = nullptr;
  Fit How;
  std::shared_ptr<const RegionMeld> Inner;
};

struct SequencePlan {
  std::vector<Step> Steps;
  double Saved = 0; ///< issue slots, selects and guards taken off
  /// Issue slots more for a warp that goes one way: selects, guards, and what of
  /// the other side all lanes run.
  double Extra = 0;
};

/// PHIs at the same place of both sides; one may be missing.
using PhiPair = std::array<llvm::PHINode *, 2>;

struct NodePlan {
  /// Node numbers by side; an Along step has only the region's.
  std::array<unsigned, 2> Number{0, 0};
  bool Swapped = false; ///< successor 0 goes with the other side's successor 1
  llvm::SmallVector<PhiPair, 4> Phis; ///< at its start
  SequencePlan Code;

  // Of an Along step:
  bool OnPath = false; ///< the run's lanes come here as well
  unsigned Forced = 0; ///< and leave by this successor
};

struct RegionMeld {
  std::vector<NodePlan> Nodes; ///< in the order of side 0's (or the region's)
  llvm::SmallVector<PhiPair, 4> ExitPhis;
  unsigned RunNode = 0; ///< Along: the node that the run is melded with
  double Saved = 0;
};

/// The blocks of side 1 that end the same nodes as those of side 0, of two
/// regions that \p Plan pairs; and those that lead into the regions.
llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *>
meetingBlocks(const RegionMeld &Plan, const Region &A, const Region &B);

struct MeldPlan {
  llvm::BasicBlock *Branch = nullptr, *Join = nullptr;
  std::array<Sequence, 2> Arms;
  std::array<BlockSet, 2> Blocks;
  SequencePlan Code;
  double Before = 0;   ///< issue slots of both arms, one after the other
  unsigned Melded = 0; ///< pairs of instructions
};

} // namespace reconverge::remedies::meld

#endif
