//===- warpvm/emit/EmitImages.cpp - Textures and surfaces -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call for all lanes (run/Textures.cpp). What it reads and gives lies in
// rows: a row of objects, four of 32 bits for layer and coordinates, and one of
// 64 bits for each value.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

#include <bit>

using namespace llvm;

namespace reconverge::warpvm {

/// What \p Name ("llvm.nvvm.tex.unified.2d.v4f32.f32") does; none if it is no
/// such intrinsic, or one that is not supported.
static std::optional<ImageOperation> imageOperation(StringRef Name) {
  using Op = ImageOperation;
  if (!Name.consume_front("llvm.nvvm."))
    return std::nullopt;
  Op O = {};
  O.Bytes = 4;
  O.Count = 4;
  if (Name.consume_front("tex.unified.")) {
    O.Kind = Op::Fetch;
  } else if (Name.consume_front("tld4.unified.")) {
    O.Kind = Op::Gather;
    O.Which = uint8_t(StringRef("rgba").find(Name.front()));
    Name = Name.drop_front(2);
  } else if (Name.consume_front("suld.")) {
    O.Kind = Op::Load;
  } else if (Name.consume_front("sust.b.")) {
    O.Kind = Op::Store;
  } else {
    return std::nullopt;
  }
  for (unsigned N : {1, 2, 3})
    if (Name.consume_front(std::to_string(N) + "d."))
      O.Coordinates = uint8_t(N);
  if (!O.Coordinates)
    return std::nullopt; // a cube
  O.Layered = Name.consume_front("array.");
  if (O.Kind == Op::Fetch || O.Kind == Op::Gather) {
    O.Integers = Name.ends_with(".s32");
    return O;
  }
  O.Count = Name.consume_front("v2") ? 2 : Name.consume_front("v4") ? 4 : 1;
  auto [Type, Mode] = Name.split('.');
  unsigned Bits = 0;
  if (!Type.consume_front("i") || Type.getAsInteger(10, Bits))
    return std::nullopt;
  O.Bytes = uint8_t(Bits / 8);
  O.Which = Mode == "trap" ? Op::Trap : Mode == "clamp" ? Op::ToEdge : Op::Zero;
  return O;
}

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
                Values, faultSite(I, nullptr, useOf(I))});
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
