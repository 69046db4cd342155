//===- warpvm/emit/EmitLanes.cpp - One lane after the other ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What has no vector form, or where the order of lanes shows: operands are
// spilled to arrays on the stack, and a loop over the set lanes reads a lane's
// own from there.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

using namespace llvm;

namespace reconverge::warpvm {

Value *RegionEmitter::spill(Value *Vector) {
  IRBuilder<> Entry(EntryBB, EntryBB->begin());
  Type *Element = cast<VectorType>(Vector->getType())->getElementType();
  if (Element->isIntegerTy(1))
    Vector = B.CreateZExt(Vector, vectorOf(B.getInt8Ty()));
  assert((Element->isIntegerTy(1) ||
          Out.getDataLayout().getTypeAllocSizeInBits(Element) ==
              Out.getDataLayout().getTypeSizeInBits(Element)) &&
         "a vector that does not lie in memory as an array does");
  auto *Array = Entry.CreateAlloca(Vector->getType());
  Array->setAlignment(Align(64));
  B.CreateAlignedStore(Vector, Array, Align(64));
  return Array;
}

Value *RegionEmitter::spilled(const Value *V) {
  Lanes L = get(V);
  return L.Uniform ? nullptr : spill(*L);
}

/// \p V in lane \p Lane, given what spilled() made of it.
Value *RegionEmitter::inLane(const Value *V, Value *Array, Value *Lane) {
  return Array ? lanePart(Array, laneType(V->getType()), Lane) : *get(V);
}

Value *RegionEmitter::lanePart(Value *Array, Type *T, Value *Lane) {
  if (T->isIntegerTy(1))
    return B.CreateTrunc(
        B.CreateLoad(B.getInt8Ty(), B.CreateGEP(B.getInt8Ty(), Array, Lane)),
        T);
  return B.CreateLoad(T, B.CreateGEP(T, Array, Lane));
}

/// Emits a loop over the active lanes, lowest first, or in the warp's own order
/// if the code is shuffled; \p Lane is an i64.
void RegionEmitter::forEachLane(function_ref<void(Value *Lane)> Body) {
  LLVMContext &Context = Out.getContext();
  auto *Before = B.GetInsertBlock();
  auto *Loop = BasicBlock::Create(Context, "lane", Fn);
  auto *Done = BasicBlock::Create(Context, "lanes.done", Fn);
  if (C.Options.Shuffled) {
    auto *Acts = BasicBlock::Create(Context, "lane.acts", Fn, Done);
    auto *Next = BasicBlock::Create(Context, "lane.next", Fn, Done);
    Value *First = contextField(offsetof(WarpContext, LaneFirst), I32);
    Value *Step = contextField(offsetof(WarpContext, LaneStep), I32);
    B.CreateBr(Loop);
    B.SetInsertPoint(Loop);
    auto *K = B.CreatePHI(I32, 2);
    K->addIncoming(B.getInt32(0), Before);
    Value *Turn = B.CreateAnd(B.CreateAdd(First, B.CreateMul(K, Step)), W - 1);
    Value *Lane = B.CreateZExt(Turn, I64);
    Value *Bit = B.CreateLShr(M, B.CreateZExtOrTrunc(Turn, MaskTy));
    B.CreateCondBr(B.CreateTrunc(Bit, B.getInt1Ty()), Acts, Next);
    B.SetInsertPoint(Acts);
    Body(Lane);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
    Value *Following = B.CreateAdd(K, B.getInt32(1));
    K->addIncoming(Following, Next);
    B.CreateCondBr(B.CreateICmpULT(Following, B.getInt32(W)), Loop, Done);
    B.SetInsertPoint(Done);
    return;
  }
  B.CreateBr(Loop); // M is never empty
  B.SetInsertPoint(Loop);
  auto *Left = B.CreatePHI(MaskTy, 2);
  Left->addIncoming(M, Before);
  Value *Lane = B.CreateZExt(
      B.CreateBinaryIntrinsic(Intrinsic::cttz, Left, B.getTrue()), I64);
  Body(Lane);
  Value *Rest =
      B.CreateAnd(Left, B.CreateSub(Left, ConstantInt::get(MaskTy, 1)));
  Left->addIncoming(Rest, B.GetInsertBlock());
  B.CreateCondBr(B.CreateIsNotNull(Rest), Loop, Done);
  B.SetInsertPoint(Done);
}

void RegionEmitter::emitMemIntrinsic(MemIntrinsic &I) {
  auto *Copy = dyn_cast<MemTransferInst>(&I);
  Value *To = spill(vec(I.getRawDest()));
  Value *From = Copy ? spill(vec(Copy->getRawSource())) : nullptr;
  Value *Byte = Copy ? nullptr : spill(vec(cast<MemSetInst>(I).getValue()));
  Value *Length = spill(vec(I.getLength()));
  Type *LengthTy = I.getLength()->getType();
  forEachLane([&](Value *Lane) {
    Value *D = lanePart(To, PtrTy, Lane);
    Value *N = lanePart(Length, LengthTy, Lane);
    if (auto *K = dyn_cast<ConstantInt>(I.getLength()))
      N = K;
    if (!Copy)
      B.CreateMemSet(D, lanePart(Byte, B.getInt8Ty(), Lane), N, MaybeAlign(1));
    else if (isa<MemMoveInst>(Copy))
      B.CreateMemMove(D, Align(1), lanePart(From, PtrTy, Lane), Align(1), N);
    else
      B.CreateMemCpy(D, Align(1), lanePart(From, PtrTy, Lane), Align(1), N);
  });
}

} // namespace reconverge::warpvm
