//===- remedies/common/Straight.cpp - A thread an iteration ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (i = thread; i < bound; i += threads)     i = thread
//     body(i)                                     if (i < bound) body(i)
//
// for a launch of so many blocks that every i has a thread. Remedies that hand
// threads out anew then see each iteration, where one thread of the program's
// would be many of them.
//
// Why right: each i from 0 to bound - 1 is done once, by whoever is its thread,
// and asks for nothing else of that (analysis/GridLoop.cpp). That none needs
// what another leaves in memory is for the trials, which see the iterations as
// threads, too: proofs straighten like all others (permute/Permute.cpp).
//
// The host computes the bound from the launch's arguments, so it has to be made
// of those, by arithmetic alone.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Straight.h"

#include "analysis/GridLoop.h"
#include "remedies/common/KernelCopy.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr size_t MostTerms = 32;

static std::optional<TripCount::Kind> kindOf(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::Add:
    return TripCount::Add;
  case Instruction::Sub:
    return TripCount::Sub;
  case Instruction::Mul:
    return TripCount::Mul;
  case Instruction::UDiv:
    return TripCount::UDiv;
  case Instruction::SDiv:
    return TripCount::SDiv;
  case Instruction::Shl:
    return TripCount::Shl;
  case Instruction::LShr:
    return TripCount::LShr;
  case Instruction::AShr:
    return TripCount::AShr;
  case Instruction::Trunc:
    return TripCount::Trunc;
  case Instruction::ZExt:
    return TripCount::ZExt;
  case Instruction::SExt:
    return TripCount::SExt;
  default:
    break;
  }
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::umin:
    return TripCount::UMin;
  case Intrinsic::umax:
    return TripCount::UMax;
  case Intrinsic::smin:
    return TripCount::SMin;
  case Intrinsic::smax:
    return TripCount::SMax;
  default:
    return std::nullopt;
  }
}

namespace {
/// Writes a bound down, operands first.
class Writer {
public:
  explicit Writer(const DataLayout &Layout) : Layout(Layout) {}
  bool add(const Value *V);
  TripCount Count;

private:
  bool addArgument(const Value *Of, uint32_t Bits, uint64_t At);
  const DataLayout &Layout;
};
} // namespace

/// \p Of: the argument itself, or of one that is passed by value its address.
bool Writer::addArgument(const Value *Of, uint32_t Bits, uint64_t At) {
  const auto *A = dyn_cast<Argument>(Of);
  if (!A || A->hasByValAttr() == A->getType()->isIntegerTy())
    return false;
  Count.Terms.push_back({TripCount::Argument, Bits, A->getArgNo(), At});
  return true;
}

bool Writer::add(const Value *V) {
  const Type *T = V->getType();
  const unsigned Bits = T->isIntegerTy() ? T->getIntegerBitWidth() : 0;
  if ((Bits != 8 && Bits != 16 && Bits != 32 && Bits != 64) ||
      Count.Terms.size() == MostTerms)
    return false;
  if (const auto *C = dyn_cast<ConstantInt>(V)) {
    Count.Terms.push_back({TripCount::Constant, Bits, 0, C->getZExtValue()});
    return true;
  }
  if (isa<Argument>(V))
    return addArgument(V, Bits, 0);
  if (const auto *Load = dyn_cast<LoadInst>(V)) {
    APInt At(Layout.getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
    const Value *From =
        Load->getPointerOperand()->stripAndAccumulateConstantOffsets(
            Layout, At, /*AllowNonInbounds=*/true);
    return Load->isSimple() && !At.isNegative() &&
           addArgument(From, Bits, At.getZExtValue());
  }
  const auto *I = dyn_cast<Instruction>(V);
  const auto Kind = I ? kindOf(*I) : std::nullopt;
  if (!Kind)
    return false;
  const bool IsCast = isa<CastInst>(I);
  const unsigned Operands = IsCast ? 1 : 2;
  for (unsigned Number = 0; Number != Operands; ++Number)
    if (!add(I->getOperand(Number)))
      return false;
  Count.Terms.push_back(
      {*Kind, Bits,
       IsCast ? I->getOperand(0)->getType()->getIntegerBitWidth() : 0, 0});
  return Count.Terms.size() <= MostTerms;
}

static std::optional<TripCount> tripsOf(const analysis::GridLoop &L,
                                        const DataLayout &Layout) {
  Writer Bound(Layout);
  if (!Bound.add(L.Bound))
    return std::nullopt;
  if (L.InBounds == CmpInst::ICMP_SLT) { // none below 0
    const unsigned Bits = L.Bound->getType()->getIntegerBitWidth();
    Bound.Count.Terms.push_back({TripCount::Constant, Bits, 0, 0});
    Bound.Count.Terms.push_back({TripCount::SMax, Bits, 0, 0});
  }
  return std::move(Bound.Count);
}

static void straightenNow(const analysis::GridLoop &L) {
  BasicBlock *Enter = BasicBlock::Create(L.Header->getContext(), "straight",
                                         L.Header->getParent(), L.Header);
  L.Before->getTerminator()->replaceSuccessorWith(L.Header, Enter);
  IRBuilder<> B(Enter);
  B.CreateCondBr(B.CreateICmp(L.InBounds, L.Start, L.Bound), L.Header, L.Exit);

  Instruction *Back = L.Latch->getTerminator();
  auto *Branch = cast<BranchInst>(Back);
  WeakTrackingVH Condition =
      Branch->isConditional() ? Branch->getCondition() : nullptr;
  BranchInst::Create(L.Exit, Back->getIterator())
      ->setDebugLoc(Back->getDebugLoc());
  Back->eraseFromParent();
  WeakTrackingVH Next = L.Index->getIncomingValueForBlock(L.Latch);
  L.Index->replaceAllUsesWith(L.Start);
  L.Index->eraseFromParent();
  for (WeakTrackingVH Dead : {Condition, Next})
    if (Dead)
      RecursivelyDeleteTriviallyDeadInstructions(Dead);
}

std::optional<TripCount> straighten(Function &Kernel,
                                    function_ref<bool(Function &)> Suits) {
  const auto Loop = analysis::findGridLoop(Kernel);
  auto Trips = Loop ? tripsOf(*Loop, Kernel.getDataLayout()) : std::nullopt;
  if (!Trips)
    return std::nullopt;
  auto [Alone, Copy] = copyAlone(Kernel);
  straightenNow(*analysis::findGridLoop(*Copy));
  if (!Suits(*Copy))
    return std::nullopt;
  straightenNow(*Loop);
  return Trips;
}

} // namespace reconverge::remedies
