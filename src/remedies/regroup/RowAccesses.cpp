//===- remedies/regroup/RowAccesses.cpp - Columns of arrays ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   a[(i + k * stride) * cell + byte]     i: number of the thread; any k
//
// What SCEV says of an address less the array's is a sum, some of it in steps of
// loops:
//
//   constants                       the byte
//   the thread's number, or its     in steps of a cell: a multiple of both parts,
//   two parts, times a constant     blockIdx.x * blockDim.x and threadIdx.x
//   all else                        is divided by stride * cell; the sum is k
//
// The stride is what all those terms have in common of what the launch's
// arguments and sizes make. All of this is modulo 2^64, as addresses are.
//
// Limitation: a stride that is a constant is not looked for, nor is a sum of 32
// bits taken apart that may wrap (IndexTerms.h).
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/RowAccesses.h"

#include "analysis/device/Intrinsics.h"
#include "remedies/common/CountWriter.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <functional>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::remedies::regroup {

static constexpr uint64_t MostCellBytes = 256;

RowFinder::RowFinder(Function &F)
    : F(F), Dominance(Analyses.Functions.getResult<DominatorTreeAnalysis>(F)),
      Loops(Analyses.Functions.getResult<LoopAnalysis>(F)),
      Numbers(Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F)) {}

//===----------------------------------------------------------------------===//
// An address
//===----------------------------------------------------------------------===//

/// The read of a number that \p S is, perhaps extended.
static Intrinsic::ID readBy(const SCEV *S) {
  while (const auto *Cast = dyn_cast<SCEVIntegralCastExpr>(S)) {
    if (isa<SCEVTruncateExpr>(Cast))
      return Intrinsic::not_intrinsic;
    S = Cast->getOperand();
  }
  const auto *Of = dyn_cast<SCEVUnknown>(S);
  const auto *Call = Of ? dyn_cast<IntrinsicInst>(Of->getValue()) : nullptr;
  return Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
}

static bool isBlockPart(const SCEV *S) {
  while (isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(S))
    S = cast<SCEVCastExpr>(S)->getOperand();
  const auto *Product = dyn_cast<SCEVMulExpr>(S);
  if (!Product || Product->getNumOperands() != 2)
    return false;
  const Intrinsic::ID A = readBy(Product->getOperand(0)),
                      B = readBy(Product->getOperand(1));
  const Intrinsic::ID Block = Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                      Size = Intrinsic::nvvm_read_ptx_sreg_ntid_x;
  return (A == Block && B == Size) || (A == Size && B == Block);
}

static bool isThreadPart(const SCEV *S) {
  return readBy(S) == Intrinsic::nvvm_read_ptx_sreg_tid_x;
}

/// Whether \p Term is the number of the thread or one of its two parts, times
/// the bytes of a cell.
bool RowFinder::addNumber(const SCEV *Term, Distance &To) {
  uint64_t Times = 1;
  const SCEV *Of = Term;
  if (const auto *Product = dyn_cast<SCEVMulExpr>(Term))
    if (const auto *C = dyn_cast<SCEVConstant>(Product->getOperand(0))) {
      if (!C->getAPInt().isStrictlyPositive() ||
          C->getAPInt().ugt(MostCellBytes))
        return false;
      Times = C->getAPInt().getZExtValue();
      SmallVector<const SCEV *> Rest(drop_begin(Product->operands()));
      Of = Numbers.getMulExpr(Rest);
    }
  bool Block = isBlockPart(Of), Thread = isThreadPart(Of);
  if (!Block && !Thread) {
    const SCEV *Inner = Of;
    while (isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(Inner))
      Inner = cast<SCEVCastExpr>(Inner)->getOperand();
    const auto *Sum = dyn_cast<SCEVAddExpr>(Inner);
    if (!Sum || Sum->getNumOperands() != 2)
      return false;
    const SCEV *A = Sum->getOperand(0), *B = Sum->getOperand(1);
    if (!(isBlockPart(A) && isThreadPart(B)) &&
        !(isBlockPart(B) && isThreadPart(A)))
      return false;
    Block = Thread = true;
  }
  if ((Block && To.HasBlock) || (Thread && To.HasThread) ||
      (To.Cell && To.Cell != Times))
    return false;
  To.Cell = Times;
  To.HasBlock |= Block;
  To.HasThread |= Thread;
  return true;
}

