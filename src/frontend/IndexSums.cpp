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
// So before sums are reordered, the terms are extended one by one: as no sum of
// the source wraps, the extended sum is the sum of the extended terms. Terms are
// put in the order of the loops in which they change; those that stay the same
// leave the loop in 64 bits, and an address becomes a step from the one before.
//
// That is done for elements of eight bytes. A tensor contraction in double took
// 0.57 of its time for it on an H200, as ptxas keeps four loads under way for two;
// in float 1.57 of it: ptxas then makes do with 32 registers for 40, and has three
// loads under way for seven.
//
// Left alone: sums of two terms, which keep their order; indices of which one term
// alone does not change in the innermost loop by a step, the same in all rounds
// (the others would be 64 bits wide for nothing); indices of several arrays, as one
// register for all of them is better than an address for each; arrays in shared
// and local memory, whose addresses have 32 bits; loops that go round a constant
// number of times, which are as a rule unrolled as a whole.
//
//===----------------------------------------------------------------------===//

#include "frontend/IndexSums.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

#include <tuple>

using namespace llvm;

namespace reconverge::frontend {

namespace {

/// How many terms an index has at most.
constexpr size_t MostTerms = 8;

struct Term {
  unsigned Depth; ///< of the innermost loop in which it changes; 0: in none
  unsigned Place; ///< in the sum
  Value *Of;
};

} // namespace

/// The terms of \p Sum, none of whose additions wraps; nothing if too many.
static SmallVector<Value *> termsOf(Value *Sum) {
  SmallVector<Value *> Terms, Work{Sum};
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    auto *Add = dyn_cast<AddOperator>(V);
    if (Add && Add->hasNoSignedWrap()) {
      Work.push_back(Add->getOperand(1));
      Work.push_back(Add->getOperand(0));
    } else {
      Terms.push_back(V);
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

/// Whether \p V counts the rounds of \p L, by steps that are all the same.
static bool counts(const Value *V, const Loop &L) {
  const auto *Phi = dyn_cast<PHINode>(V);
  if (!Phi || Phi->getParent() != L.getHeader())
    return false;
  return all_of(zip(Phi->blocks(), Phi->incoming_values()),
                [&](const auto &In) {
                  const auto *Next = dyn_cast<AddOperator>(std::get<1>(In));
                  return !L.contains(std::get<0>(In)) ||
                         (Next && Next->getOperand(0) == Phi &&
                          L.isLoopInvariant(Next->getOperand(1)));
                });
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
    return counts(V, L);
  const Value *A = Product->getOperand(0), *B = Product->getOperand(1);
  return (counts(A, L) && staysInLoop(B, L)) ||
         (counts(B, L) && staysInLoop(A, L));
}

/// \p V in 64 bits: of a product, that of its factors.
static Value *extended(Value *V, Type *To, IRBuilder<> &B) {
  const Operator *Product = productOf(V);
  if (!Product)
    return B.CreateSExt(V, To);
  return B.CreateNSWMul(B.CreateSExt(Product->getOperand(0), To),
                        B.CreateSExt(Product->getOperand(1), To));
}

/// Whether \p Index is that of elements of eight bytes from one pointer alone, in
/// memory whose addresses have 64 bits.
static bool isOfOneArray(const Instruction &Index) {
  const Value *Array = nullptr;
  for (const User *U : Index.users()) {
    const auto *Address = dyn_cast<GetElementPtrInst>(U);
    if (!Address || (Array && Array != Address->getPointerOperand()) ||
        Index.getDataLayout().getTypeAllocSize(
            Address->getSourceElementType()) != 8 ||
        is_contained({analysis::SharedSpace, analysis::LocalSpace},
                     Address->getPointerAddressSpace()))
      return false;
    Array = Address->getPointerOperand();
  }
  return Array;
}

/// \p Index as a sum of extended terms, or null if it is to stay.
static Value *extendedSum(SExtInst &Index, const LoopInfo &Loops,
                          ScalarEvolution &Scalars) {
  const Loop *L = Loops.getLoopFor(Index.getParent());
  if (!L || Scalars.getSmallConstantTripCount(L) ||
      !Index.getType()->isIntegerTy(64) || !isOfOneArray(Index))
    return nullptr;
  SmallVector<Term> Terms;
  for (auto [Place, V] : enumerate(termsOf(Index.getOperand(0))))
    Terms.push_back({depthOf(V, L), unsigned(Place), V});
  if (Terms.size() < 3)
    return nullptr;
  llvm::sort(Terms, [](const Term &A, const Term &B) {
    return std::tie(A.Depth, A.Place) < std::tie(B.Depth, B.Place);
  });
  if (Terms[Terms.size() - 2].Depth == L->getLoopDepth() ||
      !isStepped(Terms.back().Of, *L))
    return nullptr;
  IRBuilder<> B(&Index);
  Value *Sum = nullptr;
  for (const Term &T : Terms) {
    Value *Wide = &T == &Terms.back() ? extended(T.Of, Index.getType(), B)
                                      : B.CreateSExt(T.Of, Index.getType());
    Sum = Sum ? B.CreateNSWAdd(Sum, Wide) : Wide;
  }
  return Sum;
}

namespace {
struct IndexSumsPass : PassInfoMixin<IndexSumsPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &All) {
    const LoopInfo &Loops = All.getResult<LoopAnalysis>(F);
    if (Loops.empty())
      return PreservedAnalyses::all();
    auto &Scalars = All.getResult<ScalarEvolutionAnalysis>(F);
    SmallVector<WeakTrackingVH> Dead;
    for (Instruction &I : instructions(F))
      if (auto *Index = dyn_cast<SExtInst>(&I))
        if (Value *Sum = extendedSum(*Index, Loops, Scalars)) {
          Index->replaceAllUsesWith(Sum);
          Dead.push_back(Index);
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
