//===- analysis/GridLoop.cpp - One loop over the grid ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   before:    start = ctaid * ntid + tid;  bound; step = nctaid * ntid
//   header:    i = phi(start, next)
//     ...      the loop's only exit is here, or at the latch
//   latch:     next = i + step
//   exit:      ret
//
// 1. There is one outermost loop, with one way out, and only i is carried.
// 2. start and step are those above, perhaps extended to 64 bits. What they are
//    computed from is asked for nothing else but `start < bound` in front of
//    the loop, so an iteration knows its thread by i alone. blockDim is the
//    same for all threads, and free.
// 3. Outside of the loop nothing is written and nothing is waited for, and
//    little is computed: whoever makes a thread of each iteration repeats it.
// 4. A thread's own arrays live in the loop, from one lifetime.start to the end
//    of the iteration, or outside of it.
//
// Limitation: a number of iterations that a thread does not have by i < bound
// (i <= bound, a step of two grids) is none of these, and neither is a grid
// whose blockDim is written as a constant.
//
//===----------------------------------------------------------------------===//

#include "analysis/GridLoop.h"

#include "analysis/Costs.h"
#include "analysis/device/Intrinsics.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::analysis {

/// Instructions outside of the loop that are cheap to repeat.
static constexpr unsigned MostOutside = 64;

namespace {
class Search {
public:
  explicit Search(Function &F) : F(F), Dominance(F), Loops(Dominance) {}
  std::optional<GridLoop> find();

private:
  bool findShape();
  bool findIndex();
  bool findExit();
  const Value *strip(const Value *V);
  bool isProduct(const Value *V, Intrinsic::ID A, Intrinsic::ID B);
  bool isStart(const Value *V);
  bool isPartOfNumber(const User &U) const;
  bool isGuard(const User &U) const;
  bool knowsThreadByIndex() const;
  bool isQuietOutside() const;
  bool isOwnMemoryFresh(const AllocaInst &A) const;

  Function &F;
  DominatorTree Dominance;
  LoopInfo Loops;
  Loop *L = nullptr;
  Instruction *Next = nullptr;
  GridLoop Found;
  /// Start and step, and what they are computed from.
  SmallPtrSet<const Value *, 16> Numbers;
};
} // namespace

static bool reads(const Value *V, Intrinsic::ID Id) {
  const auto *I = dyn_cast<IntrinsicInst>(V);
  return I && I->getIntrinsicID() == Id;
}

/// \p V before it was extended; all on the way belongs to the thread's numbers.
const Value *Search::strip(const Value *V) {
  Numbers.insert(V);
  while (const auto *C = dyn_cast<CastInst>(V)) {
    if (!isa<ZExtInst, SExtInst>(C))
      break;
    V = C->getOperand(0);
    Numbers.insert(V);
  }
  return V;
}

bool Search::isProduct(const Value *V, Intrinsic::ID A, Intrinsic::ID B) {
  const Value *Left = nullptr, *Right = nullptr;
  if (!match(strip(V), m_Mul(m_Value(Left), m_Value(Right))))
    return false;
  Left = strip(Left);
  Right = strip(Right);
  return (reads(Left, A) && reads(Right, B)) ||
         (reads(Left, B) && reads(Right, A));
}

bool Search::isStart(const Value *V) {
  const Value *Left = nullptr, *Right = nullptr;
  if (!match(strip(V), m_Add(m_Value(Left), m_Value(Right))))
    return false;
  if (reads(strip(Left), Intrinsic::nvvm_read_ptx_sreg_tid_x))
    std::swap(Left, Right);
  return reads(strip(Right), Intrinsic::nvvm_read_ptx_sreg_tid_x) &&
         isProduct(Left, Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                   Intrinsic::nvvm_read_ptx_sreg_ntid_x);
}

bool Search::findShape() {
  if (std::distance(Loops.begin(), Loops.end()) != 1)
    return false;
  L = *Loops.begin();
  Found.Before = L->getLoopPredecessor();
  Found.Header = L->getHeader();
  Found.Latch = L->getLoopLatch();
  Found.Exiting = L->getExitingBlock();
  Found.Exit = L->getExitBlock();
  return Found.Before && Found.Latch && Found.Exit &&
         (Found.Exiting == Found.Latch || Found.Exiting == Found.Header) &&
         isa<BranchInst>(Found.Latch->getTerminator());
}

bool Search::findIndex() {
  for (PHINode &Phi : Found.Header->phis()) {
    if (Found.Index)
      return false; // something else is carried
    Found.Index = &Phi;
  }
  if (!Found.Index || !Found.Index->getType()->isIntegerTy())
    return false;
  Found.Start = Found.Index->getIncomingValueForBlock(Found.Before);
  Next =
      dyn_cast<Instruction>(Found.Index->getIncomingValueForBlock(Found.Latch));
  Value *Step = nullptr;
  return Next && match(Next, m_c_Add(m_Specific(Found.Index), m_Value(Step))) &&
         isStart(Found.Start) &&
         isProduct(Step, Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                   Intrinsic::nvvm_read_ptx_sreg_ntid_x);
}

