//===- frontend/LastRounds.cpp - Tests for the last round -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (int I = 0; I < N; ++I) {
//     ...
//     if (I + 1 == N)      // or I + 1 < N, as where the next tile is prefetched
//       flush();
//   }
//
// Unrolled by four, with what is left over in a loop of its own, the large loop
// goes on as long as four rounds are left. So only the last of its four copies can
// be the last round of all, and three tests, with what they guard, are for nothing.
//
//   1. A loop of LLVM's unroller counts Phi = 0, U, 2 U, ... and ends before
//      Limit = N & -U, U being a power of two. It is entered only if U <= N.
//   2. In each round, Phi <= Limit - U <= N - U. Of Phi + a and N + b, with
//      a - b < U, the former then is less: it is not equal, and for a >= 0 and
//      b <= 0 also less in order, where no sum wraps: Phi + a <= N, and N + b >= 0
//      for -b < U. In signed order that takes that N is not negative.
//   3. The tests become constants, and blocks that nobody comes to go.
//
// nvcc leaves such tests. In Needleman-Wunsch, whose rows are stored word by word
// and at their end, a round of four cells has 101 machine instructions for 126.
//
// This is done for the printer: in what the warp VM runs and a profile shows, each
// round has its test.
//
//===----------------------------------------------------------------------===//

#include "frontend/LastRounds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

namespace {
/// A loop in which Phi is at most N - Step.
struct Counted {
  const SCEV *Phi, *N;
  int64_t Step;
  bool IsSigned; ///< N is not negative
};
} // namespace

static bool isGuarded(const Loop &L, ICmpInst::Predicate Is, const SCEV *X,
                      int64_t C, ScalarEvolution &SE) {
  return SE.isLoopEntryGuardedByCond(
      &L, Is, X, SE.getConstant(X->getType(), uint64_t(C), true));
}

/// Whether \p N is at least \p Step where \p L is entered.
static bool isAtLeast(const SCEV *N, int64_t Step, const Loop &L,
                      ScalarEvolution &SE) {
  if (isGuarded(L, ICmpInst::ICMP_UGE, N, Step, SE))
    return true;
  const SCEV *Less = SE.getMinusSCEV(N, SE.getOne(N->getType()));
  return isGuarded(L, ICmpInst::ICMP_UGE, Less, Step - 1, SE) &&
         isGuarded(L, ICmpInst::ICMP_SGT, N, 0, SE);
}

/// What ends \p L, if that is as LLVM's unroller writes it.
static std::optional<Counted> counted(const Loop &L, ScalarEvolution &SE) {
  BasicBlock *Latch = L.getLoopLatch();
  ICmpInst::Predicate Is;
  Value *Next, *N;
  const APInt *Step, *Mask;
  Instruction *Phi;
  BasicBlock *Then, *Else;
  if (!Latch ||
      !match(Latch->getTerminator(),
             m_Br(m_ICmp(Is, m_Value(Next), m_And(m_Value(N), m_APInt(Mask))),
                  m_BasicBlock(Then), m_BasicBlock(Else))) ||
      !match(Next, m_Add(m_Instruction(Phi), m_APInt(Step))) ||
      !Step->isPowerOf2() || Step->isNegative() || !L.isLoopInvariant(N) ||
      Is != (L.contains(Then) ? ICmpInst::ICMP_NE : ICmpInst::ICMP_EQ) ||
      L.contains(Then) == L.contains(Else))
    return std::nullopt;
  const SCEV *Count = SE.getSCEV(Phi), *Limit = SE.getSCEV(N);
  const auto *Rounds = dyn_cast<SCEVAddRecExpr>(Count);
  if (!Rounds || Rounds->getLoop() != &L || !Rounds->getStart()->isZero() ||
      Rounds->getStepRecurrence(SE) != SE.getConstant(*Step))
    return std::nullopt;
  const int64_t By = Step->getSExtValue();
  const bool IsSigned = SE.isKnownNonNegative(Limit) ||
                        isGuarded(L, ICmpInst::ICMP_SGT, Limit, -1, SE);
  // The mask may lack the sign.
  const APInt Lost = ~(*Mask | (*Step - 1));
  if ((*Mask & (*Step - 1)) != 0 || !isAtLeast(Limit, By, L, SE) ||
      !(Lost.isZero() || (Lost.isSignMask() && IsSigned)))
    return std::nullopt;
  return Counted{Count, Limit, By, IsSigned};
}

/// \p V - \p Base, if that is a constant.
static std::optional<int64_t> beyond(Value *V, const SCEV *Base,
                                     ScalarEvolution &SE) {
  const auto *C = dyn_cast<SCEVConstant>(SE.getMinusSCEV(SE.getSCEV(V), Base));
  return C ? std::optional(C->getAPInt().getSExtValue()) : std::nullopt;
}

/// What \p Test is in every round of \p C, or nothing.
static std::optional<bool> settled(const ICmpInst &Test, const Counted &C,
                                   ScalarEvolution &SE) {
  if (Test.getOperand(0)->getType() != C.N->getType())
    return std::nullopt;
  for (unsigned Side : {0, 1}) {
    const auto A = beyond(Test.getOperand(Side), C.Phi, SE);
    const auto B = beyond(Test.getOperand(1 - Side), C.N, SE);
    if (!A || !B || *A > C.Step || *B < -C.Step || *A - *B >= C.Step)
      continue;
    const auto Is = Side ? Test.getSwappedPredicate() : Test.getPredicate();
    if (Test.isEquality()) // the difference is from 1 to N, if it is no more
      return *A - *B >= 0 ? std::optional(Is == ICmpInst::ICMP_NE)
                          : std::nullopt;
    if (*A < 0 || *B > 0 || (ICmpInst::isSigned(Is) && !C.IsSigned))
      continue;
    return ICmpInst::isLT(Is) || ICmpInst::isLE(Is);
  }
  return std::nullopt;
}

static bool settleIn(const Loop &L, const Counted &C, ScalarEvolution &SE) {
  bool Changed = false;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : make_early_inc_range(*Block))
      if (auto *Test = dyn_cast<ICmpInst>(&I);
          Test && SE.isSCEVable(Test->getOperand(0)->getType()))
        if (const auto Is = settled(*Test, C, SE)) {
          Test->replaceAllUsesWith(ConstantInt::getBool(Test->getType(), *Is));
          Changed = true;
        }
  return Changed;
}

static void tidy(Function &F) {
  for (BasicBlock &Block : F) {
    SimplifyInstructionsInBlock(&Block);
    ConstantFoldTerminator(&Block, /*DeleteDeadConditions=*/true);
  }
  EliminateUnreachableBlocks(F);
  for (BasicBlock &Block : make_early_inc_range(F))
    MergeBlockIntoPredecessor(&Block);
}

void settleLastRounds(Function &F) {
  DominatorTree Tree(F);
  LoopInfo Loops(Tree);
  if (Loops.empty())
    return;
  AssumptionCache Assumptions(F);
  TargetLibraryInfoImpl Known(Triple(F.getParent()->getTargetTriple()));
  TargetLibraryInfo Library(Known);
  ScalarEvolution SE(F, Library, Assumptions, Tree, Loops);
  bool Changed = false;
  for (const Loop *L : Loops.getLoopsInPreorder())
    if (const auto C = counted(*L, SE))
      Changed |= settleIn(*L, *C, SE);
  if (Changed)
    tidy(F);
}

} // namespace reconverge::frontend
