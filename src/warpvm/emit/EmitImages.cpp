//===- warpvm/emit/EmitImages.cpp - Textures and surfaces -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call for all lanes (Images.cpp). What it reads and gives lies in rows: a
// row of objects, four of 32 bits for layer and coordinates, and one of 64 bits
// for each value.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"
#include "warpvm/memory/Images.h"

#include <bit>

using namespace llvm;

namespace reconverge::warpvm {

/// Room for \p Count rows.
static Value *rows(IRBuilder<> &Entry, Type *Row, unsigned Count) {
  auto *Array = Entry.CreateAlloca(ArrayType::get(Row, Count));
  Array->setAlignment(Align(64));
  return Array;
}

bool RegionEmitter::emitImage(CallInst &I) {
  std::optional<ImageOperation> Op =
      imageOperation(I.getCalledFunction()->getName());
  if (!Op)
    return false;
  Op->WarpSize = uint8_t(W);
  Type *Short = vectorOf(I32), *Long = vectorOf(I64);
  IRBuilder<> Entry(EntryBB, EntryBB->begin());
  Value *Places = rows(Entry, Short, 4), *Values = rows(Entry, Long, Op->Count);
  auto Row = [&](Value *Array, Type *T, unsigned N) {
    return B.CreateConstInBoundsGEP1_64(T, Array, N);
  };
  unsigned Next = 0;
  Value *Objects = spill(vec(I.getArgOperand(Next++)));
  for (unsigned N = Op->Layered ? 0 : 1; N <= Op->Coordinates; ++N)
    B.CreateAlignedStore(B.CreateBitCast(vec(I.getArgOperand(Next++)), Short),
                         Row(Places, Short, N), Align(64));
  if (Op->Kind == ImageOperation::Store)
    for (unsigned N = 0; N < Op->Count; ++N)
      B.CreateAlignedStore(B.CreateZExt(vec(I.getArgOperand(Next++)), Long),
                           Row(Values, Long, N), Align(64));
  B.CreateCall(helper("rcvm_image", B.getVoidTy(),
                      {PtrTy, I64, I64, PtrTy, PtrTy, PtrTy, PtrTy}),
               {Ctx, B.CreateZExt(M, I64),
                B.getInt64(std::bit_cast<uint64_t>(*Op)), Objects, Places,
                Values, faultSite(I)});
  if (Op->Kind == ImageOperation::Store)
    return true;
  Lanes Result;
  for (auto [N, T] : enumerate(leavesOf(I.getType()))) {
    Value *X = B.CreateAlignedLoad(Long, Row(Values, Long, N), Align(64));
    X = B.CreateTrunc(X, vectorOf(B.getIntNTy(T->getPrimitiveSizeInBits())));
    Result.Parts.push_back(B.CreateBitCast(X, vectorOf(T)));
  }
  define(&I, Result);
  return true;
}

} // namespace reconverge::warpvm
