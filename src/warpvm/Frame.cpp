//===- warpvm/Frame.cpp - Where values live between regions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/Frame.h"
#include "warpvm/Emitter.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

SmallVector<Type *, 2> leavesOf(Type *T) {
  SmallVector<Type *, 2> Leaves;
  if (auto *S = dyn_cast<StructType>(T)) {
    for (Type *E : S->elements())
      append_range(Leaves, leavesOf(E));
  } else if (auto *A = dyn_cast<ArrayType>(T)) {
    auto Inner = leavesOf(A->getElementType());
    for (uint64_t I = 0; I < A->getNumElements(); ++I)
      append_range(Leaves, Inner);
  } else {
    Leaves.push_back(T);
  }
  return Leaves;
}

const Value *stripIndexExtension(const Value *V) {
  if (auto *Cast = dyn_cast<CastInst>(V))
    if (Cast->getSrcTy()->isIntegerTy(32) && Cast->getDestTy()->isIntegerTy(64))
      if (isa<SExtInst>(Cast) ||
          (isa<ZExtInst>(Cast) && cast<ZExtInst>(Cast)->hasNonNeg()))
        return Cast->getOperand(0);
  return V;
}

void forEachAddressOperand(const Value *Pointer,
                           function_ref<void(const Value *)> Visit) {
  if (auto *G = dyn_cast<GetElementPtrInst>(Pointer)) {
    Visit(G->getPointerOperand());
    for (const Use &Index : G->indices())
      Visit(stripIndexExtension(Index));
  } else {
    Visit(Pointer);
  }
}

/// Calls \p Visit(value, block that reads it) for every operand of \p I.
static void
forEachRead(const Instruction &I,
            function_ref<void(const Value *, const BasicBlock *)> Visit) {
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    for (unsigned J = 0; J < Phi->getNumIncomingValues(); ++J)
      Visit(Phi->getIncomingValue(J), Phi->getIncomingBlock(J));
    return;
  }
  const Value *Pointer = getLoadStorePointerOperand(&I);
  for (const Use &Op : I.operands())
    if (Op.get() == Pointer &&
        Op.getOperandNo() == (isa<StoreInst>(I) ? 1u : 0u))
      forEachAddressOperand(
          Pointer, [&](const Value *V) { Visit(V, I.getParent()); });
    else
      Visit(Op, I.getParent());
}

FrameLayout::FrameLayout(Function &F, const RegionPlanner &Plan,
                         const analysis::UniformityResult &Uniform,
                         unsigned WarpSize) {
  DenseSet<const Value *> Crosses;
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB) {
      forEachRead(I, [&](const Value *V, const BasicBlock *Reader) {
        auto *Def = dyn_cast<Instruction>(V);
        if (!Def || isa<AllocaInst>(Def))
          return; // addresses of locals are recomputed
        if (Def->getParent() != Reader)
          LeavesBlock.insert(V);
        if (Plan.RegionOf.lookup(Def->getParent()) !=
            Plan.RegionOf.lookup(Reader))
          Crosses.insert(V);
      });
      if (auto *Phi = dyn_cast<PHINode>(&I))
        for (const BasicBlock *From : Phi->blocks())
          if (!Plan.isInternal(*From, *BB))
            Crosses.insert(Phi);
    }

  const DataLayout &DL = F.getParent()->getDataLayout();
  uint32_t Offset = alignTo(threadIdBytes(WarpSize), 64);
  for (const BasicBlock *BB : Plan.Order)
    for (const Instruction &I : *BB) {
      if (!Crosses.contains(&I))
        continue;
      Slot S{Uniform.isUniform(I), {}};
      for (Type *T : leavesOf(I.getType())) {
        if (S.Uniform) {
          S.Offsets.push_back(NumScalars);
          NumScalars += divideCeil(DL.getTypeAllocSize(T).getFixedValue(), 8);
          continue;
        }
        S.Offsets.push_back(Offset);
        uint64_t Bytes = T->isIntegerTy(1)
                             ? WarpSize / 8
                             : WarpSize * DL.getTypeAllocSize(T).getFixedValue();
        Offset = alignTo(Offset + Bytes, 64);
      }
      Slots[&I] = S;
    }
  FrameBytes = Offset;
}

} // namespace reconverge::warpvm
