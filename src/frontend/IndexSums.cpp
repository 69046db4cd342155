//===- frontend/IndexSums.cpp - Sums that are indices ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (int C = 0; C < N; ++C)
//     Sum += Tensor[A * Planes + B * Rows + C * Columns + F];
//
// LLVM reorders the index, so that what stays the same in the loop is added
// before it. The new sums may wrap where the source's may not, so it drops the
// word that they do not, and the index is then extended to 64 bits anew in each
// round: nobody may conclude that the next address is so many bytes further.
// Unrolled, each copy of the round has an index, a term and an extension of its
// own.
//
// So before sums are reordered, an address is computed term by term, each term
// extended by itself: as no sum of the source wraps, the extended sum is the sum of
// the extended terms. They are added to the address in the order of the loops in
// which they change, constants last, an order that LLVM keeps. What stays the same
// leaves the loop, and an address becomes a step from the one before.
//
// That is done for indices of which one term changes in the innermost loop, by the
// same step in all rounds:
//
//   sums       of three terms or more, as above; of several arrays only where the
//              step is a constant, so that neighbours, as in a window of an image,
//              need one address for each array
//   products   of a count and a pitch: the row in which a place is looked up
//   looking    A[I - K]: unrolled, LLVM makes I + ~K of I - (K + 1), of which
//   back       nobody knows whether it wraps
//
// Left alone: other sums of two terms, which keep their order; steps that are not
// constant, where the index is one of more arrays, as one register for all of them
// is better than an address for each (two for a product alone), and in loops that
// are unrolled as a whole; arrays in shared and local memory, whose addresses have
// 32 bits.
//
//===----------------------------------------------------------------------===//

#include "frontend/IndexSums.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <tuple>

using namespace llvm;

