//===- remedies/meld/Shape.cpp - Regions of the same shape ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two regions are walked together from their entries. Wherever both branch, the
// order of the successors is tried first in which the nodes behind them have
// more instructions in common, then the other one.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Shape.h"

#include "remedies/meld/Matching.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::meld {

/// Instructions of the same kind at the start of both nodes' work.
static double likeness(const Region &A, unsigned X, const Region &B,
                       unsigned Y) {
  if (X == Node::Exit || Y == Node::Exit)
    return X == Y ? 1 : 0;
  DenseMap<uint64_t, unsigned> Count;
  double Alike = 0;
  for (const Item &It : A.Nodes[X].Code.Items)
    ++Count[It.R ? 1 : kindOf(*It.I)];
  for (const Item &It : B.Nodes[Y].Code.Items)
    if (unsigned &Left = Count[It.R ? 1 : kindOf(*It.I)]; Left) {
      --Left;
      Alike += It.R ? 4 : weightOf(*It.I);
    }
  return Alike;
}

static bool sameJump(const Instruction &A, const Instruction &B) {
  if (A.getOpcode() != B.getOpcode() ||
      A.getNumSuccessors() != B.getNumSuccessors())
    return false;
  if (const auto *S = dyn_cast<SwitchInst>(&A)) {
    const auto &T = cast<SwitchInst>(B);
    return S->getCondition()->getType() == T.getCondition()->getType() &&
           equal(S->cases(), T.cases(), [](const auto &X, const auto &Y) {
             return X.getCaseValue() == Y.getCaseValue();
           });
  }
  return isa<BranchInst>(A) || isa<UnreachableInst>(A);
}

/// Adds the pair (X, Y) and all that follows from it to \p Found; leaves it in
/// any state if that is impossible.
static bool extend(const Region &A, const Region &B, unsigned X, unsigned Y,
                   Shape &Found, unsigned &Budget) {
  if (X == Node::Exit || Y == Node::Exit)
    return X == Y;
  for (const auto &[Pair, Swapped] : Found)
    if (Pair[0] == X || Pair[1] == Y)
      return Pair[0] == X && Pair[1] == Y;
  const Node &N = A.Nodes[X], &M = B.Nodes[Y];
  if (!Budget || !sameJump(*N.Code.terminator(), *M.Code.terminator()))
    return false;
  --Budget;
  const size_t Mark = Found.size();
  const bool Choice =
      isa<BranchInst>(N.Code.terminator()) && N.Succs.size() == 2;
  const bool SwapFirst =
      Choice && likeness(A, N.Succs[0], B, M.Succs[1]) +
                        likeness(A, N.Succs[1], B, M.Succs[0]) >
                    likeness(A, N.Succs[0], B, M.Succs[0]) +
                        likeness(A, N.Succs[1], B, M.Succs[1]);
  for (bool Second : {false, true}) {
    const bool Swap = Second != SwapFirst;
    if (Swap && !Choice)
      continue;
    Found.resize(Mark);
    Found.push_back({{X, Y}, Swap});
    bool Fits = true;
    for (unsigned K = 0; Fits && K != N.Succs.size(); ++K)
      Fits = extend(A, B, N.Succs[K], M.Succs[Swap ? 1 - K : K], Found, Budget);
    if (Fits)
      return true;
  }
  return false;
}

Shape sameShape(const Region &A, const Region &B) {
  Shape Found;
  unsigned Budget = 4 * MaxNodes;
  if (A.startsWithBranch() != B.startsWithBranch() || A.Cyclic != B.Cyclic ||
      A.Nodes.size() != B.Nodes.size() || A.Nodes.size() > MaxNodes ||
      !extend(A, B, 0, 0, Found, Budget) || Found.size() != A.Nodes.size())
    return {};
  llvm::sort(Found, [](const NodePair &X, const NodePair &Y) {
    return X.Number[0] < Y.Number[0];
  });
  return Found;
}

} // namespace reconverge::remedies::meld