/// Of C * (A + B), which SCEV leaves as it is, what is in the brackets; \p Times
/// becomes C times as many.
static const SCEV *inBrackets(const SCEV *S, int64_t &Times) {
  const auto *Product = dyn_cast<SCEVMulExpr>(S);
  if (!Product || Product->getNumOperands() != 2 ||
      !isa<SCEVConstant>(Product->getOperand(0)) ||
      !isa<SCEVAddExpr, SCEVAddRecExpr>(Product->getOperand(1)))
    return S;
  Times *=
      cast<SCEVConstant>(Product->getOperand(0))->getAPInt().getSExtValue();
  return Product->getOperand(1);
}

const SCEV *RowFinder::times(const SCEV *S, int64_t Times) {
  return Times == 1 ? S
                    : Numbers.getMulExpr(Numbers.getConstant(S->getType(),
                                                             uint64_t(Times),
                                                             /*isSigned=*/true),
                                         S);
}

/// Adds \p S, \p Times as many.
void RowFinder::addTerms(const SCEV *S, int64_t Times, Distance &To) {
  S = inBrackets(S, Times);
  if (const auto *C = dyn_cast<SCEVConstant>(S)) {
    To.Bytes += Times * C->getAPInt().getSExtValue();
  } else if (isa<SCEVAddExpr>(S)) {
    for (const SCEV *Term : S->operands())
      addTerms(Term, Times, To);
  } else if (const auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
    To.Good &= Rec->isAffine();
    addTerms(Rec->getStart(), Times, To);
    if (Rec->isAffine())
      To.Rows.push_back(times(Rec->getStepRecurrence(Numbers), Times));
  } else if (const SCEV *Term = times(S, Times); !addNumber(Term, To)) {
    To.Rows.push_back(Term);
  }
}

//===----------------------------------------------------------------------===//
// The stride
//===----------------------------------------------------------------------===//

/// Whether the launch's arguments and sizes make \p S.
bool RowFinder::isLaunch(const SCEV *S) {
  CountWriter Count(F.getDataLayout());
  return !isa<SCEVConstant>(S) && Count.add(*S) && Count.count();
}

/// What \p S is a product of; steps are taken apart already.
static SmallVector<const SCEV *> factorsOf(const SCEV *S) {
  if (isa<SCEVMulExpr>(S))
    return SmallVector<const SCEV *>(S->operands());
  return {S};
}

bool RowFinder::findStride(RowArray &A) {
  bool IsFirst = true;
  for (const RowAccess &At : A.Accesses)
    for (const SCEV *Row : At.At.Rows) {
      SmallVector<const SCEV *> Factors = factorsOf(Row), Common;
      for (const SCEV *Factor : IsFirst ? Factors : A.Stride) {
        const auto Found = llvm::find(Factors, Factor);
        if (Found == Factors.end() || !isLaunch(Factor))
          continue;
        Common.push_back(Factor);
        if (!IsFirst)
          Factors.erase(Found);
      }
      A.Stride = Common;
      IsFirst = false;
    }
  if (A.Stride.empty())
    return false;
  return all_of(A.Accesses, [&](const RowAccess &At) {
    const SCEV *Row = rowOf(At, A);
    return Row && !SCEVExprContains(Row, [](const SCEV *S) {
             const auto *Division = dyn_cast<SCEVUDivExpr>(S);
             return Division && !isa<SCEVConstant>(Division->getRHS());
           });
  });
}