namespace reconverge::frontend {

namespace {

/// How many terms an index has at most.
constexpr size_t MostTerms = 8;

struct Term {
  Value *Of;
  bool IsMinus;
  unsigned Place; ///< in the sum
  unsigned Depth; ///< of the innermost loop in which it changes; 0: in none
};

/// The terms of an index, constants last.
struct Sum {
  SmallVector<Term> Terms;
  size_t Stepped =
      MostTerms; ///< the only one that changes in the innermost loop
  const Term &stepped() const { return Terms[Stepped]; }
};

} // namespace

/// The terms of \p Index, none of whose additions wraps; nothing if too many.
static SmallVector<Term> termsOf(Value *Index) {
  SmallVector<Term> Terms, Work{{Index, false, 0, 0}};
  while (!Work.empty()) {
    const Term T = Work.pop_back_val();
    const auto *By = dyn_cast<OverflowingBinaryOperator>(T.Of);
    const bool IsMinus = By && By->getOpcode() == Instruction::Sub;
    if (By && By->hasNoSignedWrap() &&
        (IsMinus || By->getOpcode() == Instruction::Add)) {
      Work.push_back({By->getOperand(1), T.IsMinus != IsMinus, 0, 0});
      Work.push_back({By->getOperand(0), T.IsMinus, 0, 0});
    } else {
      Terms.push_back(T);
      Terms.back().Place = unsigned(Terms.size());
    }
    if (Terms.size() + Work.size() > MostTerms)
      return {};
  }
  return Terms;
}

/// Whether \p V is the same in all rounds of \p L: made of what is made before
/// it, though perhaps anew in each.
static bool staysInLoop(const Value *V, const Loop &L, unsigned Steps = 4) {
  if (L.isLoopInvariant(V))
    return true;
  const auto *I = cast<Instruction>(V);
  return Steps && isa<BinaryOperator, CastInst>(I) &&
         all_of(I->operands(),
                [&](const Use &Of) { return staysInLoop(Of, L, Steps - 1); });
}

static unsigned depthOf(const Value *V, const Loop *L) {
  while (L && staysInLoop(V, *L))
    L = L->getParentLoop();
  return L ? L->getLoopDepth() : 0;
}

/// By how much \p V grows in each round of \p L, if it counts rounds by steps that
/// are all the same; else null.
static const Value *stepOf(const Value *V, const Loop &L) {
  const auto *Phi = dyn_cast<PHINode>(V);
  if (!Phi || Phi->getParent() != L.getHeader() || !L.getLoopLatch())
    return nullptr;
  const auto *Next =
      dyn_cast<AddOperator>(Phi->getIncomingValueForBlock(L.getLoopLatch()));
  return Next && Next->getOperand(0) == Phi &&
                 L.isLoopInvariant(Next->getOperand(1))
             ? Next->getOperand(1)
             : nullptr;
}

/// \p V as a product that does not wrap, or null.
static const Operator *productOf(const Value *V) {
  const auto *Product = dyn_cast<OverflowingBinaryOperator>(V);
  return Product && Product->getOpcode() == Instruction::Mul &&
                 Product->hasNoSignedWrap()
             ? Product
             : nullptr;
}

/// Whether \p V is a step further in each round of \p L.
static bool isStepped(const Value *V, const Loop &L) {
  const Operator *Product = productOf(V);
  if (!Product)
    return stepOf(V, L);
  const Value *A = Product->getOperand(0), *B = Product->getOperand(1);
  return (stepOf(A, L) && staysInLoop(B, L)) ||
         (stepOf(B, L) && staysInLoop(A, L));
}

/// \p V in 64 bits: of a product, that of its factors.
static Value *extended(Value *V, Type *To, IRBuilder<> &B) {
  const Operator *Product = productOf(V);
  if (!Product)
    return B.CreateSExt(V, To);
  return B.CreateNSWMul(B.CreateSExt(Product->getOperand(0), To),
                        B.CreateSExt(Product->getOperand(1), To));
}

static bool isConstant(const Term &T) { return isa<Constant>(T.Of); }

/// \p Index as a sum of which one term alone changes in \p L, by a step.
static std::optional<Sum> sumOf(const SExtInst &Index, const Loop &L) {
  Sum S;
  S.Terms = termsOf(Index.getOperand(0));
  for (Term &T : S.Terms)
    T.Depth = depthOf(T.Of, &L);
  llvm::sort(S.Terms, [](const Term &A, const Term &B) {
    return std::tuple(isConstant(A), A.Depth, A.Place) <
           std::tuple(isConstant(B), B.Depth, B.Place);
  });
  for (const auto &[N, T] : enumerate(S.Terms)) {
    if (T.Depth != L.getLoopDepth())
      continue;
    if (S.Stepped != MostTerms || !isStepped(T.Of, L))
      return std::nullopt;
    S.Stepped = N;
  }
  return S.Stepped != MostTerms ? std::optional(S) : std::nullopt;
}

/// How many arrays \p Index is that of; 0 if it is anything else, or of memory
/// whose addresses have 32 bits.
static unsigned arraysOf(const SExtInst &Index) {
  SmallSetVector<const Value *, 4> Arrays;
  for (const User *U : Index.users()) {
    const auto *Address = dyn_cast<GetElementPtrInst>(U);
    if (!Address || Address->getNumIndices() != 1 ||
        is_contained({analysis::SharedSpace, analysis::LocalSpace},
                     Address->getPointerAddressSpace()))
      return 0;
    Arrays.insert(Address->getPointerOperand());
  }
  return Arrays.size();
}

static bool isWorthwhile(const SExtInst &Index, const Sum &S, const Loop &L,
                         ScalarEvolution &Scalars) {
  const unsigned Arrays = arraysOf(Index);
  if (!Arrays || !Index.getType()->isIntegerTy(64))
    return false;
  const bool IsProduct = productOf(S.stepped().Of);
  const Value *Step = stepOf(S.stepped().Of, L);
  const bool IsConstant = Step && isa<Constant>(Step);
  if (S.stepped().IsMinus && IsConstant)
    return S.Terms.size() > 1;
  const bool IsUnrolled = Scalars.getSmallConstantTripCount(&L) &&
                          !(hasUnrollTransformation(&L) & TM_Disable);
  if (IsProduct && S.Terms.size() == 1)
    return Arrays <= 2 && !IsUnrolled;
  return S.Terms.size() > 2 && (IsConstant || (Arrays == 1 && !IsUnrolled));
}

/// Computes the addresses that \p Index is for term by term.
static void rewrite(SExtInst &Index, const Sum &S) {
  for (User *U : make_early_inc_range(Index.users())) {
    auto *Address = cast<GetElementPtrInst>(U);
    IRBuilder<> B(Address);
    Value *At = Address->getPointerOperand();
    for (const Term &T : S.Terms) {
      Value *Wide = &T == &S.stepped() ? extended(T.Of, Index.getType(), B)
                                       : B.CreateSExt(T.Of, Index.getType());
      if (T.IsMinus)
        Wide = B.CreateNeg(Wide);
      At = B.CreateGEP(Address->getSourceElementType(), At, Wide);
    }
    Address->replaceAllUsesWith(At);
    Address->eraseFromParent();
  }
}

namespace {
struct IndexSumsPass : PassInfoMixin<IndexSumsPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &All) {
    const LoopInfo &Loops = All.getResult<LoopAnalysis>(F);
    if (Loops.empty())
      return PreservedAnalyses::all();
    auto &Scalars = All.getResult<ScalarEvolutionAnalysis>(F);
    SmallVector<WeakTrackingVH> Dead;
    for (Instruction &I : instructions(F)) {
      auto *Index = dyn_cast<SExtInst>(&I);
      const Loop *L = Index ? Loops.getLoopFor(Index->getParent()) : nullptr;
      const auto S = L ? sumOf(*Index, *L) : std::nullopt;
      if (S && isWorthwhile(*Index, *S, *L, Scalars)) {
        rewrite(*Index, *S);
        Dead.push_back(Index);
      }
    }
    if (Dead.empty())
      return PreservedAnalyses::all();
    RecursivelyDeleteTriviallyDeadInstructions(Dead);
    PreservedAnalyses Kept;
    Kept.preserveSet<CFGAnalyses>();
    return Kept;
  }
};
} // namespace

void extendTermsOfIndices(PassBuilder &PB) {
  PB.registerPeepholeEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel) {
        FPM.addPass(IndexSumsPass());
      });
}

} // namespace reconverge::frontend
