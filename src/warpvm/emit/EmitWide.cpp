//===- warpvm/emit/EmitWide.cpp - A lane's own vectors in memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU makes an aligned access of up to 16 bytes whole: no other thread sees a
// part of it. Programs rely on this (a look-back publishes a status and a value
// in one access), so that what comes here as one access stays one a lane.
//
// A vector value has a part for each element (leavesOf); in memory it is packed
// lane by lane:
//
//   parts    x0 x1 x2 ...        packed   x0 y0 x1 y1 x2 y2 ...
//            y0 y1 y2 ...
//
// Up to 8 bytes, packed lanes are integers, which are loaded and stored like
// any other. For 16 bytes the host has neither gathers nor scatters. Each lane
// makes an access of 128 bits, which x86 with AVX makes whole. To LLVM it is an
// atomic access of i128: no pass cuts it. If all lanes are there and addresses
// step by 16, neighbours share vector accesses. Hosts make each 16 aligned
// bytes of one whole, but their makers promise it for 16 bytes alone: so that
// is left to accesses whose races PTX leaves undefined, neither volatile nor
// atomic.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

#include "llvm/Analysis/VectorUtils.h"

using namespace llvm;

namespace reconverge::warpvm {

/// The element of a value that is packed lane by lane, as bits.
static IntegerType *elementBits(const DataLayout &DL, Type *T) {
  return IntegerType::get(T->getContext(),
                          DL.getTypeSizeInBits(T->getScalarType()));
}

IntegerType *RegionEmitter::packedType(Type *T) const {
  const DataLayout &DL = Out.getDataLayout();
  const uint64_t Bits = DL.getTypeSizeInBits(T);
  if (elementBits(DL, T)->getBitWidth() % 8 || Bits > WideBits ||
      !isPowerOf2_64(Bits))
    return nullptr;
  return IntegerType::get(Out.getContext(), Bits);
}

/// The parts of a value of type \p T whose lanes lie packed in \p Packed; of
/// one lane if that is an integer.
Lanes RegionEmitter::takeApart(Value *Packed, Type *T, bool Uniform) {
  const DataLayout &DL = Out.getDataLayout();
  IntegerType *Element = elementBits(DL, T);
  const unsigned Count = DL.getTypeSizeInBits(T) / Element->getBitWidth();
  const unsigned Width = Uniform ? 1 : W;
  Value *X = Packed;
  if (!Uniform || Count > 1)
    X = B.CreateBitCast(X, FixedVectorType::get(Element, Width * Count));
  Lanes L{Uniform, {}};
  for (auto [I, Leaf] : enumerate(leavesOf(T))) {
    Value *Part = X;
    if (Count > 1)
      Part = Uniform ? B.CreateExtractElement(X, I)
                     : B.CreateShuffleVector(X, createStrideMask(I, Count, W));
    L.Parts.push_back(B.CreateBitOrPointerCast(Part, Uniform ? laneType(Leaf)
                                                             : vectorOf(Leaf)));
  }
  return L;
}

/// The inverse; the result is a vector of \p Unit, or one integer if \p L is
/// uniform.
Value *RegionEmitter::pack(const Lanes &L, Type *T, IntegerType *Unit) {
  const DataLayout &DL = Out.getDataLayout();
  IntegerType *Element = elementBits(DL, T);
  SmallVector<Value *> Parts;
  for (Value *Part : L.Parts)
    Parts.push_back(B.CreateBitOrPointerCast(
        Part, L.Uniform ? static_cast<Type *>(Element) : vectorOf(Element)));
  const unsigned Count = Parts.size();
  if (L.Uniform) {
    Value *X = PoisonValue::get(FixedVectorType::get(Element, Count));
    for (auto [I, Part] : enumerate(Parts))
      X = B.CreateInsertElement(X, Part, I);
    return B.CreateBitCast(X, packedType(T));
  }
  Value *X = Parts.front();
  if (Count > 1)
    X = B.CreateShuffleVector(concatenateVectors(B, Parts),
                              createInterleaveMask(W, Count));
  const unsigned Units = W * packedType(T)->getBitWidth() / Unit->getBitWidth();
  return B.CreateBitCast(X, FixedVectorType::get(Unit, Units));
}

/// i1: every lane is there, and their addresses step by 16 bytes in each
/// segment.
Value *RegionEmitter::allStepWide(const Address &A) {
  return B.CreateAnd(B.CreateICmpEQ(M, Constant::getAllOnesValue(MaskTy)),
                     stepsBy(A, WideBits / 8));
}

LoadInst *RegionEmitter::loadWhole(Value *At, Align Al, bool Ordered) {
  auto *X = B.CreateAlignedLoad(B.getInt128Ty(), At, Al, Ordered);
  if (Al.value() >= WideBits / 8)
    X->setAtomic(Ordered ? AtomicOrdering::Monotonic
                         : AtomicOrdering::Unordered);
  return X;
}

void RegionEmitter::storeWhole(Value *X, Value *At, Align Al, bool Ordered) {
  auto *S = B.CreateAlignedStore(X, At, Al, Ordered);
  if (Al.value() >= WideBits / 8)
    S->setAtomic(Ordered ? AtomicOrdering::Monotonic
                         : AtomicOrdering::Unordered);
}

Value *RegionEmitter::loadWide(const Address &A, Align Al, bool Ordered) {
  Type *Wide = B.getInt128Ty();
  if (A.isUniform())
    return loadWhole(A.Base, Al, Ordered);
  Type *Packed = FixedVectorType::get(I32, W * WideBits / 32);
  auto EachLane = [&]() -> Value * {
    Value *From = spill(pointers(A));
    auto *Array = IRBuilder<>(EntryBB, EntryBB->begin()).CreateAlloca(Packed);
    Array->setAlignment(Align(64));
    forEachLane([&](Value *Lane) {
      Value *X = loadWhole(lanePart(From, PtrTy, Lane), Al, Ordered);
      B.CreateAlignedStore(X, B.CreateGEP(Wide, Array, Lane), Align(16));
    });
    return B.CreateAlignedLoad(Packed, Array, Align(64));
  };
  const bool Same = A.Stride == 0;
  if (Ordered || (!Same && !A.stepsEvenly(WideBits / 8)))
    return EachLane();
  auto *Segment = FixedVectorType::get(I32, SegmentLanes * WideBits / 32);
  auto Together = [&]() -> Value * {
    SmallVector<Value *> Parts;
    for (unsigned S = 0; S < W / SegmentLanes; ++S)
      if (Same)
        Parts.push_back(B.CreateBitCast(
            B.CreateVectorSplat(SegmentLanes,
                                loadWhole(segmentPointer(A, S), Al, Ordered)),
            Segment));
      else
        Parts.push_back(B.CreateAlignedLoad(Segment, segmentPointer(A, S), Al));
    return concatenateVectors(B, Parts);
  };
  Value *All =
      Same ? B.CreateAnd(B.CreateICmpEQ(M, Constant::getAllOnesValue(MaskTy)),
                         stepsBy(A, 0))
           : allStepWide(A);
  return either(All, Together, EachLane);
}

void RegionEmitter::storeWide(const Address &A, Value *Packed, Align Al,
                              bool Ordered) {
  Type *Wide = B.getInt128Ty();
  if (A.isUniform() && !Packed->getType()->isVectorTy())
    return storeWhole(Packed, A.Base, Al, Ordered);
  auto EachLane = [&]() -> Value * {
    Value *To = spill(pointers(A)), *From = spill(Packed);
    forEachLane([&](Value *Lane) {
      Value *X =
          B.CreateAlignedLoad(Wide, B.CreateGEP(Wide, From, Lane), Align(16));
      storeWhole(X, lanePart(To, PtrTy, Lane), Al, Ordered);
    });
    return nullptr;
  };
  // Segments may overlap one another: where order matters, lane by lane.
  if (Ordered || C.Options.Shuffled || A.isUniform() ||
      !A.stepsEvenly(WideBits / 8)) {
    EachLane();
    return;
  }
  auto Together = [&]() -> Value * {
    const unsigned Words = SegmentLanes * WideBits / 32;
    for (unsigned S = 0; S < W / SegmentLanes; ++S)
      B.CreateAlignedStore(
          B.CreateShuffleVector(
              Packed, createSequentialMask(S * Words, Words, /*NumUndefs=*/0)),
          segmentPointer(A, S), Al);
    return nullptr;
  };
  either(allStepWide(A), Together, EachLane);
}

} // namespace reconverge::warpvm