/// The one way out is taken where `i < bound` no longer holds: of the next i at
/// the latch, or of this one at the header.
bool Search::findExit() {
  const auto *Branch = dyn_cast<BranchInst>(Found.Exiting->getTerminator());
  const auto *Compare = Branch && Branch->isConditional()
                            ? dyn_cast<ICmpInst>(Branch->getCondition())
                            : nullptr;
  if (!Compare)
    return false;
  const bool Stays = L->contains(Branch->getSuccessor(0));
  CmpInst::Predicate By =
      Stays ? Compare->getPredicate() : Compare->getInversePredicate();
  Value *Tested = Compare->getOperand(0);
  Found.Bound = Compare->getOperand(1);
  if (L->isLoopInvariant(Tested)) {
    std::swap(Tested, Found.Bound);
    By = CmpInst::getSwappedPredicate(By);
  }
  Found.InBounds = By;
  const Value *Wanted = Found.Index;
  if (Found.Exiting == Found.Latch)
    Wanted = Next;
  return Tested == Wanted && L->isLoopInvariant(Found.Bound) &&
         (By == CmpInst::ICMP_SLT || By == CmpInst::ICMP_ULT);
}

bool Search::isPartOfNumber(const User &U) const {
  return &U == Found.Index || &U == Next || Numbers.contains(&U);
}

/// Who has no iteration is sent around the loop.
bool Search::isGuard(const User &U) const {
  const auto *Compare = dyn_cast<ICmpInst>(&U);
  return Compare && !L->contains(Compare) &&
         is_contained(Compare->operands(), Found.Start) &&
         is_contained(Compare->operands(), Found.Bound);
}

bool Search::knowsThreadByIndex() const {
  for (const Value *V : Numbers) {
    if (reads(V, Intrinsic::nvvm_read_ptx_sreg_ntid_x))
      continue;
    for (const User *U : V->users())
      if (!isPartOfNumber(*U) && !(V == Found.Start && isGuard(*U)))
        return false;
  }
  // Each read of a number is one of these, or the size of a block.
  return all_of(instructions(F), [&](const Instruction &I) {
    const auto *Call = dyn_cast<IntrinsicInst>(&I);
    if (!Call || Numbers.contains(Call))
      return true;
    const Intrinsic::ID Id = Call->getIntrinsicID();
    return !threadIndexDimension(Id) && !blockIndexDimension(Id) &&
           !gridSizeDimension(Id);
  });
}

/// A slot of the thread's own: what \p A points at in one iteration is not what
/// an earlier one has left there.
bool Search::isOwnMemoryFresh(const AllocaInst &A) const {
  bool IsInside = false, IsOutside = false, Begins = false;
  SmallVector<const Value *, 8> Work = {&A};
  SmallPtrSet<const Value *, 8> Seen;
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users()) {
      const auto *I = dyn_cast<Instruction>(U);
      if (!I || !Seen.insert(I).second)
        continue;
      (L->contains(I) ? IsInside : IsOutside) = true;
      const auto *Mark = dyn_cast<IntrinsicInst>(I);
      Begins |= Mark && L->contains(I) &&
                Mark->getIntrinsicID() == Intrinsic::lifetime_start;
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(I))
        Work.push_back(I);
    }
  return !IsInside || (Begins && !IsOutside);
}

bool Search::isQuietOutside() const {
  unsigned Count = 0;
  for (const BasicBlock &BB : F) {
    const bool IsInside = L->contains(&BB);
    for (const Instruction &I : BB) {
      if (const auto *A = dyn_cast<AllocaInst>(&I)) {
        if (!isOwnMemoryFresh(*A))
          return false;
      } else if (IsInside) {
        continue;
      } else if (I.isTerminator()) {
        if (!isa<BranchInst, SwitchInst, ReturnInst>(I))
          return false;
      } else if (isa<PHINode>(I) && &BB == Found.Exit) {
        return false;
      } else if (!isa<DbgInfoIntrinsic, AssumeInst>(I)) {
        const auto *Call = dyn_cast<CallBase>(&I);
        if (I.mayHaveSideEffects() || (Call && Call->isConvergent()) ||
            (Call && !isa<IntrinsicInst>(Call)))
          return false;
        Count += countsAsInstruction(I);
      }
      // What the loop computes stays there.
      if (any_of(I.operands(), [&](const Use &Of) {
            const auto *By = dyn_cast<Instruction>(&Of);
            return By && L->contains(By);
          }))
        return false;
    }
  }
  return Count <= MostOutside;
}

std::optional<GridLoop> Search::find() {
  if (!findShape() || !findIndex() || !findExit() || !knowsThreadByIndex() ||
      !isQuietOutside())
    return std::nullopt;
  return Found;
}

std::optional<GridLoop> findGridLoop(Function &Kernel) {
  if (Kernel.isDeclaration())
    return std::nullopt;
  return Search(Kernel).find();
}

} // namespace reconverge::analysis