/// \p S by the stride and the bytes of a cell; null: it is not that many times.
const SCEV *RowFinder::divide(const SCEV *S, const RowArray &By,
                              uint64_t Cell) {
  SmallVector<const SCEV *> Factors = factorsOf(S);
  for (const SCEV *Factor : By.Stride) {
    const auto Found = llvm::find(Factors, Factor);
    if (Found == Factors.end())
      return nullptr;
    Factors.erase(Found);
  }
  int64_t Times = 1;
  for (const SCEV *&Factor : Factors)
    if (const auto *C = dyn_cast<SCEVConstant>(Factor)) {
      Times *= C->getAPInt().getSExtValue();
      Factor = Numbers.getOne(S->getType());
    }
  if (Times % int64_t(Cell))
    return nullptr;
  Factors.push_back(Numbers.getConstant(S->getType(),
                                        uint64_t(Times / int64_t(Cell)),
                                        /*isSigned=*/true));
  return Numbers.getMulExpr(Factors);
}

const SCEV *RowFinder::rowOf(const RowAccess &At, const RowArray &Of) {
  const uint64_t Cell = At.At.Cell;
  // As addTerms() goes.
  const std::function<const SCEV *(const SCEV *, int64_t)> Divide =
      [&](const SCEV *S, int64_t Times) -> const SCEV * {
    S = inBrackets(S, Times);
    if (isa<SCEVAddExpr>(S)) {
      SmallVector<const SCEV *> Terms;
      for (const SCEV *Term : S->operands()) {
        Terms.push_back(Divide(Term, Times));
        if (!Terms.back())
          return nullptr;
      }
      return Numbers.getAddExpr(Terms);
    }
    if (const auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
      const SCEV *Start = Divide(Rec->getStart(), Times),
                 *Step = divide(times(Rec->getStepRecurrence(Numbers), Times),
                                Of, Cell);
      return Start && Step ? Numbers.getAddRecExpr(Start, Step, Rec->getLoop(),
                                                   SCEV::FlagAnyWrap)
                           : nullptr;
    }
    const SCEV *Term = times(S, Times);
    Distance Ignored;
    if (isa<SCEVConstant>(Term) || addNumber(Term, Ignored))
      return Numbers.getZero(Term->getType());
    return divide(Term, Of, Cell);
  };
  return Divide(At.Address, 1);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// All that \p A's pointer is used for, which has to be accesses.
bool RowFinder::findAccesses(RowArray &A) {
  SmallVector<Value *> Work = {A.Pointer};
  SmallPtrSet<Value *, 16> Seen = {A.Pointer};
  const SCEV *Base = Numbers.getSCEV(A.Pointer);
  while (!Work.empty()) {
    Value *Pointer = Work.pop_back_val();
    for (User *U : Pointer->users()) {
      if (isa<GetElementPtrInst, PHINode>(U)) {
        if (Seen.insert(U).second)
          Work.push_back(U);
        continue;
      }
      auto *I = cast<Instruction>(U);
      const auto *Load = dyn_cast<LoadInst>(I);
      const auto *Store = dyn_cast<StoreInst>(I);
      if (!(Load && Load->isSimple()) &&
          !(Store && Store->isSimple() && Store->getValueOperand() != Pointer))
        return false;
      const SCEV *At = Numbers.getMinusSCEV(Numbers.getSCEV(Pointer), Base);
      if (isa<SCEVCouldNotCompute>(At))
        return false;
      RowAccess &New = A.Accesses.emplace_back(RowAccess{I, At, {}});
      addTerms(At, 1, New.At);
    }
  }
  if (A.Accesses.empty())
    return false;
  const uint64_t Cell = A.Accesses.front().At.Cell;
  return Cell && all_of(A.Accesses, [&](const RowAccess &X) {
           const uint64_t Size =
               F.getDataLayout().getTypeStoreSize(getLoadStoreType(X.I));
           return X.At.Good && X.At.HasBlock && X.At.HasThread &&
                  X.At.Cell == Cell && X.At.Bytes >= 0 &&
                  uint64_t(X.At.Bytes) + Size <= Cell;
         });
}

/// Whether cells are accessed more than once, as far as loops tell.
bool RowFinder::isUsedAgain(const RowArray &A) {
  return any_of(A.Accesses, [&](const RowAccess &At) {
    const Loop *L = Loops.getLoopFor(At.I->getParent());
    const auto *Rec = dyn_cast<SCEVAddRecExpr>(At.Address);
    return L && (L->getLoopDepth() > 1 || !Rec || Rec->getLoop() != L);
  });
}

/// Whether \p Condition, where it is \p Holds, says that the number of the thread
/// is below \p Limit, as numbers with a sign or without.
bool RowFinder::isBelow(Value *Condition, bool Holds, const SCEV *Limit,
                        bool IsSigned) {
  Value *A = nullptr, *B = nullptr;
  if (Holds ? match(Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
            : match(Condition, m_LogicalOr(m_Value(A), m_Value(B))))
    return isBelow(A, Holds, Limit, IsSigned) ||
           isBelow(B, Holds, Limit, IsSigned);
  const auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare)
    return false;
  auto Is = Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  A = Compare->getOperand(0), B = Compare->getOperand(1);
  if (Is == ICmpInst::ICMP_SGT || Is == ICmpInst::ICMP_UGT) {
    std::swap(A, B);
    Is = ICmpInst::getSwappedPredicate(Is);
  }
  Distance Number;
  return Is == (IsSigned ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_ULT) &&
         Numbers.isSCEVable(A->getType()) && Numbers.getSCEV(B) == Limit &&
         addNumber(Numbers.getSCEV(A), Number) && Number.Cell == 1 &&
         Number.HasBlock && Number.HasThread;
}

/// Whether threads beyond the end of a row are kept from all accesses.
bool RowFinder::isGuarded(const RowArray &A) {
  SmallVector<const SCEV *> Factors(A.Stride);
  const SCEV *Limit = Numbers.getMulExpr(Factors);
  const bool IsSigned = !isa<SCEVZeroExtendExpr>(Limit);
  if (const auto *Cast = dyn_cast<SCEVIntegralCastExpr>(Limit))
    Limit = Cast->getOperand();
  SmallVector<BasicBlockEdge> Guards;
  for (BasicBlock &BB : F)
    if (const auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
        Branch && Branch->isConditional())
      for (const bool Holds : {true, false})
        if (isBelow(Branch->getCondition(), Holds, Limit, IsSigned))
          Guards.push_back({&BB, Branch->getSuccessor(Holds ? 0 : 1)});
  return all_of(A.Accesses, [&](const RowAccess &At) {
    return any_of(Guards, [&](const BasicBlockEdge &Guard) {
      return Dominance.dominates(Guard, At.I->getParent());
    });
  });
}

std::vector<RowArray> RowFinder::find() {
  std::vector<RowArray> Found;
  for (Argument &Pointer : F.args()) {
    if (!Pointer.getType()->isPointerTy() || Pointer.hasByValAttr())
      continue;
    RowArray A{&Pointer, {}, {}};
    if (findAccesses(A) && findStride(A) && isUsedAgain(A))
      Found.push_back(std::move(A));
  }
  return Found;
}

RecipeRows RowFinder::describe(const RowArray &A) {
  RecipeRows R;
  R.Pointer = A.Pointer->getArgNo();
  R.CellBytes = uint32_t(A.Accesses.front().At.Cell);
  R.Stored = any_of(A.Accesses,
                    [](const RowAccess &At) { return isa<StoreInst>(At.I); });
  R.Guarded = isGuarded(A);
  CountWriter Count(F.getDataLayout());
  for (const auto &[Number, Factor] : enumerate(A.Stride)) {
    Count.add(*Factor);
    if (Number)
      Count.add({TripCount::Mul, 64});
  }
  if (auto Stride = Count.count())
    R.Stride = std::move(*Stride);
  return R;
}

} // namespace reconverge::remedies::regroup
