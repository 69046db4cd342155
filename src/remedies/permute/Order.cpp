//===- remedies/permute/Order.cpp - A kernel that fills an index ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// order=random. The items are the numbers 0 to items - 1.
//
//   i = number of the thread; leave if i >= items
//   do i = shuffle(i) while i >= items
//   index[number of the thread] = i
//
// shuffle permutes the numbers of 2h bits. h is the least for which 2^(2h) >=
// items, so 2^(2h) < 4 * items. shuffle is a Feistel network of four rounds
// over two halves of h bits,
//
//   (left, right) -> (right, left ^ mix(right, key of the round)).
//
// A round can be undone whatever mix is, so shuffle is a permutation. A walk
// along a cycle of shuffle from item i to the next item always ends, at the
// latest at i itself. Different items end at different items, because the walk
// backwards is unique too. So the walk permutes the items. A walk takes fewer
// than four steps on average. (Black and Rogaway, "Ciphers with
// Arbitrary Finite Domains", CT-RSA 2002, methods 2 and 3.)
//
//===----------------------------------------------------------------------===//

#include "remedies/permute/Order.h"

#include "analysis/device/AddressSpace.h"
#include "remedies/common/Items.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

/// The finalizer of MurmurHash3 (Appleby, public domain constants) without its
/// last step, over \p Number (i64) and \p Key.
static Value *mix(IRBuilder<> &B, Value *Number, uint64_t Key) {
  Value *V = B.CreateXor(Number, Key);
  V = B.CreateMul(V, B.getInt64(0xff51afd7ed558ccd));
  V = B.CreateXor(V, B.CreateLShr(V, uint64_t(33)));
  V = B.CreateMul(V, B.getInt64(0xc4ceb9fe1a85ec53));
  return B.CreateXor(V, B.CreateLShr(V, uint64_t(33)));
}

/// \p Half: h; \p Mask: h ones.
static Value *shuffle(IRBuilder<> &B, Value *Number, Value *Half, Value *Mask,
                      uint32_t Seed) {
  Value *Left = B.CreateLShr(Number, Half), *Right = B.CreateAnd(Number, Mask);
  constexpr unsigned Rounds = 4;
  for (unsigned Round = 0; Round != Rounds; ++Round) {
    const uint64_t Key = uint64_t(Seed) << 8 | Round;
    Value *Next = B.CreateXor(Left, B.CreateAnd(mix(B, Right, Key), Mask));
    Left = Right;
    Right = Next;
  }
  return B.CreateOr(B.CreateShl(Left, Half), Right);
}

/// The cycle of shuffle from \p First to the next number below \p Items.
static Value *walk(IRBuilder<> &B, Value *First, Value *Items, uint32_t Seed) {
  BasicBlock *From = B.GetInsertBlock();
  Function *F = From->getParent();
  auto *Step = BasicBlock::Create(B.getContext(), "step", F),
       *Found = BasicBlock::Create(B.getContext(), "found", F);
  // Bits of the largest number; two halves of as many, rounded up.
  Value *Bits = B.CreateSub(
      B.getInt64(64),
      B.CreateBinaryIntrinsic(Intrinsic::ctlz,
                              B.CreateSub(Items, B.getInt64(1)), B.getFalse()));
  Value *Half = B.CreateLShr(B.CreateAdd(Bits, B.getInt64(1)), uint64_t(1));
  Value *Mask = B.CreateSub(B.CreateShl(B.getInt64(1), Half), B.getInt64(1));
  B.CreateBr(Step);
  B.SetInsertPoint(Step);
  PHINode *Number = B.CreatePHI(B.getInt64Ty(), 2);
  Value *Next = shuffle(B, Number, Half, Mask, Seed);
  Number->addIncoming(First, From);
  Number->addIncoming(Next, Step);
  B.CreateCondBr(B.CreateICmpULT(Next, Items), Found, Step);
  B.SetInsertPoint(Found);
  return Next;
}

static Value *itemAt(IRBuilder<> &B, Value *Place, Value *Items,
                     const PermuteOptions &Options) {
  switch (Options.Order) {
  case ItemOrder::Same:
    return Place;
  case ItemOrder::Reversed:
    return B.CreateSub(B.CreateSub(Items, B.getInt64(1)), Place);
  case ItemOrder::Given:
    break; // no kernel makes it
  case ItemOrder::Random:
    return walk(B, Place, Items, Options.Seed);
  }
  llvm_unreachable("an order");
}

/// An empty kernel beside \p Like, for the same target.
static Function &makeKernel(Function &Like, FunctionType *Type,
                            const Twine &Name) {
  auto *F = Function::Create(Type, GlobalValue::ExternalLinkage, Name,
                             *Like.getParent());
  F->setCallingConv(CallingConv::PTX_Kernel);
  for (StringRef Target : {"target-cpu", "target-features"})
    if (Like.hasFnAttribute(Target))
      F->addFnAttr(Like.getFnAttribute(Target));
  return *F;
}

Function &makeOrderKernel(Function &Kernel, const Twine &Name,
                          const PermuteOptions &Options) {
  LLVMContext &C = Kernel.getContext();
  Type *Parameters[] = {PointerType::getUnqual(C), Type::getInt64Ty(C)};
  Function &F = makeKernel(
      Kernel, FunctionType::get(Type::getVoidTy(C), Parameters, false), Name);
  auto *Entry = BasicBlock::Create(C, "entry", &F),
       *Inside = BasicBlock::Create(C, "inside", &F),
       *End = BasicBlock::Create(C, "end", &F);
  IRBuilder<> B(Entry);
  Value *Place = readItem(B), *Items = F.getArg(1);
  Value *Index = B.CreateAddrSpaceCast(
      F.getArg(0), PointerType::get(C, analysis::GlobalSpace));
  B.CreateCondBr(B.CreateICmpULT(Place, Items), Inside, End);
  B.SetInsertPoint(Inside);
  Value *Item = itemAt(B, Place, Items, Options);
  B.CreateStore(B.CreateTrunc(Item, B.getInt32Ty()),
                B.CreateGEP(B.getInt32Ty(), Index, Place));
  B.CreateBr(End);
  B.SetInsertPoint(End);
  B.CreateRetVoid();
  return F;
}

} // namespace reconverge::remedies
