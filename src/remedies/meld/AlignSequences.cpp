//===- remedies/meld/AlignSequences.cpp - Which items go together --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the dynamic program (Alignment.cpp has the scores). A cell is a
// place, items of each side that are behind it, in a state: whether the last
// item stands in a guard. It knows the best score on arrival and the step that
// brought it:
//
//   1. From the first place on, each cell that can be reached offers its score
//      plus a step's to the cells that the step leads to. Of equal offers the
//      first is kept, so the order of offers is part of the result.
//   2. From the last place, the better state's steps are followed back.
//   3. A load may be harmless for the other side's lanes at an address that
//      they have at hand. Only now it is known whether that address was
//      computed where all lanes run: if not, the load goes behind a guard.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/AddressSpace.h"
#include "remedies/meld/Aligner.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <array>

using namespace llvm;

namespace reconverge::remedies::meld {

//===----------------------------------------------------------------------===//
// Loads at another address
//===----------------------------------------------------------------------===//

/// The place of the last plain load before each place of \p Items.
static std::vector<unsigned> lastLoads(ArrayRef<Item> Items) {
  std::vector<unsigned> Last{~0u};
  for (auto [At, It] : enumerate(Items)) {
    const auto *Load = dyn_cast_or_null<LoadInst>(It.I);
    Last.push_back(Load && Load->isSimple() ? unsigned(At) : Last.back());
  }
  return Last;
}

/// An address for lanes that do not need \p I but run it: that of \p Other,
/// which they have run. Null if it does not do. Loads of shared memory need
/// none: ptxas predicates them.
static Value *elsewhere(const Instruction &I, Instruction *Other) {
  const auto *Load = dyn_cast<LoadInst>(&I);
  auto *From = dyn_cast_or_null<LoadInst>(Other);
  if (!Load || !From || !Load->isSimple() ||
      Load->getPointerAddressSpace() > analysis::GlobalSpace ||
      Load->getType() != From->getType() ||
      Load->getPointerOperandType() != From->getPointerOperandType() ||
      Load->getAlign() > From->getAlign() ||
      !sameHome(*Load->getPointerOperand(), *From->getPointerOperand()))
    return nullptr;
  return From->getPointerOperand();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// How many items of each side are behind a place.
using Place = std::array<unsigned, 2>;
/// Whether the last item before a place stands in a guard.
using State = unsigned;

class SequenceTable {
public:
  SequenceTable(Aligner &Scores, ArrayRef<Item> A, ArrayRef<Item> B);
  SequencePlan best();

private:
  /// The best arrival at a place in a state.
  struct Cell {
    double Score = Never;
    uint8_t From = 0; ///< state before the step
    Step::Kind What = Step::Alone;
    uint8_t Side = 0;
    unsigned Count = 1;
  };

  Cell &cell(Place At, State In) {
    return Cells[size_t(At[0]) * (Items[1].size() + 1) + At[1]][In];
  }
  bool isAtEnd(Place At, unsigned Side) const {
    return At[Side] == Items[Side].size();
  }
  const Item &itemAt(Place At, unsigned Side) const {
    return Items[Side][At[Side]];
  }
  Value *addressAtHand(Place At, unsigned Side) const;

  void offer(Place To, State In, const Cell &Arrival);
  void offerPair(Place At, State From);
  void offerRun(Place At, State From, unsigned Side);
  void offerAlone(Place At, State From, unsigned Side);

  SequencePlan followBack();
  Step stepBack(Place &At, State In);
  void guardLoads(SequencePlan &Plan) const;

  Aligner &Scores;
  const std::array<ArrayRef<Item>, 2> Items;
  std::array<std::vector<uint64_t>, 2> Kinds;     ///< of items; 0: a region
  std::array<std::vector<unsigned>, 2> LastLoads; ///< before each place
  std::vector<std::array<Cell, 2>> Cells;         ///< by place, then state
};

SequenceTable::SequenceTable(Aligner &Scores, ArrayRef<Item> A,
                             ArrayRef<Item> B)
    : Scores(Scores), Items{A, B}, LastLoads{lastLoads(A), lastLoads(B)},
      Cells((A.size() + 1) * (B.size() + 1)) {
  for (unsigned Side : {0u, 1u})
    for (const Item &It : Items[Side])
      Kinds[Side].push_back(It.R ? 0 : kindOf(*It.I));
}

/// An address for the other side's lanes to run the item of \p Side at \p At
/// with, which has no partner; null if there is none.
Value *SequenceTable::addressAtHand(Place At, unsigned Side) const {
  const unsigned Last = LastLoads[1 - Side][At[1 - Side]];
  const Item &It = itemAt(At, Side);
  return !It.I || Last == ~0u ? nullptr
                              : elsewhere(*It.I, Items[1 - Side][Last].I);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void SequenceTable::offer(Place To, State In, const Cell &Arrival) {
  Cell &Best = cell(To, In);
  if (Arrival.Score > Best.Score)
    Best = Arrival;
}

/// The items of both sides as one.
void SequenceTable::offerPair(Place At, State From) {
  if (isAtEnd(At, 0) || isAtEnd(At, 1))
    return;
  const Item &A = itemAt(At, 0), &B = itemAt(At, 1);
  const Place To = {At[0] + 1, At[1] + 1};
  const double Here = cell(At, From).Score;
  Fit Ignored;
  if (!A.R && !B.R && Kinds[0][At[0]] == Kinds[1][At[1]])
    if (double Saved = Scores.pairScore(*A.I, *B.I, Ignored); Saved != Never)
      offer(To, 0, {Here + Saved, uint8_t(From), Step::Both});
  if (A.R && B.R)
    if (auto Plan = Scores.regions(*A.R, *B.R))
      offer(To, 0, {Here + Plan->Saved, uint8_t(From), Step::Regions});
}

/// The whole run of \p Side that begins at \p At, along the other side's
/// region.
void SequenceTable::offerRun(Place At, State From, unsigned Side) {
  const unsigned Begin = At[Side];
  if (isAtEnd(At, 0) || isAtEnd(At, 1) || itemAt(At, Side).R ||
      !itemAt(At, 1 - Side).R || (Begin && !Items[Side][Begin - 1].R))
    return;
  Place To = At;
  while (!isAtEnd(To, Side) && !itemAt(To, Side).R)
    ++To[Side];
  ++To[1 - Side];
  const unsigned Count = To[Side] - Begin;
  if (auto Plan = Scores.along(Items[Side].slice(Begin, Count),
                               *itemAt(At, 1 - Side).R, Side))
    offer(To, 0,
          {cell(At, From).Score + Plan->Saved, uint8_t(From), Step::Along,
           uint8_t(Side), Count});
}

/// The item of \p Side without a partner.
void SequenceTable::offerAlone(Place At, State From, unsigned Side) {
  if (isAtEnd(At, Side))
    return;
  const Item &It = itemAt(At, Side);
  Place To = At;
  ++To[Side];
  const double Here = cell(At, From).Score;
  auto Arrival = [&](double Score) {
    return Cell{Score, uint8_t(From), Step::Alone, uint8_t(Side)};
  };
  offer(To, 1, Arrival(Here - (From ? 0 : Scores.Options.Guard)));
  if (From) // a guard ends at what both sides run
    return;
  if (!It.R && isHarmless(*It.I))
    offer(To, 0, Arrival(Here - Speculation * Scores.Pairs.weightOf(*It.I)));
  else if (Value *Address = addressAtHand(At, Side))
    offer(To, 0,
          Arrival(Here - SafeLoad * Scores.Pairs.weightOf(*It.I) -
                  selectWeight(*Address->getType())));
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

SequencePlan SequenceTable::best() {
  cell({0, 0}, 0).Score = 0;
  for (unsigned I = 0; I <= Items[0].size(); ++I)
    for (unsigned J = 0; J <= Items[1].size(); ++J)
      for (State From : {0u, 1u}) {
        const Place At = {I, J};
        if (cell(At, From).Score == Never)
          continue;
        offerPair(At, From);
        for (unsigned Side : {0u, 1u})
          offerRun(At, From, Side);
        for (unsigned Side : {0u, 1u})
          offerAlone(At, From, Side);
      }
  SequencePlan Plan = followBack();
  guardLoads(Plan);
  return Plan;
}

/// The steps that lead to the better state of the last place.
SequencePlan SequenceTable::followBack() {
  Place At = {unsigned(Items[0].size()), unsigned(Items[1].size())};
  State In = cell(At, 1).Score > cell(At, 0).Score;
  SequencePlan Plan;
  Plan.Saved = cell(At, In).Score;
  while (At[0] || At[1]) {
    const State Before = cell(At, In).From;
    Plan.Steps.push_back(stepBack(At, In));
    In = Before;
  }
  std::reverse(Plan.Steps.begin(), Plan.Steps.end());
  return Plan;
}

/// The step that leads to \p At in state \p In; goes to where it began.
Step SequenceTable::stepBack(Place &At, State In) {
  const Cell &C = cell(At, In);
  Step S;
  S.What = C.What;
  S.Side = C.Side;
  S.Count = C.Count;
  S.Guarded = In == 1;
  if (C.What == Step::Alone || C.What == Step::Along)
    At[C.Side] -= C.Count;
  if (C.What == Step::Along)
    --At[1 - C.Side];
  if (C.What == Step::Both || C.What == Step::Regions)
    --At[0], --At[1];
  switch (C.What) {
  case Step::Both:
    Scores.pairScore(*itemAt(At, 0).I, *itemAt(At, 1).I, S.How);
    break;
  case Step::Regions:
    S.Inner = Scores.regions(*itemAt(At, 0).R, *itemAt(At, 1).R);
    break;
  case Step::Along:
    S.Inner = Scores.along(Items[C.Side].slice(At[C.Side], C.Count),
                           *itemAt(At, 1 - C.Side).R, C.Side);
    break;
  case Step::Alone:
    if (!S.Guarded && !isHarmless(*itemAt(At, C.Side).I))
      S.Elsewhere = addressAtHand(At, C.Side);
    break;
  }
  S.Item = At;
  return S;
}

/// Guards the loads of \p Plan whose other address is known behind a guard or
/// on a path only.
void SequenceTable::guardLoads(SequencePlan &Plan) const {
  std::array<DenseSet<unsigned>, 2> Hidden; // items, by side
  for (Step &S : Plan.Steps) {
    const unsigned Other = 1 - S.Side;
    if (S.What == Step::Along)
      for (unsigned K = 0; K != S.Count; ++K)
        Hidden[S.Side].insert(S.Item[S.Side] + K);
    if (S.What != Step::Alone)
      continue;
    if (S.Elsewhere &&
        Hidden[Other].contains(LastLoads[Other][S.Item[Other]])) {
      S.Elsewhere = nullptr;
      S.Guarded = true;
    }
    if (S.Guarded)
      Hidden[S.Side].insert(S.Item[S.Side]);
  }
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// One arm after the other, all of both in one guard.
static SequencePlan behindOneGuard(ArrayRef<Item> A, ArrayRef<Item> B,
                                   double Guard) {
  SequencePlan Plan;
  for (unsigned Side : {0u, 1u})
    for (unsigned I = 0; I != (Side ? B : A).size(); ++I) {
      Step S;
      S.Side = Side;
      S.Item[Side] = I;
      S.Guarded = true;
      Plan.Steps.push_back(std::move(S));
    }
  Plan.Saved = -Guard;
  return Plan;
}

SequencePlan Aligner::align(ArrayRef<Item> A, ArrayRef<Item> B) {
  Steps += uint64_t(A.size()) * B.size();
  return tooLarge() ? behindOneGuard(A, B, Options.Guard)
                    : SequenceTable(*this, A, B).best();
}

} // namespace reconverge::remedies::meld
