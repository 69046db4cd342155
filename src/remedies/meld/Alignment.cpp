//===- remedies/meld/Alignment.cpp - Which code goes together ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dynamic program aligns two sequences (Needleman-Wunsch); it calls itself
// for regions, whose nodes are sequences. A score is the number of issue slots
// saved against running one arm after the other:
//
//   pair of instructions   its weight, less a select for each operand on which
//                          the sides differ
//   pair of regions        of the same shape (isomorphic, two-way branches also
//                          with their successors swapped): the sum over paired
//                          nodes, times four in a loop
//   run along a region     a straight run of one side within one node of the
//                          other side's region; its lanes are sent past the
//                          other nodes
//   no partner             0 within a guard, less a part of its weight if all
//                          lanes run it: if it is harmless, or a load that the
//                          other side's lanes can do from an address at hand
//   opening a guard        less Options.Guard, however long it gets; the price
//                          of the whole plan then knows which are short
//
//           state 0 (no guard)  <-- pair --  state 1 (in a guard)
//                               -- open -->
//
// Two states and three moves make n * m steps. The table is in
// AlignSequences.cpp, what regions and runs along them score in
// AlignRegions.cpp, and here are the scores of instructions and the rounds.
//
// Whether operands differ depends on the alignment that is being made. The
// first round hopes: values of the same kind from within the arms count as
// equal. The next rounds know the pairs of the round before. The plan that is
// best when priced with its own pairs is kept, and that price decides.
//
// Paper: C. Saumya, K. Sundararajah, M. Kulkarni, "CFM: SIMT Thread Divergence
// Reduction by Melding Similar Control-Flow Regions in GPGPU Programs",
// sections IV-C and IV-D. There, subgraphs are chosen greedily by opcode
// histograms and only then aligned; here one alignment does both, so that its
// price is real.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Alignment.h"
#include "remedies/meld/Aligner.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::meld {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

double Aligner::selects(const Instruction &A, const Instruction &B,
                        const Fit &F) const {
  double Sum = F.Invert ? 0.5 : 0;
  for (unsigned K = 0; K != A.getNumOperands(); ++K) {
    const Value &X = *operandOf(A, K, B), &Y = *operandOf(B, F.Operand[K], A);
    if (!Pairs.same(X, Y))
      Sum += selectWeight(*X.getType()) / (Pairs.areEarly(X, Y) ? Times : 1);
  }
  return Sum;
}

/// A value without a partner costs its user a select, most often, so one with a
/// partner is worth most of that.
double Aligner::pairScore(const Instruction &A, const Instruction &B,
                          Fit &Best) const {
  double Score = Never;
  for (Fit &F : fitsOf(A, B)) {
    double This =
        Pairs.weightOf(A) - selects(A, B, F) +
        (A.getType()->isVoidTy() ? 0 : 0.75 * selectWeight(*A.getType()));
    if (This > Score) {
      Score = This;
      Best = std::move(F);
    }
  }
  return Score >= 0 ? Score : Never;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

unsigned Aligner::learn(const SequencePlan &Plan) {
  Steps = 0;
  Known.clear();
  KnownRuns.clear();
  return Pairs.learn(Plan);
}

bool alignArms(MeldPlan &Plan, const MeldOptions &Options) {
  ArrayRef<Item> A = Plan.Arms[0].Items, B = Plan.Arms[1].Items;
  Aligner Align(Plan, Options);
  Plan.Before = Align.weightOf(A) + Align.weightOf(B);
  double Best = Never;
  for (int Round = 0; Round != 4; ++Round) {
    SequencePlan Next = Align.align(A, B);
    if (Align.tooLarge())
      return false;
    const unsigned Melded = Align.learn(Next);
    Align.price(Next);
    if (Next.Saved < Best) // of equals, the one that knew more
      continue;
    Best = Next.Saved;
    Plan.Code = std::move(Next);
    Plan.Melded = Melded;
  }
  return true;
}

} // namespace reconverge::remedies::meld
