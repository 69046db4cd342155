//===- remedies/common/Notes.cpp - What a slice notes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/Notes.h"
#include "remedies/common/Reachable.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies {

Loop *loopLeftBy(const BasicBlock &BB, const LoopInfo &Loops) {
  for (Loop *L = Loops.getLoopFor(&BB); L; L = L->getParentLoop())
    if (L->isLoopExiting(&BB))
      return L;
  return nullptr;
}

AllocaInst *makeSlot(Function &F, Type *T, const Twine &Name) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  auto *Slot = B.CreateAlloca(T, nullptr, Name);
  B.CreateStore(Constant::getNullValue(T), Slot);
  return Slot;
}

StoreInst *addTo(IRBuilderBase &B, AllocaInst &Slot, Value *More) {
  return B.CreateStore(
      B.CreateAdd(B.CreateLoad(Slot.getAllocatedType(), &Slot), More), &Slot);
}

Instruction *behindAll(ArrayRef<Instruction *> Ends,
                       ArrayRef<Instruction *> Others) {
  Reachable MayCome;
  for (Instruction *End : reverse(Ends)) {
    const auto comesBehind = [&](const Instruction *I) {
      return I != End && MayCome(*End->getNextNode(), *I);
    };
    if (none_of(Ends, comesBehind) && none_of(Others, comesBehind))
      return End->getNextNode();
  }
  return nullptr;
}

SmallVector<const BasicBlock *> sidesOf(const Instruction &Branch) {
  SmallVector<const BasicBlock *> Sides;
  for (unsigned I = 0; I != Branch.getNumSuccessors(); ++I)
    if (!is_contained(Sides, Branch.getSuccessor(I)))
      Sides.push_back(Branch.getSuccessor(I));
  return Sides;
}

Value *sideOf(IRBuilderBase &B, Instruction &Branch) {
  if (auto *If = dyn_cast<BranchInst>(&Branch))
    return B.CreateZExt(B.CreateNot(If->getCondition()), B.getInt32Ty());
  auto &Switch = cast<SwitchInst>(Branch);
  const auto Sides = sidesOf(Switch);
  auto numberOf = [&](const BasicBlock *To) {
    return B.getInt32(uint32_t(find(Sides, To) - Sides.begin()));
  };
  Value *Side = numberOf(Switch.getDefaultDest());
  for (auto Case : Switch.cases())
    Side = B.CreateSelect(
        B.CreateICmpEQ(Switch.getCondition(), Case.getCaseValue()),
        numberOf(Case.getCaseSuccessor()), Side);
  return Side;
}

void forRounds(Loop &L, ScalarEvolution &Rounds,
               function_ref<void(IRBuilderBase &, Value *)> Add) {
  const SCEV *Count = Rounds.getBackedgeTakenCount(&L);
  BasicBlock *Before = L.getLoopPreheader();
  BasicBlock *Header = L.getHeader();
  SCEVExpander Code(Rounds, Header->getDataLayout(), "rounds");
  if (Before && !isa<SCEVCouldNotCompute>(Count) &&
      Code.isSafeToExpandAt(Count, Before->getTerminator())) {
    IRBuilder<> B(Before->getTerminator());
    Type *T = Count->getType();
    Value *Known = Code.expandCodeFor(Count, T, Before->getTerminator());
    if (T->getIntegerBitWidth() > 32)
      Known = B.CreateBinaryIntrinsic(Intrinsic::umin, Known,
                                      ConstantInt::get(T, INT32_MAX));
    Add(B, B.CreateZExtOrTrunc(Known, B.getInt32Ty()));
    return;
  }
  IRBuilder<> B(Header, Header->getFirstInsertionPt());
  Add(B, B.getInt32(1));
}

void raise(IRBuilder<> &B, Value *At, Value *To) {
  auto *Seen = B.CreateLoad(B.getInt32Ty(), At);
  Seen->setVolatile(true);
  Instruction *Then = SplitBlockAndInsertIfThen(
      B.CreateICmpUGT(To, Seen), B.GetInsertPoint(), /*Unreachable=*/false);
  BasicBlock *Tail = Then->getSuccessor(0);
  B.SetInsertPoint(Then);
  B.CreateAtomicRMW(AtomicRMWInst::UMax, At, To, Align(4),
                    AtomicOrdering::Monotonic);
  B.SetInsertPoint(Tail, Tail->getFirstInsertionPt());
}

} // namespace reconverge::remedies
