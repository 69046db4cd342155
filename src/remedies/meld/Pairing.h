//===- remedies/meld/Pairing.h - What a plan makes equal -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_PAIRING_H
#define RECONVERGE_REMEDIES_MELD_PAIRING_H

#include "remedies/meld/Options.h"
#include "remedies/meld/Plan.h"

#include "llvm/ADT/DenseMap.h"

namespace reconverge::remedies::meld {

/// Lanes are taken to go round a loop this often.
inline constexpr double LoopFactor = 4;
/// A conditional branch, with what it takes to come together again.
inline constexpr double BranchWeight = 2;
/// Of a harmless instruction without a partner that all lanes run: its share of
/// the weight, which warps pay that would not have run it.
inline constexpr double Speculation = 0.25;
/// Of a load that the other side's lanes do from an address whose memory they
/// have just fetched.
inline constexpr double SafeLoad = 0.1;

/// Issue slots of a select.
double selectWeight(const llvm::Type &T);
/// Issue slots of branching around guarded items, \p A of side 0 and \p B of
/// side 1: less if ptxas predicates them instead.
double guardPrice(llvm::ArrayRef<const Item *> A,
                  llvm::ArrayRef<const Item *> B, const MeldOptions &Options);

/// Which values of the two arms are one in melded code.
class Pairing {
public:
  explicit Pairing(const MeldPlan &Arms);

  /// Issue slots of all of it, one after the other.
  double weightOf(const llvm::Instruction &I) const;
  double weightOf(const Region &R) const;
  double weightOf(llvm::ArrayRef<Item> Items) const;

  /// Forgets all, then takes the pairs of \p Plan. Returns how many pairs of
  /// instructions there are.
  unsigned learn(const SequencePlan &Plan);

  /// No select is needed between \p A of side 0 and \p B of side 1. Before
  /// anything is learnt: hopes so of values of the same kind.
  bool same(const llvm::Value &A, const llvm::Value &B) const;
  /// The same of two conditions, if \p Negated of one with the other's
  /// negation.
  bool sameCondition(const llvm::Value &A, const llvm::Value &B,
                     bool Negated) const;
  /// Both are known before the branch, so that a select of them is as well.
  bool areEarly(const llvm::Value &A, const llvm::Value &B) const {
    return !inArms(A) && !inArms(B);
  }

  /// Writes to \p Plan, which was learnt last, what it saves against running one
  /// arm after the other, and what it costs who runs one: equal selects counted
  /// once, early ones outside loops.
  void price(SequencePlan &Plan, const MeldOptions &Options) const;

private:
  bool inArms(const llvm::Value &V) const;
  unsigned learn(const SequencePlan &Plan, llvm::ArrayRef<Item> A,
                 llvm::ArrayRef<Item> B);
  void learn(llvm::ArrayRef<PhiPair> Phis);

  const MeldPlan &Arms;
  bool Predicated; ///< the arms, as long as they are not melded
  bool Hopeful = true;
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> Pairs, Inverse;
};

} // namespace reconverge::remedies::meld

#endif
