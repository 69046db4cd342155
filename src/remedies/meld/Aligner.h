//===- remedies/meld/Aligner.h - Scores of what may go together -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the alignment share: Alignment.cpp says what it is,
// AlignSequences.cpp and AlignRegions.cpp call each other for what is within.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_MELD_ALIGNER_H
#define RECONVERGE_REMEDIES_MELD_ALIGNER_H

#include "remedies/meld/Options.h"
#include "remedies/meld/Pairing.h"
#include "remedies/meld/Plan.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <utility>

namespace reconverge::remedies::meld {

/// The score of what cannot be.
inline constexpr double Never = -1e30;

/// Aligns sequences and regions by what is known of pairs so far.
class Aligner {
public:
  Aligner(const MeldPlan &Arms, const MeldOptions &Options)
      : Options(Options), Pairs(Arms) {}

  /// The best alignment of two sequences; behind one guard if they are too
  /// large to compare.
  SequencePlan align(llvm::ArrayRef<Item> A, llvm::ArrayRef<Item> B);
  /// Takes what \p Plan pairs as known for the next round; counts them.
  unsigned learn(const SequencePlan &Plan);
  void price(SequencePlan &Plan) const { Pairs.price(Plan, Options); }
  double weightOf(llvm::ArrayRef<Item> Items) const {
    return Pairs.weightOf(Items);
  }
  bool tooLarge() const { return Steps > Options.Limit; }

private:
  friend class SequenceTable;

  // Operands.
  double selects(const llvm::Instruction &A, const llvm::Instruction &B,
                 const Fit &F) const;
  /// What \p A and \p B save as one instruction, in the way \p Best; Never if
  /// it is nothing.
  double pairScore(const llvm::Instruction &A, const llvm::Instruction &B,
                   Fit &Best) const;

  // Regions; null where nothing is saved. What came out is kept for the round.
  std::shared_ptr<const RegionMeld> regions(const Region &A, const Region &B);
  /// Side \p Side's straight \p Run along a path of the other side's region.
  std::shared_ptr<const RegionMeld> along(llvm::ArrayRef<Item> Run,
                                          const Region &R, unsigned Side);
  llvm::SmallVector<PhiPair, 4> pairPhis(
      llvm::BasicBlock *A, llvm::BasicBlock *B,
      const llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *>
          &Meets,
      double &Saved) const;

  const MeldOptions &Options;
  Pairing Pairs;
  uint64_t Steps = 0;
  double Times = 1; ///< that the code which is being aligned runs
  llvm::DenseMap<std::pair<const Region *, const Region *>,
                 std::shared_ptr<const RegionMeld>>
      Known;
  /// By the first item of the run.
  llvm::DenseMap<std::pair<const Item *, const Region *>,
                 std::shared_ptr<const RegionMeld>>
      KnownRuns;
};

} // namespace reconverge::remedies::meld

#endif
