//===- remedies/share/Hand.cpp - Values from lane to lane -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl.sync moves a word of 32 bits. Others go as the integer that their bits
// are, a word at a time.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Hand.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::remedies::share {

static Value *everyLane(IRBuilderBase &B) { return B.getInt32(~0u); }

static Value *wordFromLane(IRBuilderBase &B, Value *Word, Value *Lane) {
  return B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_i32, {},
                           {everyLane(B), Word, Lane, B.getInt32(31)});
}

Value *fromLane(IRBuilderBase &B, Value *V, Value *Lane) {
  Type *T = V->getType();
  const DataLayout &Layout = B.GetInsertBlock()->getDataLayout();
  const unsigned Bits = unsigned(Layout.getTypeSizeInBits(T).getFixedValue());
  Type *AsInteger = B.getIntNTy(Bits);
  Value *Whole = T->isPointerTy() ? B.CreatePtrToInt(V, AsInteger)
                                  : B.CreateBitCast(V, AsInteger);
  Value *Given = nullptr;
  for (unsigned At = 0; At < Bits; At += 32) {
    Value *Word = At ? B.CreateLShr(Whole, At) : Whole;
    Word = wordFromLane(B, B.CreateZExtOrTrunc(Word, B.getInt32Ty()), Lane);
    Word = B.CreateZExtOrTrunc(Word, AsInteger);
    Given = At ? B.CreateOr(Given, B.CreateShl(Word, At)) : Word;
  }
  return T->isPointerTy() ? B.CreateIntToPtr(Given, T)
                          : B.CreateBitCast(Given, T);
}

Value *sumUpTo(IRBuilderBase &B, Value *V, Value *Lane) {
  for (unsigned By = 1; By < 32; By *= 2) {
    Value *Below =
        B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_up_i32, {},
                          {everyLane(B), V, B.getInt32(By), B.getInt32(0)});
    Value *HasBelow = B.CreateICmpUGE(Lane, B.getInt32(By));
    V = B.CreateAdd(V, B.CreateSelect(HasBelow, Below, B.getInt32(0)));
  }
  return V;
}

Value *firstAbove(IRBuilderBase &B, Value *Sums, Value *K) {
  Value *Found = B.getInt32(0);
  for (unsigned By = 16; By; By /= 2) {
    Value *There =
        wordFromLane(B, Sums, B.CreateAdd(Found, B.getInt32(By - 1)));
    Found = B.CreateSelect(B.CreateICmpUGT(There, K), Found,
                           B.CreateAdd(Found, B.getInt32(By)));
  }
  return Found;
}

Value *inAnyLane(IRBuilderBase &B, Value *V) {
  return B.CreateIntrinsic(Intrinsic::nvvm_vote_any_sync, {},
                           {everyLane(B), V});
}

void meetInMemory(IRBuilderBase &B) {
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {everyLane(B)});
}

} // namespace reconverge::remedies::share
